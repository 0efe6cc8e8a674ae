"""The merging phases in a real run: real git, a real index, merged and looked at afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.corpus import Corpus
from memhtml.index.usage import Signal
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.merge import merge
from memhtml.sleep.runner import RunOptions, run
from tests.sleep.conftest import NOW

if TYPE_CHECKING:
    from pathlib import Path

PHASES = (
    "preflight",
    "dedup-merge",
    "entity-resolution",
    "person-links",
    "relationship-mining",
    "edge-typing",
)


def test_duplicates_names_and_people_after_a_merged_run(tmp_path: Path) -> None:
    """sleep.md §9.6: phases saw what had already gone, and pages were made of old spellings."""
    root = tmp_path / "store"
    Corpus.init(root)
    with Corpus.open(root, clock=lambda: NOW) as corpus:

        def write(claim: str, path: str, *entities: str) -> None:
            corpus.write(
                Draft(
                    title=claim[:40],
                    memory_type=MemoryType.SEMANTIC,
                    claim=claim,
                    path=path,
                    entities=entities,
                )
            )

        write("The gateway retries failed calls three times", "areas/a.html", "service:gateway")
        write("Failed calls are retried 3 times by the gateway", "areas/b.html")
        write("The gateway never retries declined calls", "areas/c.html", "person:jorg muller")
        write("The gateway retries declined calls", "areas/d.html", "person:Jörg Müller")
        write("The office closes at noon", "areas/e.html", "person:Jörg Müller")
        corpus.reinforce(("areas/a.html",), Signal.POSITIVE)
        report = run(corpus, RunOptions(phases=PHASES))
        assert report.failed == ()
        assert {path.name for path in (root / "areas").glob("*.html")} >= {"a.html", "b.html"}
        assert merge(corpus, report.run_id).is_news
        live = {m.path: m for m in map(corpus.read, ("areas/c.html", "areas/d.html"))}
        assert all(m.document.head.entities == ("person:Jörg Müller",) for m in live.values())
        kept, gone = (
            ("areas/a.html", "areas/b.html")
            if (root / "areas/a.html").exists()
            else ("areas/b.html", "areas/a.html")
        )
        assert not (root / gone).exists()
        head = corpus.read(kept).document.head
        assert set(head.entities) == {"service:gateway"}
        assert corpus.usage([kept])[kept].reinforcement_count == 1, "usage follows"
        pages = sorted(path.name for path in (root / "resources/people").glob("*.html"))
        assert [name for name in pages if name != "index.html"] == ["jorg-muller.html"]
