"""A question in, ranked memories out, or a reason why there are none.

Everything is read in one view of the index. What ignores the question can put no memory into the
answer, and what barely touches it is no answer either: "nothing found" is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from memhtml.index.schema import FTS_TOKENIZER
from memhtml.model.errors import InvalidFlag
from memhtml.scoring.diversity import diversified
from memhtml.search.arms import lexical
from memhtml.search.arms.sparse import span_of
from memhtml.search.cursors import Cursor, parse_cursor, question_digest, state_digest
from memhtml.search.hits import ArchivedMatch, Hit, Hits, Near, NoMatch, NoMatchReason
from memhtml.search.likeness import Likeness
from memhtml.search.pool import Pool
from memhtml.search.ranking import NEIGHBOUR, Means, rank
from memhtml.search.relations import relations_of
from memhtml.search.scope import Scope, narrowed
from memhtml.search.snippets import Snippet, cut_snippet
from memhtml.search.state import ready

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memhtml.index.database import Index, State
    from memhtml.search.ranking import Ranking

__all__ = [
    "DEFAULT_LIMIT",
    "MAX_LIMIT",
    "Hit",
    "Hits",
    "Means",
    "NoMatch",
    "NoMatchReason",
    "search",
    "stemmer",
]

DEFAULT_LIMIT = 10
MAX_LIMIT = 500

MIN_DEPTH = 200
DEPTH_FACTOR = 4
"""Each arm looks at so many memories for each hit that is wanted, and at 200 at least."""

JUDGED = 12
"""The most relevant of so many of the best decides whether there is an answer."""

DIVERSIFIED = 20
"""At most so many places of the first page are filled with an eye to what is in the others."""

CHOICE = 3
"""Each of them is filled from so many candidates."""

CLOSEST = 3

NEARLY = 0.8
"""A memory of the archive that is less relevant than this part of the best is not hinted at."""

_SCOPE_HAS_ANY = "SELECT EXISTS (SELECT 1 FROM files AS f WHERE {scope})"
_SELECT_SHOWN = """
SELECT f.id, f.path, f.title, f.gist, f.memory_type, f.confidence, f.updated_at, b.text
FROM files AS f JOIN bodies AS b ON b.file_id = f.id WHERE f.id IN ({ids})
"""
_SELECT_ENTITIES = """
SELECT file_id, entity FROM file_entities WHERE file_id IN ({ids}) ORDER BY entity
"""
_SELECT_PATHS = "SELECT id, path FROM files WHERE id IN ({ids})"
_SELECT_NAMED = "SELECT id, path, gist FROM files WHERE id IN ({ids})"


def search(
    index: Index,
    text: str,
    scope: Scope | None = None,
    limit: int = DEFAULT_LIMIT,
    *,
    cursor: str | None = None,
    abstain: bool = True,
    means: Means | None = None,
) -> Hits:
    """Return the memories in *scope* (default: active, no tasks) that answer *text*, best first.

    With *cursor*, the next page of the answer that gave it. Without *abstain*, whatever matches at
    all is returned, be it an answer or not.

    Raises:
        Busy: Another process holds the whole index.
        IndexStale: There is no usable index; it has to be built first.
        InvalidFlag: *limit* is not between 1 and 500, or *cursor* is not one of this question.
        StorageFailure: The index cannot be read.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidFlag(f"a limit of {limit} hits is not between 1 and {MAX_LIMIT}")
    scope = scope or Scope()
    means = means or Means()
    question = question_digest(text, scope)
    begin = Cursor(0, limit, question, 0) if cursor is None else parse_cursor(cursor, question)
    with index.reading("search the index") as connection:
        state = ready(index)
        depth = max(MIN_DEPTH, DEPTH_FACTOR * begin.page)
        now = means.now or state.updated_at
        ranking = rank(connection, text, scope, means, files=state.files, depth=depth, now=now)
        no_match = _no_match(connection, ranking, scope, state, abstain=abstain)
        places: Sequence[int] = ()
        archived: tuple[ArchivedMatch, ...] = ()
        hits: tuple[Hit, ...] = ()
        more = False
        if no_match is None:
            places = _places(connection, ranking, scope, begin, limit)
            more = len(places) > limit
            hits = _hits(connection, ranking, places[:limit])
            if not hits:
                no_match = NoMatch(NoMatchReason.END_OF_PAGES)
        else:
            archived = _archived(connection, text, scope, means, state=state, limit=limit)
        spellings = () if hits else _spellings(connection, ranking)
    digest = state_digest(state)
    offset = begin.offset + limit
    return Hits(
        hits=hits,
        no_match=no_match,
        unmatched_terms=ranking.matching.unmatched,
        spellings=spellings,
        scope_empty=no_match is not None and no_match.reason is NoMatchReason.SCOPE_EMPTY,
        arms=ranking.arms,
        degraded=ranking.space is None and ranking.dense_space is None,
        degraded_reason=ranking.degraded_reason,
        coverage=ranking.covered / max(state.texts, 1),
        indexed_commit=state.head_sha,
        skipped_count=state.skipped,
        archived=archived,
        next_cursor=str(Cursor(offset, begin.page, question, digest)) if more else None,
        cursor_stale=cursor is not None and begin.state != digest,
    )


def _places(
    connection: apsw.Connection, ranking: Ranking, scope: Scope, begin: Cursor, limit: int
) -> list[int]:
    """Return the ids of one page, and of one more memory when there is one."""
    end = begin.offset + limit + 1
    diverse = min(begin.page, DIVERSIFIED)
    pool = [(file_id, ranking.total(file_id)) for file_id in ranking.order[: CHOICE * diverse]]
    likeness = Likeness(connection, ranking, [file_id for file_id, _ in pool])
    chosen = diversified(pool, likeness, limit=diverse)
    order = [file_id for file_id, _ in chosen]
    taken = set(order)
    order += [file_id for file_id in ranking.order if file_id not in taken]
    if end > len(order) and (expression := ranking.matching.expression) is not None:
        # Beyond what the arms looked at, the words alone decide.
        seen = set(order)
        within = Pool(connection, narrowed(connection, scope))
        deeper = lexical.find(within, expression, end + len(order))
        rest = [file_id for file_id in deeper if file_id not in seen]
        ranking.append(rest, deeper)
        order += rest
    return order[begin.offset : end]


def _hits(connection: apsw.Connection, ranking: Ranking, ids: Sequence[int]) -> tuple[Hit, ...]:
    listed = ", ".join(map(str, ids))
    rows = {row[0]: row[1:] for row in connection.execute(_SELECT_SHOWN.format(ids=listed))}
    entities: dict[int, list[str]] = {}
    for file_id, entity in connection.execute(_SELECT_ENTITIES.format(ids=listed)):
        entities.setdefault(file_id, []).append(entity)
    relations = relations_of(connection, ids)
    relevance = ranking.weigh(ids)
    stem = stemmer(connection)
    hits = []
    for file_id in ids:
        path, title, gist, memory_type, confidence, updated_at, body = rows[file_id]
        explanation = ranking.explain(file_id)
        related = relations[file_id]
        hits.append(
            Hit(
                path=path,
                title=title,
                gist=gist,
                memory_type=memory_type,
                confidence=confidence,
                updated_at=updated_at,
                score=ranking.score(file_id),
                relevance=relevance[file_id],
                snippet=_snippet(connection, body, ranking, file_id, stem),
                entities=tuple(entities.get(file_id, ())),
                arms=tuple(arm.arm for arm in explanation.arms) or (NEIGHBOUR,),
                superseded_by=related.superseded_by,
                contradicts=related.contradicts,
                conflicts_with=related.conflicts_with,
                explanation=explanation,
            )
        )
    return tuple(hits)


def _snippet(
    connection: apsw.Connection,
    body: str,
    ranking: Ranking,
    file_id: int,
    stem: Callable[[str], str],
) -> Snippet:
    matching = ranking.matching
    if file_id in ranking.texts and not ranking.holds_any(file_id):
        # No word of the question is in it, so it begins with the text that means them.
        start, end = span_of(connection, file_id, ranking.texts[file_id])
        body = body[start:end]
    return cut_snippet(body, matching.terms, matching.weights, stem)


def stemmer(connection: apsw.Connection) -> Callable[[str], str]:
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
    connection: apsw.Connection, ranking: Ranking, scope: Scope, state: State, *, abstain: bool
) -> NoMatch | None:
    """Return why there is no answer; None when there is one."""
    if not ranking.order:
        return NoMatch(_why_empty(connection, ranking, scope, state))
    best = ranking.order[:JUDGED]
    if not abstain or ranking.is_answer(best):
        return None
    relevance = ranking.weigh(best)
    closest = sorted(best, key=lambda n: -relevance[n])[:CLOSEST]
    rows = connection.execute(_SELECT_NAMED.format(ids=", ".join(map(str, closest))))
    named = {file_id: (path, gist) for file_id, path, gist in rows}
    reason = NoMatchReason.NOT_RELEVANT if ranking.is_spoken else NoMatchReason.NOT_SAID
    return NoMatch(reason, tuple(Near(*named[n], relevance[n]) for n in closest))


def _why_empty(
    connection: apsw.Connection, ranking: Ranking, scope: Scope, state: State
) -> NoMatchReason:
    if not state.files:
        return NoMatchReason.ALL_UNREADABLE if state.skipped else NoMatchReason.EMPTY_INDEX
    if not ranking.matching.terms:
        return NoMatchReason.NO_WORDS
    within = narrowed(connection, scope)
    ((has_any,),) = connection.execute(_SCOPE_HAS_ANY.format(scope=within.sql), within.values)
    if not has_any:
        return NoMatchReason.SCOPE_EMPTY if scope.is_narrowed else NoMatchReason.ALL_LEFT_OUT
    expression = ranking.matching.expression
    if expression is not None and lexical.matches_any(connection, expression):
        return NoMatchReason.NOT_IN_SCOPE
    return NoMatchReason.NO_TERM_FOUND


def _archived(
    connection: apsw.Connection,
    text: str,
    scope: Scope,
    means: Means,
    *,
    state: State,
    limit: int,
) -> tuple[ArchivedMatch, ...]:
    """Return what in the archive answers a question that active memories do not answer."""
    asks_archive = scope.include_archived or scope.only_archived or scope.as_of is not None
    if asks_archive or not state.archived:
        return ()
    ranking = rank(
        connection,
        text,
        scope._replace(only_archived=True),
        means._replace(dense=None),  # the words and the table say enough for a hint
        files=state.files,
        depth=MIN_DEPTH,
        now=means.now or state.updated_at,
    )
    ids = ranking.order[:limit]
    if not ids or not ranking.is_answer(ids):
        return ()
    relevance = ranking.weigh(ids)
    best = max(relevance.values())
    # Behind the best, those that answer as well or nearly so; the rest only share a word with it.
    ids = [file_id for file_id in ids if relevance[file_id] >= NEARLY * best]
    paths, relations = _paths(connection, ids), relations_of(connection, ids)
    return tuple(ArchivedMatch(paths[n], relations[n].superseded_by) for n in ids)


def _paths(connection: apsw.Connection, ids: Sequence[int]) -> dict[int, str]:
    return dict(connection.execute(_SELECT_PATHS.format(ids=", ".join(map(str, ids)))))


def _spellings(
    connection: apsw.Connection, ranking: Ranking
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not ranking.matching.unmatched:
        return ()
    from memhtml.search.spelling import nearest_words  # noqa: PLC0415 - most questions need none

    return nearest_words(connection, ranking.matching, stemmer(connection))
