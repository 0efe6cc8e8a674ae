"""Which paths may enter a tree: the last defence before the object writer.

Git checks paths when they pass through its index. Our tree writer does not pass there, so what
`git fsck --strict` or a checkout on Windows or macOS would trip over is refused here. What a
memory's path should look like is `model.paths`' business; this is only what no tree may hold.
"""

from __future__ import annotations

import unicodedata

__all__ = ["violation"]

# Code points HFS+ drops when it compares names, so that ".g\u200cit" opens ".git".
_IGNORED_BY_HFS = {
    point: None
    for span in ((0x200C, 0x200F), (0x202A, 0x202E), (0x206A, 0x206F), (0xFEFF, 0xFEFF))
    for point in range(span[0], span[1] + 1)
}


def violation(path: str) -> str | None:
    """Say what is wrong with *path*, or None.

    >>> violation("areas/inbox/a.html")
    >>> violation("areas/../../etc/passwd")
    "it has the segment '..'"
    >>> violation("areas/.GIT/config")
    "it has the segment '.GIT', which names a git directory"
    """
    if "\\" in path:
        return "it has a backslash"
    if any(ch < " " or ch == "\x7f" for ch in path):
        return "it has a control character"
    if path[1:2] == ":":
        return "it starts with a drive letter"
    return next(filter(None, map(_segment_violation, path.split("/"))), None)


def _segment_violation(segment: str) -> str | None:
    if not segment:
        return "it is empty or has an empty segment"
    if segment in {".", ".."}:
        return f"it has the segment {segment!r}"
    if len(segment.encode("utf-8", "surrogateescape")) > 255:
        return "a segment is longer than 255 bytes"
    if _is_dotgit(segment):
        return f"it has the segment {segment!r}, which names a git directory"
    return None


def _is_dotgit(segment: str) -> bool:
    # NTFS drops trailing dots and spaces, opens a stream after ":", and keeps 8.3 names.
    plain = unicodedata.normalize("NFKC", segment.translate(_IGNORED_BY_HFS)).casefold()
    plain = plain.partition(":")[0].rstrip(". ")
    return plain in {".git", "git~1"}
