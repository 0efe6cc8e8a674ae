"""Where an archived file came from. Pure: told by the path algebra, never by similarity.

Git guesses renames from how alike two files are. Memories are short and share most of their head,
so it guesses wrong; but an archived path holds the old one, save for an ordinal where the archive
had the name already.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memhtml.model.paths import original_path
from memhtml.model.slugs import with_ordinal
from memhtml.model.tree import ChangeKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.model.tree import Change

__all__ = ["origin_among"]

_ordinal_re = re.compile(r"-(\d+)\.html$")


def origin_among(archived: str, changes: Iterable[Change]) -> str | None:
    """Return which path the commit with *changes* moved to *archived*; None if it moved none."""
    original = original_path(archived)
    removed = {change.path for change in changes if change.kind is ChangeKind.REMOVED}
    if original is None or original in removed:
        return original
    found = _ordinal_re.search(original)
    if found is None:
        return None
    folder, _, name = original.rpartition("/")
    stem, ordinal = name.removesuffix(".html"), int(found[1])
    for path in sorted(removed):
        other_folder, _, other = path.rpartition("/")
        if other_folder == folder and with_ordinal(other.removesuffix(".html"), ordinal) == stem:
            return path
    return None
