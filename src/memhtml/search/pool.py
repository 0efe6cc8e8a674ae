"""The memories a question may be answered with: those in scope, each looked up once.

Several arms name the same memories, and what ranking wants to know of one is little: whether it is
in scope, its path, which decides between equals, and when it was news. That is one row of `files`,
and finding it costs more than all the arithmetic on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from memhtml.search.scope import Condition

__all__ = ["Candidate", "Pool"]

_CANDIDATES = "SELECT f.id, f.path, f.news_at FROM files AS f WHERE f.id IN ({ids}) AND {scope}"


class Candidate(NamedTuple):
    """A memory in scope, as far as ranking needs to know it."""

    path: str
    news_at: str


class Pool:
    """The memories within a condition, by their ids."""

    def __init__(self, connection: apsw.Connection, within: Condition) -> None:
        self.connection = connection
        self.within = within
        self._known: dict[int, Candidate | None] = {}

    def find(self, ids: Iterable[int]) -> dict[int, Candidate]:
        """Return those of *ids* that are in scope, in the order given."""
        wanted = list(ids)
        missing = [n for n in wanted if n not in self._known]
        if missing:
            self._known.update(dict.fromkeys(missing))
            # In order of their rows, so that neighbours on a page are read together.
            listed = ", ".join(map(str, sorted(missing)))
            sql = _CANDIDATES.format(ids=listed, scope=self.within.sql)
            for file_id, path, news_at in self.connection.execute(sql, self.within.values):
                self._known[file_id] = Candidate(path, news_at)
        return {n: found for n in wanted if (found := self._known[n]) is not None}

    def only(self, ids: Iterable[int]) -> Pool:
        """Return the pool of those of *ids* that are in this one."""
        listed = ", ".join(map(str, ids))
        narrower = self.within._replace(sql=f"{self.within.sql} AND f.id IN ({listed})")
        return Pool(self.connection, narrower)
