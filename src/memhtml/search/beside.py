"""Which memories stand beside others: before and after in one session, or linked by an author.

What was written a moment before or after an answer often belongs to it. Order in a session is the
order of events in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

__all__ = ["beside"]

MAX_LINKS = 8
"""A memory with more links than this is an index page of sorts: its links say little."""

_NEAREST = """
(SELECT n.id FROM files AS n
 WHERE n.session_id = f.session_id AND (n.news_at, n.path) {side} (f.news_at, f.path)
 ORDER BY n.news_at {order}, n.path {order} LIMIT 1)
"""
_IN_SESSION = f"""
SELECT f.id, {_NEAREST.format(side="<", order="DESC")}, {_NEAREST.format(side=">", order="ASC")}
FROM files AS f WHERE f.id IN ({{ids}}) AND f.session_id IS NOT NULL
"""  # noqa: S608 - ours
# A link that says of another memory that it is wrong or over makes no company.
_LINKED = """
SELECT e.src_id, d.id FROM edges AS e JOIN files AS d ON d.path = e.dst_path
WHERE e.src_id IN ({ids}) AND e.edge_class = 'memory' AND e.rel NOT IN ('supersedes', 'contradicts')
UNION
SELECT d.id, e.src_id FROM files AS d JOIN edges AS e ON e.dst_path = d.path
WHERE d.id IN ({ids}) AND e.edge_class = 'memory' AND e.rel NOT IN ('supersedes', 'contradicts')
"""


def beside(connection: apsw.Connection, ids: Iterable[int]) -> dict[int, set[int]]:
    """Return for each of *ids* the memories beside it; ids without any are left out."""
    listed = ", ".join(map(str, ids))
    found: dict[int, set[int]] = {}
    for file_id, before, after in connection.execute(_IN_SESSION.format(ids=listed)):
        found[file_id] = {other for other in (before, after) if other is not None}
    linked: dict[int, set[int]] = {}
    for file_id, other in connection.execute(_LINKED.format(ids=listed)):
        linked.setdefault(file_id, set()).add(other)
    for file_id, others in linked.items():
        if len(others) <= MAX_LINKS:
            found.setdefault(file_id, set()).update(others)
    return found
