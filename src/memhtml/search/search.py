"""A question in, ranked memories out, or a reason why there are none.

Everything is read in one view of the index. Ranking is bm25 over weighted columns; nothing that
ignores the question can put a memory into the answer, so "nothing found" is an answer.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import apsw

from memhtml.index.schema import FTS_TOKENIZER
from memhtml.model.errors import IndexStale, InvalidFlag
from memhtml.search.scope import Scope, where
from memhtml.search.snippets import Snippet, cut_snippet
from memhtml.search.terms import terms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from memhtml.index.database import Index
    from memhtml.search.terms import Term

__all__ = ["DEFAULT_LIMIT", "Hit", "Hits", "NoMatch", "NoMatchReason", "search"]

DEFAULT_LIMIT = 10
MAX_LIMIT = 500

_BM25_TOP = 2.2
"""What bm25 gives one term at most, as a multiple of its idf: k1 + 1 (SQLite FTS5 §5.1.1)."""

# Weights of title, claim, facets, names, aliases, body. The body holds the claim and the facets
# too, so theirs are what these places add.
_SELECT_RANKED = """
SELECT f.id, f.path, f.title, f.gist, f.memory_type, f.confidence, f.updated_at, f.origin_path,
  -bm25(files_fts, 2.0, 1.0, 1.0, 1.5, 1.5, 1.0) AS score
FROM files_fts JOIN files AS f ON f.id = files_fts.rowid
WHERE files_fts MATCH ? AND {scope}
ORDER BY score DESC, f.path
LIMIT ?
"""
_COUNT = "(SELECT count(*) FROM files_fts WHERE files_fts MATCH ?)"
_SCOPE_HAS_ANY = "SELECT EXISTS (SELECT 1 FROM files AS f WHERE {scope})"
_MATCHES_ANY = "SELECT EXISTS (SELECT 1 FROM files_fts WHERE files_fts MATCH ?)"
_SELECT_BODIES = "SELECT file_id, text FROM bodies WHERE file_id IN ({ids})"
_SELECT_ENTITIES = """
SELECT file_id, entity FROM file_entities WHERE file_id IN ({ids}) ORDER BY entity
"""
_SELECT_SUCCESSORS = """
SELECT e.dst_path, s.path FROM edges AS e JOIN files AS s ON s.id = e.src_id
WHERE e.rel = 'supersedes' AND e.dst_path IN ({paths}) AND s.path <> e.dst_path
ORDER BY s.created_at, s.path DESC
"""


class NoMatchReason(StrEnum):
    """Why an answer is empty."""

    EMPTY_INDEX = "empty-index"
    NO_WORDS = "no-words"
    NO_TERM_FOUND = "no-term-found"
    NOT_IN_SCOPE = "not-in-scope"
    SCOPE_EMPTY = "scope-empty"


_MESSAGES = {
    NoMatchReason.EMPTY_INDEX: "there are no memories yet",
    NoMatchReason.NO_WORDS: "the question has no letter or digit to look for",
    NoMatchReason.NO_TERM_FOUND: "no memory has what was asked for",
    NoMatchReason.NOT_IN_SCOPE: "memories that match exist, but none within the filters",
    NoMatchReason.SCOPE_EMPTY: "no memory passes the filters, whatever the question",
}


class NoMatch(NamedTuple):
    """An empty answer's reason."""

    reason: NoMatchReason

    @property
    def message(self) -> str:
        """The reason as a sentence without its full stop."""
        return _MESSAGES[self.reason]


class Hit(NamedTuple):
    """One memory that matches."""

    path: str
    title: str
    gist: str
    memory_type: str
    confidence: float
    updated_at: str
    score: float
    """Between 0 and 1: the part that it has of what the question's terms could give at most.

    Terms that no memory has count as missing, so a question half unknown scores at most half.
    """
    snippet: Snippet
    entities: tuple[str, ...]
    """``type:name`` as authored, sorted."""
    arms: tuple[str, ...]
    """What found it."""
    superseded_by: str | None
    """The newest memory that says it replaces this one."""


class Hits(NamedTuple):
    """An answer."""

    hits: tuple[Hit, ...]
    no_match: NoMatch | None
    """Set exactly when there are no hits."""
    unmatched_terms: tuple[str, ...]
    """What was asked for and stands in no memory at all, in or out of scope."""
    scope_empty: bool
    """There are no hits because the filters leave no memory to look at."""
    arms: tuple[str, ...]
    """What ranked: so far the full text alone."""
    degraded: bool
    """No vectors took part."""
    indexed_commit: str | None
    """The commit that the answer describes, hand edits on top."""
    skipped_count: int
    """Files that could not be read as memories, so no search finds them."""


class _Phrase(NamedTuple):
    files: int
    """Memories that have it."""
    idf: float


def search(index: Index, text: str, scope: Scope | None = None, limit: int = DEFAULT_LIMIT) -> Hits:
    """Return the memories in *scope* (default: active, no tasks) that answer *text*, best first.

    Equal scores come in order of path.

    Raises:
        Busy: Another process holds the whole index.
        IndexStale: There is no usable index; it has to be built first.
        InvalidFlag: *limit* is not between 1 and 500.
        StorageFailure: The index cannot be read.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidFlag(f"a limit of {limit} hits is not between 1 and {MAX_LIMIT}")
    scope = scope or Scope()
    terms = terms_of(text)
    with index.reading("search the index") as connection:
        state = index.state()
        if state is None:
            raise IndexStale(f"there is no usable index at {index.path!r}")
        phrases = _look_up(connection, terms, state.files)
        found = [term for term in terms if _found(term, phrases)]
        match = _match(terms, found)
        rows = _ranked(connection, match, scope, limit) if match else []
        hits = _hits(connection, rows, terms, phrases) if rows else ()
        no_match = None if hits else _no_match(connection, terms, match, scope, state.files)
    return Hits(
        hits=hits,
        no_match=no_match,
        unmatched_terms=tuple(term.text for term in terms if term not in found),
        scope_empty=no_match is not None and no_match.reason is NoMatchReason.SCOPE_EMPTY,
        arms=("fts",),
        degraded=True,
        indexed_commit=state.head_sha,
        skipped_count=state.skipped,
    )


def _look_up(connection: apsw.Connection, terms: Sequence[Term], files: int) -> dict[str, _Phrase]:
    """Return each phrase of *terms* with how many memories have it, asked in one statement."""
    texts = list(dict.fromkeys(phrase for term in terms for phrase in term.phrases))
    if not texts:
        return {}
    (counts,) = connection.execute("SELECT " + ", ".join([_COUNT] * len(texts)), texts)
    return {
        text: _Phrase(count, _idf(count, files)) for text, count in zip(texts, counts, strict=True)
    }


def _idf(count: int, files: int) -> float:
    # As FTS5 has it, floor included, so that a score is a true part of the attainable.
    return max(math.log((files - count + 0.5) / (count + 0.5)), 1e-6)


def _match(terms: Sequence[Term], found: Sequence[Term]) -> str | None:
    """Return the FTS5 expression, or None when nothing can match."""
    if not found or any(term.required and term not in found for term in terms):
        return None
    demanded = " AND ".join(phrase for t in found if t.required for phrase in t.phrases)
    wished = " OR ".join(phrase for t in found if not t.required for phrase in t.phrases)
    if demanded and wished:
        # Nothing in FTS5 is optional, so what is demanded stands among the alternatives as well.
        return f"({demanded}) AND (({demanded}) OR {wished})"
    return demanded or wished


def _ranked(
    connection: apsw.Connection, match: str, scope: Scope, limit: int
) -> list[tuple[Any, ...]]:
    condition, values = where(scope)
    sql = _SELECT_RANKED.format(scope=condition)
    return connection.execute(sql, (match, *values, limit)).fetchall()


def _hits(
    connection: apsw.Connection,
    rows: Sequence[tuple[Any, ...]],
    terms: Sequence[Term],
    phrases: Mapping[str, _Phrase],
) -> tuple[Hit, ...]:
    ids = ", ".join(str(row[0]) for row in rows)
    bodies = dict(connection.execute(_SELECT_BODIES.format(ids=ids)))
    entities: dict[int, list[str]] = {}
    for file_id, entity in connection.execute(_SELECT_ENTITIES.format(ids=ids)):
        entities.setdefault(file_id, []).append(entity)
    successors = _successors(connection, rows)
    weights = [_weight(term, phrases) for term in terms]
    scale = _scale(terms, phrases, weights)
    stem = _stemmer(connection)
    return tuple(
        Hit(
            path=path,
            title=title,
            gist=gist,
            memory_type=memory_type,
            confidence=confidence,
            updated_at=updated_at,
            score=min(1.0, score * scale),
            snippet=cut_snippet(bodies[file_id], terms, weights, stem),
            entities=tuple(entities.get(file_id, ())),
            arms=("fts",),
            # A link made before the move into the archive names the place before it.
            superseded_by=successors.get(path) or successors.get(origin),
        )
        for (
            file_id,
            path,
            title,
            gist,
            memory_type,
            confidence,
            updated_at,
            origin,
            score,
        ) in rows
    )


def _scale(
    terms: Sequence[Term], phrases: Mapping[str, _Phrase], weights: Sequence[float]
) -> float:
    """Return what turns a bm25 sum into the part it is of the attainable."""
    found = [term for term in terms if _found(term, phrases)]
    # `_match` names what is demanded twice when there are alternatives.
    demanded_times = len({term.required for term in found})
    attainable = sum(
        idf * (demanded_times if term.required else 1)
        for term in found
        for idf in _found(term, phrases)
    )
    known = sum(w for term, w in zip(terms, weights, strict=True) if _found(term, phrases))
    return known / sum(weights) / (_BM25_TOP * attainable)


def _weight(term: Term, phrases: Mapping[str, _Phrase]) -> float:
    """Return how telling *term* is: positive however common it is, unlike bm25's idf."""
    idfs = _found(term, phrases) or [phrases[phrase].idf for phrase in term.phrases]
    return math.log1p(math.exp(max(idfs)))


def _found(term: Term, phrases: Mapping[str, _Phrase]) -> list[float]:
    """Return the idf of each spelling of *term* that some memory has."""
    return [phrases[phrase].idf for phrase in term.phrases if phrases[phrase].files]


def _successors(
    connection: apsw.Connection, rows: Sequence[tuple[Any, ...]]
) -> dict[str | None, str]:
    paths = [path for row in rows for path in (row[1], row[7]) if path is not None]
    sql = _SELECT_SUCCESSORS.format(paths=", ".join("?" * len(paths)))
    # The newest comes last and stays.
    return dict(connection.execute(sql, paths))


def _stemmer(connection: apsw.Connection) -> Callable[[str], str]:
    """Return the stem that the index has for a word, with its diacritics and case folded."""
    name, *options = FTS_TOKENIZER
    tokenize = connection.fts5_tokenizer(name, options)
    known: dict[str, str] = {}

    def stem(word: str) -> str:
        if word not in known:
            tokens = list(
                tokenize(
                    word.encode(),
                    apsw.FTS5_TOKENIZE_QUERY,
                    None,
                    include_offsets=False,
                    include_colocated=False,
                )
            )
            known[word] = str(tokens[0]) if tokens else ""
        return known[word]

    return stem


def _no_match(
    connection: apsw.Connection, terms: Sequence[Term], match: str | None, scope: Scope, files: int
) -> NoMatch:
    if not files:
        return NoMatch(NoMatchReason.EMPTY_INDEX)
    if not terms:
        return NoMatch(NoMatchReason.NO_WORDS)
    condition, values = where(scope)
    if not _exists(connection, _SCOPE_HAS_ANY.format(scope=condition), values):
        return NoMatch(NoMatchReason.SCOPE_EMPTY)
    if match is not None and _exists(connection, _MATCHES_ANY, (match,)):
        return NoMatch(NoMatchReason.NOT_IN_SCOPE)
    return NoMatch(NoMatchReason.NO_TERM_FOUND)


def _exists(connection: apsw.Connection, sql: str, values: Sequence[str]) -> bool:
    ((found,),) = connection.execute(sql, values)
    return bool(found)
