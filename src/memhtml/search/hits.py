"""What an answer is made of: hits with the reasons for their places, or the reason for none."""

# No postponed annotations here: a named tuple compiles each that it gets as a string, which takes
# longer than all the rest of this module.
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memhtml.search.snippets import Snippet

__all__ = [
    "ArchivedMatch",
    "ArmScore",
    "Explanation",
    "Hit",
    "Hits",
    "Near",
    "NoMatch",
    "NoMatchReason",
]


class ArmScore(NamedTuple):
    """What one content arm says of a hit."""

    arm: str
    rank: int
    """From 1, among what the arm found."""
    raw: float
    """In the arm's own unit: bm25, a dot product of sparse weights, or a cosine."""
    best: float
    """What is worth the whole weight: the highest raw score that the arm gave; of a cosine, 1."""
    weight: float

    @property
    def share(self) -> float:
        """What the arm adds to the sum."""
        return self.weight * self.raw / self.best


class Explanation(NamedTuple):
    """How a hit came by its place, as numbers that can be added up again."""

    arms: tuple[ArmScore, ...]
    neighbour: float
    """What the better neighbour adds: a memory of the same session, or one it is linked with."""
    recency: float
    salience: float
    """Parts by which these two, which do not read the question, raise the sum."""
    total: float
    """``(sum of shares + neighbour) * (1 + recency + salience)``: what memories are ordered by."""
    matched: tuple[str, ...]
    """The terms that the memory has."""
    missing: tuple[str, ...]

    @property
    def arithmetic(self) -> str:
        """The same as one line for people."""
        parts = [f"{a.weight:g}·{_plain(a.raw)}/{_plain(a.best)} {a.arm}" for a in self.arms]
        if self.neighbour:
            parts.append(f"{self.neighbour:.3f} neighbour")
        line = " + ".join(parts)
        rise = [
            f"{value:.3f} {name}"
            for name, value in (("recency", self.recency), ("salience", self.salience))
            if value
        ]
        if rise:
            line = f"({line}) · (1 + {' + '.join(rise)})"
        return f"{line} = {self.total:.4f}"


def _plain(number: float) -> str:
    return f"{number:.0f}" if number >= 1000 else f"{number:.3f}"


class Hit(NamedTuple):
    """One memory that matches."""

    path: str
    title: str
    gist: str
    memory_type: str
    confidence: float
    updated_at: str
    score: float
    """0 to 1: the part it has of what all arms that ran could give. Compares hits of one answer."""
    relevance: float
    """0 to 1: how much of the question it covers, by the worth of its terms. Compares answers."""
    snippet: "Snippet"
    entities: tuple[str, ...]
    """``type:name`` as authored, sorted."""
    arms: tuple[str, ...]
    """What found it; ``neighbour`` when only a memory beside it matches."""
    superseded_by: str | None
    """The newest memory that says it replaces this one."""
    contradicts: tuple[str, ...]
    """Active memories that one of the two says the other contradicts, sorted."""
    conflicts_with: tuple[str, ...]
    """Other active memories whose claim fills the same slot with another value, sorted."""
    explanation: Explanation

    def __repr__(self) -> str:
        return f"<Hit {self.score:.2f} {self.path!r}: {self.gist!r}>"


class NoMatchReason(StrEnum):
    """Why an answer is empty."""

    EMPTY_INDEX = "empty-index"
    ALL_UNREADABLE = "all-unreadable"
    NO_WORDS = "no-words"
    NO_TERM_FOUND = "no-term-found"
    NOT_RELEVANT = "not-relevant"
    NOT_SAID = "not-said"
    NOT_IN_SCOPE = "not-in-scope"
    SCOPE_EMPTY = "scope-empty"
    ALL_LEFT_OUT = "all-left-out"
    END_OF_PAGES = "end-of-pages"


_MESSAGES = {
    NoMatchReason.EMPTY_INDEX: "there are no memories yet",
    NoMatchReason.ALL_UNREADABLE: "no file here can be read as a memory; memhtml doctor says why",
    NoMatchReason.NO_WORDS: "the question has no letter or digit to look for",
    NoMatchReason.NO_TERM_FOUND: "no memory has what was asked for",
    NoMatchReason.NOT_RELEVANT: "memories match a part of the question, but none answers it",
    NoMatchReason.NOT_SAID: "no memory looked at has a word of the question, and none clearly "
    "means it",
    NoMatchReason.NOT_IN_SCOPE: "memories that match exist, but none within the filters",
    NoMatchReason.SCOPE_EMPTY: "no memory passes the filters, whatever the question",
    NoMatchReason.ALL_LEFT_OUT: "there are only tasks or archived memories, which are left out "
    "unless asked for",
    NoMatchReason.END_OF_PAGES: "the pages before this one hold all there is",
}


class Near(NamedTuple):
    """A memory that came near the question, and is no answer."""

    path: str
    gist: str
    relevance: float
    """0 to 1: how much of the question it covers."""


class NoMatch(NamedTuple):
    """An empty answer's reason."""

    reason: NoMatchReason
    closest: tuple[Near, ...] = ()
    """What came nearest, best first; nothing where nothing matches at all."""

    @property
    def message(self) -> str:
        """The reason as a sentence without its full stop."""
        return _MESSAGES[self.reason]


class ArchivedMatch(NamedTuple):
    """A memory of the archive that matches where no active one does."""

    path: str
    superseded_by: str | None


class Hits(NamedTuple):
    """An answer."""

    hits: tuple[Hit, ...]
    no_match: NoMatch | None
    """Set exactly when there are no hits."""
    unmatched_terms: tuple[str, ...]
    """What was asked for and stands in no memory at all, in or out of scope."""
    spellings: tuple[tuple[str, tuple[str, ...]], ...]
    """Where nothing is found: unmatched terms with the words of memories most like them."""
    scope_empty: bool
    """There are no hits because the filters leave no memory to look at."""
    arms: tuple[str, ...]
    """The content arms that ranked."""
    degraded: bool
    """No vectors took part."""
    degraded_reason: str | None
    """Why vectors that might have taken part did not, as a sentence without its full stop."""
    coverage: float
    """0 to 1: the part of the texts that has vectors; the others compete by words alone."""
    indexed_commit: str | None
    """The commit that the answer describes, hand edits on top."""
    skipped_count: int
    """Files that could not be read as memories, so no search finds them."""
    archived: tuple[ArchivedMatch, ...]
    """Set when nothing was found, and the archive, which was not asked, has matches."""
    next_cursor: str | None
    """Where the next page begins; None at the end."""
    cursor_stale: bool
    """The index changed since the first page, so memories may repeat or be missing."""

    def __repr__(self) -> str:
        found = "".join(f"\n  {hit!r}" for hit in self.hits)
        return f"<Hits: {self._headline()}{found}>"

    def _repr_html_(self) -> str:
        from memhtml.model.notebook import note, table  # noqa: PLC0415 - only notebooks

        if not self.hits:
            return note(self._headline())
        rows = [
            (f"{hit.score:.2f}", hit.gist, hit.snippet.text, hit.path, hit.superseded_by)
            for hit in self.hits
        ]
        names = ("score", "claim", "where it matches", "path", "superseded by")
        return table(names, rows, caption=self._headline())

    def _headline(self) -> str:
        if self.no_match is not None:
            return f"none, {self.no_match.message}"
        words = "; words alone" if self.degraded else ""
        return f"{len(self.hits)}{'' if self.next_cursor is None else ' of more'}{words}"
