"""What other memories say of some: that they are replaced, contradicted, or at odds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

__all__ = ["Relations", "relations_of"]

# A link made before its target moved into the archive names the place before it.
_SUCCESSORS = """
SELECT f.id, s.path FROM files AS f
JOIN edges AS e ON e.dst_path IN (f.path, f.origin_path) AND e.rel = 'supersedes'
JOIN files AS s ON s.id = e.src_id
WHERE f.id IN ({ids}) AND s.id <> f.id
ORDER BY s.created_at, s.path DESC
"""
_CONTRADICTING = """
SELECT f.id, s.path FROM files AS f
JOIN edges AS e ON e.dst_path IN (f.path, f.origin_path) AND e.rel = 'contradicts'
JOIN files AS s ON s.id = e.src_id
WHERE f.id IN ({ids}) AND s.archived = 0 AND s.id <> f.id
UNION
SELECT e.src_id, d.path FROM edges AS e JOIN files AS d ON d.path = e.dst_path
WHERE e.src_id IN ({ids}) AND e.rel = 'contradicts' AND d.archived = 0
"""
_IN_THE_SAME_SLOT = """
SELECT f.id, o.path FROM files AS f
JOIN files AS o ON o.frame_key = f.frame_key AND o.id <> f.id
WHERE f.id IN ({ids}) AND f.archived = 0 AND f.memory_type <> 'task'
  AND o.archived = 0 AND o.memory_type <> 'task' AND o.gist <> f.gist
ORDER BY o.path
"""
MAX_CONFLICTS = 10


class Relations(NamedTuple):
    """What is said of one memory."""

    superseded_by: str | None
    """The newest memory that says it replaces this one."""
    contradicts: tuple[str, ...]
    """Active memories that one of the two says the other contradicts, sorted."""
    conflicts_with: tuple[str, ...]
    """Other active memories whose claim fills the same slot with another value, sorted."""


def relations_of(connection: apsw.Connection, ids: Iterable[int]) -> dict[int, Relations]:
    """Return what other memories say of each of *ids*."""
    wanted = list(ids)
    listed = ", ".join(map(str, wanted))
    # The newest comes last and stays.
    successors = dict(connection.execute(_SUCCESSORS.format(ids=listed)))
    contradicting: dict[int, set[str]] = {}
    for file_id, path in connection.execute(_CONTRADICTING.format(ids=listed)):
        contradicting.setdefault(file_id, set()).add(path)
    conflicting: dict[int, list[str]] = {}
    for file_id, path in connection.execute(_IN_THE_SAME_SLOT.format(ids=listed)):
        conflicting.setdefault(file_id, []).append(path)
    return {
        file_id: Relations(
            superseded_by=successors.get(file_id),
            contradicts=tuple(sorted(contradicting.get(file_id, ()))),
            conflicts_with=tuple(conflicting.get(file_id, ())[:MAX_CONFLICTS]),
        )
        for file_id in wanted
    }
