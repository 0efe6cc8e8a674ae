"""Where a memory stands: paths, the buckets, placement, and the archive's algebra.

A path is root-relative with ``/`` and no leading slash. Two questions about one are kept apart.
*Readable* asks whether a file at that path is a memory at all: it is lenient, because stores exist
that we did not write. *Writable* asks whether we would put a new file there: it also asks whether
every file system can hold the name, and whether anything of ours would overwrite it.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, NewType

from memhtml.model.entities import is_person
from memhtml.model.errors import InvalidPath
from memhtml.model.instants import stamp
from memhtml.model.slugs import filename, is_device_name, slugify, with_ordinal
from memhtml.model.vocabulary import Bucket, MemoryType
from memhtml.model.whitespace import is_blank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

__all__ = [
    "DIRECTORY_ENTRIES",
    "GENERATED_NAMES",
    "MAX_PATH_UNITS",
    "MemoryPath",
    "PathFault",
    "PathRule",
    "archive_path",
    "archive_year",
    "bucket_of",
    "derived_path",
    "directory_with_room",
    "memory_path",
    "new_memory_path",
    "normalize_path",
    "original_path",
    "path_fault",
    "path_key",
    "place",
    "workspace_of",
    "writable_fault",
]

MemoryPath = NewType("MemoryPath", str)
"""Normalised, in a bucket, ends in ``.html``, no dot segment. Only this module makes one."""

GENERATED_NAMES = frozenset({"index.html", "sitemap.xml"})
"""Names that `publish` overwrites, so no memory may bear them."""

DIRECTORY_ENTRIES = 500
"""A directory this full gets subfolders: git writes a whole directory anew for each file in it."""

MAX_PATH_UNITS = 200
"""Longest path we write, in UTF-16 units. Windows allows 260 for the whole: this leaves 13 for
``archive/YYYY/`` and some 45 for the root. What `place` and `derived_path` give stays below."""

_BUCKETS = frozenset(Bucket)
_PEOPLE = "resources/people"
_TOPICAL = frozenset({MemoryType.SEMANTIC, MemoryType.PROCEDURAL, MemoryType.PRECEDENT})
# What Windows refuses in a name, and "#", which would end the path in an href.
_ILLEGAL = frozenset('<>:"|?*\\#')
_archived_re = re.compile(r"archive/([0-9]{4,})/(.+)", re.DOTALL)
# What some file system reads as ".git" is refused by git itself, on every system.
_git_alias_re = re.compile(r"\.git|git~[0-9]+", re.IGNORECASE)


class PathRule(StrEnum):
    """What can be wrong with a path; the first three make it no memory path at all."""

    BUCKET = "path-bucket"
    EXTENSION = "path-extension"
    SEGMENT = "path-segment"
    GENERATED = "path-generated"
    ARCHIVE = "path-archive"
    CHARACTER = "path-character"
    ENDING = "path-ending"
    DEVICE = "path-device"
    GIT = "path-git"
    LENGTH = "path-length"


class PathFault(NamedTuple):
    """The first rule that a path breaks."""

    rule: PathRule
    segment: str | None = None
    """The part at fault, where one part is."""

    @property
    def reason(self) -> str:
        """What is wrong and what would be right, as the end of a sentence."""
        return _REASONS[self.rule].format(segment=repr(self.segment))


_REASONS = {
    PathRule.BUCKET: "it is not inside projects/, areas/, resources/ or archive/",
    PathRule.EXTENSION: "it does not end in .html",
    PathRule.SEGMENT: "the part {segment} is not a name",
    PathRule.GENERATED: "{segment} is a name that publishing writes itself",
    PathRule.ARCHIVE: "new memories are not written into archive/; archive one to put it there",
    PathRule.CHARACTER: "the part {segment} holds a character that a file name or a link cannot "
    'hold on every system: one of < > : " | ? * \\ # or a control character',
    PathRule.ENDING: "the part {segment} ends in a dot or a space, which Windows drops",
    PathRule.DEVICE: "the part {segment} is the name of a device on Windows",
    PathRule.GIT: "the part {segment} is a name git keeps for itself",
    PathRule.LENGTH: f"it is longer than {MAX_PATH_UNITS} characters",
}


def normalize_path(path: str) -> str:
    """Return *path* with one slash between parts and none at either end; nothing else changes.

    >>> normalize_path("//areas//inbox/x.html/"), normalize_path("areas/../x.html")
    ('areas/inbox/x.html', 'areas/../x.html')
    """
    return "/".join(part for part in path.split("/") if part)


def path_key(path: str) -> str:
    """Return what two paths share when some file system takes them for one.

    >>> path_key("areas/Cafe\N{COMBINING ACUTE ACCENT}.html") == path_key("areas/CAFÉ.html")
    True
    """
    return unicodedata.normalize("NFC", path).casefold()


def bucket_of(path: str) -> Bucket | None:
    """Return the bucket that *path* is in; None outside of all four, or for a bucket itself.

    >>> bucket_of("/areas/x.html"), bucket_of("areas/"), bucket_of("Areas/x.html")
    (<Bucket.AREAS: 'areas'>, None, None)
    """
    return _bucket(normalize_path(path))


def path_fault(path: str) -> PathFault | None:
    """Return why no file at *path* is a memory; None when one may be. Judged after normalising.

    >>> path_fault("areas/x.html"), path_fault("areas/x.HTML")
    (None, PathFault(rule=<PathRule.EXTENSION: 'path-extension'>, segment=None))
    """
    return _fault(normalize_path(path))


def _bucket(normal: str) -> Bucket | None:
    first, slash, _ = normal.partition("/")
    return Bucket(first) if slash and first in _BUCKETS else None


def _fault(normal: str) -> PathFault | None:
    if _bucket(normal) is None:
        return PathFault(PathRule.BUCKET)
    if not normal.endswith(".html"):
        return PathFault(PathRule.EXTENSION)
    parts = normal.split("/")
    for part in parts:
        if part in {".", ".."}:
            return PathFault(PathRule.SEGMENT, part)
    if parts[-1] in GENERATED_NAMES:
        return PathFault(PathRule.GENERATED, parts[-1])
    return None


def writable_fault(path: str) -> PathFault | None:
    """Return why we would not write a new memory at *path*; None when we would.

    >>> for path in ("areas/aux.html", "areas/what?.html", "archive/2026/x.html"):
    ...     print(writable_fault(path).rule)
    path-device
    path-character
    path-archive
    """
    fault = path_fault(path)
    if fault is not None:
        return fault
    normal = normalize_path(path)
    if bucket_of(normal) is Bucket.ARCHIVE:
        return PathFault(PathRule.ARCHIVE)
    parts = normal.split("/")
    for part in parts:
        if part.casefold() in GENERATED_NAMES:
            return PathFault(PathRule.GENERATED, part)
        rule = _segment_rule(part)
        if rule is not None:
            return PathFault(rule, part)
    if len(normal.encode("utf-16-le")) // 2 > MAX_PATH_UNITS:
        return PathFault(PathRule.LENGTH)
    return None


def memory_path(path: str) -> MemoryPath:
    """Return *path*, normalised, as one that a memory may stand at.

    Raises:
        InvalidPath: `path_fault` finds a fault.
    """
    normal = normalize_path(path)
    _refuse(path, _fault(normal))
    return MemoryPath(normal)


def new_memory_path(path: str) -> MemoryPath:
    """Return *path*, normalised, as one that a new memory may be written at.

    Raises:
        InvalidPath: `writable_fault` finds a fault.
    """
    _refuse(path, writable_fault(path))
    return MemoryPath(normalize_path(path))


def place(
    memory_type: MemoryType,
    *,
    workspace: str | None = None,
    entities: Iterable[str] = (),
    tags: Iterable[str] = (),
) -> str:
    """Return the directory for a memory that names no path; the first rule that fits decides.

    Blank workspaces and tags count as none.

    >>> place(MemoryType.SEMANTIC, workspace="Barn", entities=["person:Ada"])
    'resources/people'
    >>> place(MemoryType.PROCEDURAL, tags=["", "Owl care"]), place(MemoryType.TASK)
    ('resources/owl-care', 'areas/inbox/tasks')
    """
    project = None if workspace is None or is_blank(workspace) else slugify(workspace)
    if memory_type is MemoryType.ARC:
        return "areas/arcs"
    if memory_type is MemoryType.TASK:
        # Decided before people and topics: a task belongs with the work it is part of.
        return f"projects/{project}/tasks" if project else "areas/inbox/tasks"
    if memory_type is MemoryType.SEMANTIC and any(map(is_person, entities)):
        return _PEOPLE
    if project:
        return f"projects/{project}"
    if memory_type in _TOPICAL:
        topic = next((tag for tag in tags if not is_blank(tag)), None)
        if topic is not None:
            return f"resources/{slugify(topic)}"
    return "areas/inbox"


def directory_with_room(directory: str, *, at: datetime, entries: Callable[[str], int]) -> str:
    """Return *directory*, or the first subfolder for the month of *at* that is not full.

    *entries* says how many entries a directory has, 0 for one that does not exist. People stay
    together whatever their number: names are looked up there.

    >>> from datetime import datetime, timezone
    >>> count = {"areas/inbox": 500, "areas/inbox/2026-08": 500}
    >>> at = datetime(2026, 8, 2, tzinfo=timezone.utc)
    >>> directory_with_room("areas/inbox", at=at, entries=lambda d: count.get(d, 0))
    'areas/inbox/2026-08-2'
    """
    if directory == _PEOPLE:
        return directory
    candidate, ordinal = directory, 1
    while entries(candidate) >= DIRECTORY_ENTRIES:
        month = stamp(at)[:7]
        candidate = f"{directory}/{with_ordinal(month, ordinal)}"
        ordinal += 1
    return candidate


def derived_path(
    directory: str, title: str, memory_type: MemoryType, *, at: datetime, ordinal: int = 1
) -> MemoryPath:
    """Return the path in *directory* for a memory called *title*, written at *at*.

    *ordinal* counts the tries: 2 and up give other names for when earlier ones are taken.

    >>> from datetime import datetime, timezone
    >>> at = datetime(2026, 7, 8, tzinfo=timezone.utc)
    >>> derived_path("areas/inbox", "Owl boxes", MemoryType.EPISODIC, at=at, ordinal=2)
    'areas/inbox/20260708-owl-boxes-2.html'
    """
    slug = with_ordinal(_file_slug(title), ordinal)
    dated_at = at if memory_type is MemoryType.EPISODIC else None
    return memory_path(f"{directory}/{filename(slug, dated_at=dated_at)}")


def archive_path(path: str, year: int) -> MemoryPath:
    """Return where *path* goes when it is archived in *year*; archiving twice nests.

    Raises:
        InvalidPath: No memory stands at such a path.
        ValueError: *year* is negative.

    >>> archive_path("/areas/x.html", 2026), archive_path("archive/2025/areas/x.html", 2026)
    ('archive/2026/areas/x.html', 'archive/2026/archive/2025/areas/x.html')
    """
    if year < 0:
        raise ValueError(f"no memory is archived in the year {year}")
    return memory_path(f"archive/{year:04d}/{normalize_path(path)}")


def original_path(path: str) -> str | None:
    """Return where an archived *path* stood before, one layer of archiving undone; else None.

    >>> original_path("archive/2026/areas/x.html"), original_path("areas/x.html")
    ('areas/x.html', None)
    """
    match = _archived_re.fullmatch(normalize_path(path))
    return match[2] if match else None


def archive_year(path: str) -> int | None:
    """Return the year that *path* was archived in; None when it is not an archived one.

    >>> archive_year("archive/2026/areas/x.html"), archive_year("archive/x.html")
    (2026, None)
    """
    match = _archived_re.fullmatch(normalize_path(path))
    return int(match[1]) if match else None


def workspace_of(path: str) -> str | None:
    """Return the project folder that *path* is in, None outside of any.

    >>> workspace_of("projects/barn/tasks/x.html"), workspace_of("projects/x.html")
    ('barn', None)
    """
    parts = normalize_path(path).split("/")
    return parts[1] if parts[0] == Bucket.PROJECTS and len(parts) > 2 else None


def _file_slug(title: str) -> str:
    slug = slugify(title)
    # A memory called "Index" must not take the name of a listing.
    return f"{slug}-1" if f"{slug}.html" in GENERATED_NAMES else slug


def _segment_rule(part: str) -> PathRule | None:
    if any(char in _ILLEGAL or _is_control(char) for char in part):
        return PathRule.CHARACTER
    if part[-1] in ". ":
        return PathRule.ENDING
    if is_device_name(part):
        return PathRule.DEVICE
    if _git_alias_re.fullmatch(part):
        return PathRule.GIT
    return None


def _is_control(char: str) -> bool:
    # Surrogates are bytes that were no UTF-8; git would take them and Windows could not.
    return unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}


def _refuse(path: str, fault: PathFault | None) -> None:
    if fault is not None:
        raise InvalidPath(path, fault.rule, fault.reason)
