"""Links that lead nowhere follow their target or go; a published store's pages keep up."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from memhtml.corpus import Corpus
from memhtml.format.edit import read_links
from memhtml.format.parse import parse
from memhtml.model.document import Link
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.publish import publish
from memhtml.sleep.phase import Context, Outcome
from memhtml.sleep.phases import integrity
from memhtml.sleep.population import read_population
from memhtml.sleep.settings import Settings
from memhtml.store.plan import Planned, Put
from tests.sleep.trees import NOW, Alike, Tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memhtml.store.plan import Step

A, GONE = "areas/a.html", "areas/gone.html"


def links(tree: Tree, path: str = A) -> list[tuple[str, str]]:
    return [(link.rel, link.href) for link in read_links(tree.files[path])]


def test_a_link_follows_its_target_into_the_newest_archive() -> None:
    tree = Tree()
    tree.write(A, "It rests on another.", links=[(Rel.CAUSED_BY, GONE)])
    for year in (2013, 2020, 2025):
        tree.write(f"archive/{year}/{GONE}", f"It was so in {year}.")
    before = parse(tree.files[A])
    found = integrity.run(tree.context())
    tree.apply(*found.proposals)
    assert links(tree) == [("memhtml-caused-by", f"/archive/2025/{GONE}")]
    assert (found.counts["linksFollowed"], found.counts["linksDropped"]) == (1, 0)
    after = parse(tree.files[A])
    assert after.content_hash == before.content_hash
    assert after.head.updated_at == before.head.updated_at


def test_a_link_to_nowhere_is_dropped_and_told() -> None:
    tree = Tree()
    tree.write(A, "It rests on nothing.", links=[(Rel.CAUSED_BY, GONE), (Rel.SUPPORTS, GONE)])
    tree.write(f"archive/2013/{GONE}", "Thirteen years ago.")
    (proposal,) = integrity.run(tree.context()).proposals
    tree.apply(proposal)
    assert links(tree) == []
    assert [(d.kind, d.why) for d in proposal.decisions] == [
        ("link dropped", f"It said caused by {GONE}, and nothing stands there."),
        ("link dropped", f"It said supports {GONE}, and nothing stands there."),
    ]


def test_links_to_what_stands_there_are_left_alone() -> None:
    tree = Tree()
    tree.write("areas/b.html", "Here.")
    tree.set("areas/broken.html", b"<p>no memory, and still a file")
    tree.write(A, "It points.", links=[(Rel.RELATES_TO, "areas/b.html")])
    data = tree.files[A].replace(
        b"</head>", b'<link rel="memhtml-supports" href="/areas/broken.html">\n</head>'
    )
    tree.set(A, data)
    assert not integrity.run(tree.context()).proposals


def test_archived_memories_are_history() -> None:
    tree = Tree()
    tree.write(f"archive/2025/{A}", "It rested on another.", links=[(Rel.CAUSED_BY, GONE)])
    assert not integrity.run(tree.context()).proposals


def test_a_link_to_a_part_of_what_was_archived_follows_too() -> None:
    tree = Tree()
    tree.write(A, "It points.", links=[(Rel.RELATES_TO, GONE)])
    tree.set(A, tree.files[A].replace(b"gone.html", b"gone.html#part"))
    tree.write(f"archive/2025/{GONE}", "It was so.")
    tree.apply(*integrity.run(tree.context()).proposals)
    assert links(tree) == [("memhtml-relates-to", f"/archive/2025/{GONE}")]


def test_the_same_date_again_changes_nothing() -> None:
    tree = Tree()
    tree.write(A, "It rests.", links=[(Rel.CAUSED_BY, GONE), (Rel.PART_OF, "areas/x.html")])
    tree.write(f"archive/2025/{GONE}", "It was so.")
    tree.apply(*integrity.run(tree.context()).proposals)
    assert not integrity.run(tree.context()).proposals


def phase_over(corpus: Corpus) -> Outcome:
    corpus.update()
    found = integrity.run(
        Context(
            run_id="sleep/2026-08-02",
            now=NOW,
            population=read_population(corpus.index),
            view=corpus.view(),
            usage={},
            likeness=Alike({}),
            settings=Settings(),
        )
    )
    for proposal in found.proposals:
        carry_out(corpus, proposal.steps)
    return found


def carry_out(corpus: Corpus, steps: Sequence[Step]) -> None:
    planned = Planned(result=None, steps=tuple(steps), subject="change")
    corpus.carry_out(lambda _view, _now: planned)


def test_pages_are_brought_in_step_exactly_as_publishing_would(tmp_path: Path) -> None:
    Corpus.init(tmp_path / "store")
    with Corpus.open(tmp_path / "store", clock=lambda: NOW - timedelta(days=1)) as corpus:
        draft = Draft(title="Kiln", claim="The kiln is hot.", memory_type=MemoryType.SEMANTIC)
        kiln = corpus.write(draft).path
        assert not phase_over(corpus).proposals, "a store that is not published gets no pages"
        publish(corpus)
        tagged = Draft(
            title="Glaze",
            claim="The glaze cracks.",
            memory_type=MemoryType.PROCEDURAL,
            tags=("glaze",),
            links=(Link(Rel.CAUSED_BY.token, f"/{kiln}"),),
        )
        corpus.write(tagged)
        corpus.archive(kiln, reason="cold")
        found = phase_over(corpus)
        assert found.counts["linksFollowed"] == 1
        assert found.counts["pages"] > 3
        assert not publish(corpus).written, "publishing has nothing left to do"
        assert not phase_over(corpus).proposals


def test_a_page_that_somebody_else_made_is_not_replaced(tmp_path: Path) -> None:
    Corpus.init(tmp_path / "store")
    with Corpus.open(tmp_path / "store", clock=lambda: NOW) as corpus:
        corpus.write(Draft(title="Kiln", claim="It is hot.", memory_type=MemoryType.SEMANTIC))
        publish(corpus)
        view = corpus.view()
        page = view.find("areas/inbox/index.html")
        assert page is not None

        mine = Put("areas/inbox/index.html", b"<title>My own</title>", page.sha)
        carry_out(corpus, [mine])
        corpus.write(Draft(title="Owl", claim="It hoots.", memory_type=MemoryType.SEMANTIC))
        found = phase_over(corpus)
        assert not found.proposals
        assert found.detail is not None
        assert "areas/inbox/index.html" in found.detail
