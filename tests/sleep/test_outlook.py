"""What lies ahead of a run is told in sentences that hold for one thing and for several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.outlook import look_ahead

if TYPE_CHECKING:
    from memhtml.corpus import Corpus


def told(corpus: Corpus, sessions_due: int) -> dict[str, str]:
    found = look_ahead(corpus, sessions_due=sessions_due)
    return {signal.name: signal.detail for signal in found.signals}


def write(corpus: Corpus, claim: str, **more: Any) -> None:
    corpus.write(Draft(title=claim, memory_type=MemoryType.SEMANTIC, claim=claim, **more))


def test_one_thing_and_several_each_have_their_sentence(corpus: Corpus) -> None:
    """It told of "1 memories" and "1 slots"."""
    assert told(corpus, 2) == {
        "inbox": "3 memories lie in the inbox",
        "new": "3 memories, and no run was merged yet",
        "sessions": "2 transcripts wait",
    }
    write(corpus, "The gate is red.", path="areas/gates/red.html")
    write(corpus, "The gate is green.", path="areas/gates/green.html", valid_until="2026-01-01")
    for path in ("areas/inbox/barn-owls.html", "areas/inbox/feed.html"):
        corpus.archive(path, reason="moved")
    assert told(corpus, 1) == {
        "expired": "1 memory is valid no longer",
        "inbox": "1 memory lies in the inbox",
        "new": "3 memories, and no run was merged yet",
        "rivals": "1 slot is filled more than once",
        "sessions": "1 transcript waits",
    }
