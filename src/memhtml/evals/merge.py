"""Whether a merge would make something that is remembered harder to find.

Both states are searched as they are, so no checkout is needed. Asked for are the live claims of the
memories that the change touched, each by its own words, and those of their neighbours: memories
that stand near them in the answers, or near what is new, because whoever is pushed down was near.
The questions that memories say they answer are asked as well.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from memhtml.evals.changed import read_difference
from memhtml.evals.probes import DEPTH, Claim, Probe, place_of, probe_all, query_of
from memhtml.model.errors import InvalidFlag
from memhtml.model.paths import original_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.corpus import Corpus
    from memhtml.evals.changed import Difference
    from memhtml.evals.probes import Ask
    from memhtml.search.answers import Question
    from memhtml.search.hits import Hits

__all__ = ["Probed", "asker", "probe_merge"]

TOUCHED = 120
NEIGHBOURS = 60
QUESTIONS = 60
"""At most so many probes of each kind, so that a merge costs the same in any store."""

BESIDE = 2
"""So many neighbours are taken from one answer."""


class Probed(NamedTuple):
    """What the probes of one merge found."""

    probes: tuple[Probe, ...]
    retired: tuple[str, ...]
    """Archived with nothing in their place, so nobody looks for them."""
    rewritten: tuple[str, ...]
    left_out: int
    """Memories the change touched that were not asked for, being more than `TOUCHED`."""

    @property
    def regressions(self) -> tuple[Probe, ...]:
        """What became harder to find."""
        return tuple(probe for probe in self.probes if probe.is_harder)

    @property
    def slipped(self) -> tuple[Probe, ...]:
        """What stands lower than before, by as much as it may."""
        return tuple(probe for probe in self.probes if probe.has_slipped)

    @property
    def passed(self) -> bool:
        """Whether nothing became harder to find."""
        return not self.regressions

    def as_json(self) -> dict[str, object]:
        """Return the figures and what got worse, as machines read it."""
        return {
            "passed": self.passed,
            "probes": len(self.probes),
            "questions": sum(probe.is_question for probe in self.probes),
            "notFoundBefore": sum(probe.rank_before is None for probe in self.probes),
            "regressions": [_as_json(probe) for probe in self.regressions],
            "slipped": [_as_json(probe) for probe in self.slipped],
            "retired": list(self.retired),
            "rewritten": list(self.rewritten),
            "leftOut": self.left_out,
        }


def _as_json(probe: Probe) -> dict[str, object]:
    return {
        "query": probe.query,
        "path": probe.path,
        "rankBefore": probe.rank_before,
        "rankAfter": probe.rank_after,
        "successor": probe.heir if probe.heir != probe.path else None,
        "question": probe.is_question,
    }


def asker(corpus: Corpus, commit: str | None = None) -> Ask:
    """Return how to ask *corpus*, as *commit* has it or as it is now, with its hand edits."""

    def ask(text: str) -> Hits:
        return corpus.search(text, limit=DEPTH, scan=False, at=commit)

    return ask


def probe_merge(
    corpus: Corpus,
    base: str,
    tip: str,
    *,
    before: Ask | None = None,
    after: Ask | None = None,
) -> Probed:
    """Return what merging *tip* would do to finding what the store has at *base*.

    *base* is where the merge goes, usually HEAD, and *tip* what it would become. *before* and
    *after* search the two states; by default an index of each commit is made, once. Who has one
    already, such as that of another worktree, hands it in with `asker`.

    Raises:
        InvalidFlag: One of the two is no commit of this store.
        Busy: Another process holds an index.
        StorageFailure: An index or the store cannot be read.
    """
    base, tip = _commit(corpus, base), _commit(corpus, tip)
    difference = read_difference(corpus.repo, base, tip, limit=TOUCHED)
    is_here = base == corpus.repo.head() and not corpus.overlaid_paths()
    before = _remembering(before or asker(corpus, None if is_here else base))
    after = _remembering(after or asker(corpus, tip))
    claims = [*difference.claims, *_neighbours(before, difference)]
    probes = probe_all(before, after, claims)
    probes += _questions(corpus, before, after, difference)
    return Probed(tuple(probes), difference.retired, difference.rewritten, difference.left_out)


def _neighbours(before: Ask, difference: Difference) -> list[Claim]:
    """Return memories the change did not touch, near what it touched or brought."""
    found: dict[str, Claim] = {}
    for claim in (*difference.added, *difference.claims):
        query = query_of(claim.text)
        if not query or len(found) >= NEIGHBOURS:
            continue
        near = (hit for hit in before(query).hits if hit.path not in difference.touched)
        for hit, _ in zip(near, range(BESIDE), strict=False):
            found.setdefault(hit.path, Claim(hit.path, hit.gist, hit.path))
    return list(found.values())[:NEIGHBOURS]


def _questions(corpus: Corpus, before: Ask, after: Ask, difference: Difference) -> Iterator[Probe]:
    """Yield what the questions of the store say: those of what was touched, and some others."""

    def names(question: Question) -> set[str]:
        # The store may be at either commit, so the memory that asks may be in the archive.
        return {question.path, question.asked_by, original_path(question.asked_by) or ""}

    def urgency(question: Question) -> tuple[bool, bytes]:
        digest = hashlib.sha256(f"{question.asked_by}\n{question.text}".encode()).digest()
        return difference.touched.isdisjoint(names(question)), digest

    for question in sorted(corpus.questions(), key=urgency)[:QUESTIONS]:
        if question.path in difference.retired:
            continue
        heir = difference.heirs.get(question.path, question.path)
        hits = before(question.text)
        places = [place for name in names(question) if (place := place_of(hits, name))]
        yield Probe(
            question.text,
            question.asked_by,
            heir,
            min(places, default=None),
            place_of(after(question.text), heir),
            is_question=True,
        )


def _remembering(ask: Ask) -> Ask:
    """Return *ask* such that what it was asked once it is not asked again."""
    known: dict[str, Hits] = {}

    def remembered(text: str) -> Hits:
        if text not in known:
            known[text] = ask(text)
        return known[text]

    return remembered


def _commit(corpus: Corpus, name: str) -> str:
    commit = corpus.repo.find_commit(name)
    if commit is None:
        raise InvalidFlag(f"{name!r} is no commit of this store")
    return commit
