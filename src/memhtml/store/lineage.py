"""Where an archived file came from. Pure: told by the path algebra, never by similarity.

Git guesses renames from how alike two files are. Memories are short and share most of their head,
so it guesses wrong; but an archived path holds the old one, save for an ordinal where the archive
had the name already.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from memhtml.model.paths import original_path
from memhtml.model.slugs import with_ordinal
from memhtml.model.tree import Change, ChangeKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = ["origin_among", "sources"]

_ordinal_re = re.compile(r"-(\d+)\.html$")


def origin_among(archived: str, changes: Iterable[Change]) -> str | None:
    """Return which path the commit with *changes* moved to *archived*; None if it moved none."""
    original = original_path(archived)
    removed = {change.path for change in changes if change.kind is ChangeKind.REMOVED}
    if original is None or original in removed:
        return original
    return _without_ordinal(original, removed)


def _without_ordinal(original: str, removed: Collection[str]) -> str | None:
    found = _ordinal_re.search(original)
    if found is None:
        return None
    folder, _, name = original.rpartition("/")
    stem, ordinal = name.removesuffix(".html"), int(found[1])
    plain = f"{folder}/{stem.removesuffix(f'-{ordinal}')}.html"
    if plain in removed:
        return plain
    # The ordinal of a long name took the place of its last letters.
    for path in sorted(removed):
        other_folder, _, other = path.rpartition("/")
        if other_folder == folder and with_ordinal(other.removesuffix(".html"), ordinal) == stem:
            return path
    return None


def sources(
    *, came: Iterable[str], gone: Collection[str], replaced: Collection[str]
) -> dict[str, str]:
    """Return for each path that *came* by a move from where, into the archive or out of it.

    *replaced* are paths where something else stands now; a file may have left those too.
    """
    left, vacated = set(gone), set(replaced)
    # What came back bears the name that its place in the archive holds; few have an ordinal there.
    back: dict[str, str] = {}
    numbered: dict[str, list[str]] = defaultdict(list)
    for path in gone:
        original = original_path(path)
        if original is not None:
            back[original] = path
            if _ordinal_re.search(original):
                numbered[original.rpartition("/")[0]].append(path)
    found: dict[str, str] = {}
    for path in came:
        original = original_path(path)
        if original is None:
            here = (Change(ChangeKind.REMOVED, path, "", ""),)
            others = numbered.get(path.rpartition("/")[0], ())
            source = back.get(path) or next((o for o in others if origin_among(o, here)), None)
        elif original in left or original in vacated:
            source = original
        elif _ordinal_re.search(original):
            source = _without_ordinal(original, left) or _without_ordinal(original, vacated)
        else:
            source = None
        if source is not None:
            found[path] = source
    return found
