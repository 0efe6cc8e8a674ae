"""Where runs came into a store, and which were taken back: its commits say so in trailers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memhtml.store.branches import Branches

__all__ = ["MERGED_TRAILER", "UNDOES_TRAILER", "UNDONE_TRAILER", "Landing", "landings"]

MERGED_TRAILER = "Memhtml-Merged"
UNDONE_TRAILER = "Memhtml-Undone"
UNDOES_TRAILER = "Memhtml-Undoes"
"""The merge that an undo takes back: two machines may have merged runs of one name."""

_REVERTS = "This reverts commit "
"""How git's own revert names a commit."""


class Landing(NamedTuple):
    """A merge of a run."""

    run_id: str
    commit: str
    undone_by: str | None = None
    """The commit that took it back, unless that was reverted."""


def landings(branches: Branches, head: str) -> list[Landing]:
    """Return every merge of a run that *head* has, the oldest first."""
    found: dict[str, Landing] = {}
    marks = (f"{MERGED_TRAILER}: ", f"{UNDONE_TRAILER}: ", _REVERTS)
    for sha, lines in reversed(branches.find_lines(head, marks)):
        told = {name: rest for line in lines for name, _, rest in (line.partition(": "),)}
        reverts = next((ln.removeprefix(_REVERTS) for ln in lines if ln.startswith(_REVERTS)), "")
        if MERGED_TRAILER in told:
            found[sha] = Landing(told[MERGED_TRAILER], sha)
        elif UNDONE_TRAILER in told:
            run_id, merged = told[UNDONE_TRAILER], told.get(UNDOES_TRAILER)
            for landing in [*found.values()]:
                if landing.run_id == run_id and merged in {None, landing.commit}:
                    found[landing.commit] = landing._replace(undone_by=sha)
        elif reverts:
            for landing in [*found.values()]:
                if landing.undone_by and reverts.startswith(landing.undone_by):
                    found[landing.commit] = landing._replace(undone_by=None)
                elif reverts.startswith(landing.commit):
                    found[landing.commit] = landing._replace(undone_by=sha)
    return [*found.values()]
