"""Two trees into one, given the tree both came from. Pure: whoever calls reads the blobs.

Most paths differ on one side only, and that side's state holds. What is left are files that both
sides changed, which `merge_versions` merges by what they are, and moves: an archived memory is
recognised by its path, so an edit on one side follows a move on the other. Names are never guessed
from likeness, as git's own merge does.

What cannot be merged is a conflict and no state of either side is taken for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memhtml.format.edit import read_meta
from memhtml.format.merge import Merged, merge_memory
from memhtml.format.text import content_hash
from memhtml.format.usage import USAGE_PATH, merge_usage
from memhtml.model.history import SyncConflict
from memhtml.model.tree import Change, ChangeKind
from memhtml.store.lineage import origin_among
from memhtml.store.listings import is_generated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memhtml.store.trees import Entry

__all__ = ["Blobs", "MergedFile", "TreeMerge", "merge_trees", "merge_versions"]

_FILES = frozenset({"100644", "100755"})

RUN_RECORDS = ".memhtml/sleep/"

_instant_re = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z")
_ordinals_re = re.compile(r"(?:-[0-9]+)*\.html$")


class Blobs(Protocol):
    """What a merge of trees has to ask for."""

    def base(self, path: str) -> Entry | None:
        """Return what both sides came from at *path*; None where they have nothing in common."""

    def read(self, sha: str) -> bytes:
        """Return the content of a blob."""

    def merge_text(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        """Return two versions of a text merged line by line, None where they conflict."""


class MergedFile(NamedTuple):
    """A file that is as neither side has it."""

    mode: str
    data: bytes


class TreeMerge(NamedTuple):
    """What turns our tree into the merged one."""

    edits: dict[str, Entry | MergedFile | None]
    """By path: their entry, a new file, or None where nothing stands any more."""
    conflicts: tuple[SyncConflict, ...]

    @property
    def merged(self) -> tuple[str, ...]:
        """The paths whose content was merged, sorted."""
        return tuple(sorted(p for p, edit in self.edits.items() if isinstance(edit, MergedFile)))


def merge_versions(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> Merged | None:
    """Return two versions of the file at *path* as one; None for a file that is not ours to read.

    A generated page is as we have it: it is made anew from what it lists. Of two records of runs
    that two machines gave one name, the later one stays; what the other did stands in its commits.
    """
    if path.startswith(RUN_RECORDS):
        return Merged(max(ours, theirs, key=_begun))
    if is_generated(path):
        return Merged(ours)
    if path == USAGE_PATH:
        return Merged(merge_usage(base, ours, theirs))
    if path.endswith(".html"):
        return merge_memory(base, ours, theirs)
    return None


def merge_trees(
    ours: Mapping[str, Entry | None], theirs: Mapping[str, Entry | None], blobs: Blobs
) -> TreeMerge:
    """Merge what both sides made of their common tree.

    *ours* and *theirs* have every path that differs from the common tree, with what stands there
    now. A path that `Blobs.base` knows nothing of counts as new on both sides.
    """
    merging = _Merging(ours, theirs, blobs)
    merging.follow_moves()
    for path in theirs:
        merging.settle(path)
    return TreeMerge(merging.edits, tuple(sorted(merging.conflicts)))


class _Merging:
    def __init__(
        self,
        ours: Mapping[str, Entry | None],
        theirs: Mapping[str, Entry | None],
        blobs: Blobs,
    ) -> None:
        self._ours = ours
        self._theirs = theirs
        self._blobs = blobs
        self._settled: set[str] = set()
        self._origins: dict[str, Entry | None] = {}
        """What a moved file was, by its new path, where both sides moved it to the same."""
        self.edits: dict[str, Entry | MergedFile | None] = {}
        self.conflicts: list[SyncConflict] = []

    def follow_moves(self) -> None:
        """Settle every file that one side moved and the other changed or moved too."""
        mine, other = dict(self._moves(self._ours)), dict(self._moves(self._theirs))
        for src in sorted(mine.keys() | other.keys()):
            to, their_to = mine.get(src), other.get(src)
            if to and their_to:
                self._both_moved(src, to, their_to)
            elif to and self._theirs.get(src) is not None:
                self._move_meets_edit(src, to, we_moved=True)
            elif their_to and self._ours.get(src) is not None:
                self._move_meets_edit(src, their_to, we_moved=False)
            elif to and src in self._theirs:
                self._conflict(to, self._ours[to], None, "archived here, removed there", src)
            elif their_to and src in self._ours:
                reason = "removed here, archived there"
                self._conflict(their_to, None, self._theirs[their_to], reason, src)

    def settle(self, path: str) -> None:
        """Decide about a *path* that they changed."""
        if path in self._settled:
            return
        self._settled.add(path)
        theirs = self._theirs[path]
        if path not in self._ours:
            self.edits[path] = theirs
        elif (ours := self._ours[path]) != theirs:
            base = self._origins[path] if path in self._origins else self._blobs.base(path)
            self._merge(path, base, ours, theirs)

    def _moves(self, side: Mapping[str, Entry | None]) -> Iterator[tuple[str, str]]:
        gone = [Change(ChangeKind.REMOVED, p, "", "") for p, entry in side.items() if not entry]
        by_name: dict[str, list[Change]] = {}
        for change in gone:
            by_name.setdefault(_stem(change.path), []).append(change)
        for path, entry in side.items():
            if entry is None or self._blobs.base(path) is not None:
                continue
            here = (Change(ChangeKind.REMOVED, path, "", ""),)
            near = by_name.get(_stem(path), ())
            src = origin_among(path, near) or next(
                (c.path for c in near if origin_among(c.path, here) == path), None
            )
            if src is not None and src != path:
                yield src, path

    def _both_moved(self, src: str, to: str, their_to: str) -> None:
        if to == their_to:
            self._origins[to] = self._blobs.base(src)
            return
        # The same memory in two places of the archive: the name that sorts first is the older.
        kept = min(to, their_to)
        self._settled.update((src, to, their_to))
        self.edits[to] = None
        self._merge(kept, self._blobs.base(src), self._ours[to], self._theirs[their_to])

    def _move_meets_edit(self, src: str, to: str, *, we_moved: bool) -> None:
        mover, editor = (self._ours, self._theirs) if we_moved else (self._theirs, self._ours)
        self._settled.update((src, to))
        base, moved, edited = self._blobs.base(src), mover[to], editor[src]
        mine, other = (moved, edited) if we_moved else (edited, moved)
        if editor.get(to) is not None:
            self._conflict(to, self._ours.get(to), self._theirs.get(to), "two files there", src)
        elif self._is_contradicted(base, moved, edited):
            reason = "corrected on one side, and what it says was changed on the other"
            self._conflict(to, mine, other, reason, src)
        else:
            if not we_moved:
                self.edits[src] = None
            self._merge(to, base, mine, other)

    def _is_contradicted(
        self, base: Entry | None, moved: Entry | None, edited: Entry | None
    ) -> bool:
        """Tell whether a correction took the place of a text that the other side changed."""
        if base is None or moved is None or edited is None:
            return False
        if read_meta(self._blobs.read(moved.sha), "memhtml-superseded-by") is None:
            return False
        before, after = (self._blobs.read(entry.sha) for entry in (base, edited))
        return content_hash(before) != content_hash(after)

    def _merge(
        self, path: str, base: Entry | None, ours: Entry | None, theirs: Entry | None
    ) -> None:
        if ours == theirs or (is_generated(path) and ours is not None):
            self._keep(path, ours)
        elif is_generated(path):
            self._keep(path, None)
        elif ours is None or theirs is None:
            self._conflict(path, ours, theirs, "changed on one side, removed on the other")
        elif not {ours.mode, theirs.mode} <= _FILES:
            self._conflict(path, ours, theirs, "not a plain file on both sides")
        else:
            self._merge_contents(path, base, ours, theirs)

    def _merge_contents(self, path: str, base: Entry | None, ours: Entry, theirs: Entry) -> None:
        was = self._blobs.read(base.sha) if base else None
        mine, other = self._blobs.read(ours.sha), self._blobs.read(theirs.sha)
        merged = merge_versions(path, was, mine, other)
        if merged is None:
            text = mine if mine == other else self._blobs.merge_text(was or b"", mine, other)
            merged = Merged(mine, ("text",)) if text is None else Merged(text)
        if merged.conflicts:
            names = ", ".join(name.removeprefix("memhtml-") for name in merged.conflicts)
            self._conflict(path, ours, theirs, f"both sides changed the {names}")
            return
        mode = theirs.mode if base and ours.mode == base.mode else ours.mode
        if merged.data == mine and mode == ours.mode:
            self._keep(path, ours)
        else:
            self.edits[path] = MergedFile(mode, merged.data)

    def _keep(self, path: str, ours: Entry | None) -> None:
        """Let *path* be as our entry *ours*, which may have stood under another name."""
        if self._ours.get(path) != ours:
            self.edits[path] = ours
        else:
            self.edits.pop(path, None)

    def _conflict(
        self, path: str, ours: Entry | None, theirs: Entry | None, reason: str, *also: str
    ) -> None:
        self._settled.update((path, *also))
        mine, other = (entry.sha if entry else "" for entry in (ours, theirs))
        self.conflicts.append(SyncConflict(path, mine, other, reason))


def _begun(record: bytes) -> tuple[bytes, bytes]:
    """Return what orders records of runs: the first instant one tells, which is the run's own."""
    found = _instant_re.search(record)
    return (found[0] if found else b"", record)


def _stem(path: str) -> str:
    """Return what the names of a file before and after any move have in common."""
    # "x-2" may be "x" with an ordinal, for which a long name gives up its end.
    return _ordinals_re.sub("", path.rpartition("/")[2])[:40]
