"""Git's machine formats as values. Pure and total: bytes that are not git's raise `ValueError`.

Git prints paths unquoted only with ``-z``; without it ``naïve.html`` would arrive as escaped
octal. Records are therefore separated by NUL, and a path is whatever stands between two of them,
decoded as `decode_path` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.tree import Change, ChangeKind, Delta, TreeEntry, WorktreeChange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "LOG_FORMAT",
    "CommitEntry",
    "Configuration",
    "IndexEntry",
    "LogEntry",
    "attributes",
    "changes",
    "commit_entries",
    "configuration",
    "decode_path",
    "encode_path",
    "index_entries",
    "log_entries",
    "records",
    "tree_entries",
    "worktree_changes",
]


class IndexEntry(NamedTuple):
    """One entry of git's index."""

    mode: str
    sha: str
    stage: int
    """0, or 1 to 3 for a path in an unfinished merge."""


LOG_FORMAT = "%H%x00%P%x00%an%x00%ae%x00%at%x00%B%x00"
"""What `log_entries` reads, beside the raw changes."""


class LogEntry(NamedTuple):
    """One commit of a file's log."""

    sha: str
    parents: tuple[str, ...]
    author: str
    email: str
    at: int
    """Author's time in seconds since 1970."""
    message: str
    change: Change
    """What it did to the file; of a merge, against its first parent."""


class CommitEntry(NamedTuple):
    """One commit of a log, with all that it changed."""

    sha: str
    parents: tuple[str, ...]
    author: str
    email: str
    at: int
    """Author's time in seconds since 1970."""
    message: str
    deltas: tuple[Delta, ...]


class Configuration(NamedTuple):
    """What ``git var -l`` prints: the configuration and git's own variables."""

    settings: Mapping[str, str]
    """Names in lower case save for a middle part; the last value of each wins."""
    author: str
    """``Name <mail> seconds zone``, or "" when git has none."""
    committer: str


def decode_path(raw: bytes) -> str:
    """Return a path of git's as text, keeping what is not UTF-8 as surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def encode_path(path: str) -> bytes:
    """Undo `decode_path`."""
    return path.encode("utf-8", "surrogateescape")


def records(chunks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Cut a stream of chunks into the records that NUL ends.

    >>> list(records([b"one\0tw", b"o\0"]))
    [b'one', b'two']

    Raises:
        ValueError: The stream ends inside a record.
    """
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
    if rest:
        raise ValueError(f"unfinished record {rest[:80]!r}")


def tree_entries(raw: Iterable[bytes]) -> Iterator[TreeEntry]:
    r"""Read the records of ``ls-tree -r -z``; submodules are left out.

    >>> list(tree_entries([b"100644 blob 8ab6\tareas/a.html"]))
    [TreeEntry(path='areas/a.html', sha='8ab6', mode='100644')]
    """
    for record in raw:
        fields, path = _split_once(record, b"\t")
        mode, kind, sha = _words(fields, 3)
        if kind == b"blob":
            yield TreeEntry(decode_path(path), sha.decode("ascii"), mode.decode("ascii"))


def changes(raw: Iterable[bytes]) -> Iterator[Change]:
    """Read the records of ``diff-tree -r -z --no-renames`` (or ``diff --raw``).

    >>> list(changes([b":100644 000000 8ab6 0000 D", b"areas/a.html"]))
    [Change(kind=<ChangeKind.REMOVED: 'removed'>, path='areas/a.html', sha='8ab6', mode='100644')]
    """
    fields = iter(raw)
    for header in fields:
        old_mode, mode, old_sha, sha, letter = _words(header.removeprefix(b":"), 5)
        path = decode_path(next(fields, b""))
        if letter[:1] not in b"AMTD" or not path:
            raise ValueError(f"not a raw diff: {header[:80]!r}")
        # A submodule is no file of ours: where one takes a file's place, the file is gone.
        before, after = old_mode in _FILES, mode in _FILES
        if after:
            kind = ChangeKind.MODIFIED if before else ChangeKind.ADDED
            yield Change(kind, path, sha.decode("ascii"), mode.decode("ascii"))
        elif before:
            yield Change(
                ChangeKind.REMOVED, path, old_sha.decode("ascii"), old_mode.decode("ascii")
            )


def log_entries(raw: Iterable[bytes]) -> Iterator[LogEntry]:
    """Read the records of ``log -z --raw`` of one file in `LOG_FORMAT`.

    Each commit is yielded as soon as git has told it: whoever has seen enough need not wait until
    git has searched the rest of the history. Merges that tell no change are left out.
    """
    fields = iter(raw)
    head: list[bytes] = []
    for field in fields:
        row = field.removeprefix(b"\n")
        if row.startswith(b":"):
            change = next(changes((row, next(fields, b""))), None)
            if head and change is not None:
                yield _log_entry(head, change)
            head = []
        elif row:
            head = [row, *(next(fields, b"") for _ in range(5))]


def commit_entries(raw: Iterable[bytes]) -> Iterator[CommitEntry]:
    """Read the records of ``log -z --raw -c`` in `LOG_FORMAT`, each commit as soon as it is told.

    A merge tells what is as none of its parents has it, against the first of them.
    """
    fields = iter(raw)
    head: list[bytes] = []
    deltas: list[Delta] = []
    for field in fields:
        row = field.removeprefix(b"\n")
        if row.startswith(b":"):
            deltas += _delta(row, next(fields, b""))
        elif row:
            if head:
                yield _commit_entry(head, deltas)
            head, deltas = [row, *(next(fields, b"") for _ in range(5))], []
    if head:
        yield _commit_entry(head, deltas)


def worktree_changes(raw: Iterable[bytes]) -> Iterator[WorktreeChange]:
    """Read the records of ``status --porcelain=v2 -z -uall --no-renames``.

    What counts is the file on disk against HEAD: a file staged as deleted but still there is a
    change of content, not a removal, and one staged as new and deleted since is no change at all.

    >>> list(worktree_changes([b"? areas/a.html"]))
    [WorktreeChange(kind=<ChangeKind.ADDED: 'added'>, path='areas/a.html')]
    """
    seen: dict[str, ChangeKind] = {}
    for record in raw:
        kind, path = _status_record(record)
        name = decode_path(path)
        # Removed from the index and untracked: two records, one file that differs from HEAD.
        if kind is ChangeKind.ADDED and seen.get(name) is ChangeKind.REMOVED:
            kind = ChangeKind.MODIFIED
        if kind is not None:
            seen[name] = kind
    for name, kind in seen.items():
        yield WorktreeChange(kind, name)


def index_entries(raw: Iterable[bytes]) -> dict[str, IndexEntry]:
    """Read the records of ``ls-files --stage -z``; of an unmerged path the last stage stays."""
    entries: dict[str, IndexEntry] = {}
    for record in raw:
        fields, path = _split_once(record, b"\t")
        mode, sha, stage = _words(fields, 3)
        entries[decode_path(path)] = IndexEntry(
            mode.decode("ascii"), sha.decode("ascii"), int(stage)
        )
    return entries


def attributes(raw: Iterable[bytes]) -> dict[str, dict[str, str]]:
    """Read the records of ``check-attr -z``: path, attribute and value by turns."""
    found: dict[str, dict[str, str]] = {}
    fields = iter(raw)
    for path in fields:
        name, value = next(fields, None), next(fields, None)
        if name is None or value is None:
            raise ValueError("check-attr ended inside a record")
        found.setdefault(decode_path(path), {})[name.decode()] = value.decode("utf-8", "replace")
    return found


def configuration(raw: bytes) -> Configuration:
    r"""Read ``git var -l``. Git prints lines, so a value of many lines keeps only its first.

    >>> configuration(b"core.bare=false\ncommit.gpgsign\n").settings["commit.gpgsign"]
    'true'
    """
    settings: dict[str, str] = {}
    for line in raw.decode("utf-8", "surrogateescape").split("\n"):
        name, sign, value = line.partition("=")
        settings[name] = value if sign else "true"
    # Git prints its own variables after the configuration, so nothing there can pose as them.
    return Configuration(
        settings,
        settings.get("GIT_AUTHOR_IDENT", ""),
        settings.get("GIT_COMMITTER_IDENT", ""),
    )


_FILES = frozenset({b"100644", b"100755", b"120000"})
_ABSENT = b"000000"


def _log_entry(head: list[bytes], change: Change) -> LogEntry:
    sha, parents, author, email, at, message = (field.decode("utf-8", "replace") for field in head)
    return LogEntry(sha, tuple(parents.split()), author, email, int(at), message, change)


def _commit_entry(head: list[bytes], deltas: Iterable[Delta]) -> CommitEntry:
    sha, parents, author, email, at, message = (field.decode("utf-8", "replace") for field in head)
    return CommitEntry(sha, tuple(parents.split()), author, email, int(at), message, tuple(deltas))


def _delta(header: bytes, path: bytes) -> Iterator[Delta]:
    """Read one raw row: a colon, a mode and a sha for each parent, then those of the result."""
    parents = len(header) - len(header.lstrip(b":"))
    words = header[parents:].split(b" ")
    if len(words) != 2 * parents + 3 or not path:
        raise ValueError(f"not a raw diff: {header[:80]!r}")
    modes, shas = words[: parents + 1], words[parents + 1 : -1]
    before, after = (
        sha.decode("ascii") if mode in _FILES else None
        for mode, sha in ((modes[0], shas[0]), (modes[-1], shas[-1]))
    )
    if before is not None or after is not None:
        yield Delta(decode_path(path), before, after)


def _status_record(record: bytes) -> tuple[ChangeKind | None, bytes]:
    match record[:2]:
        case b"1 ":  # 1 XY sub mH mI mW hH hI path
            found = _words(record, 9, at_most=True)
            return _disk_against_head(found[3], found[5]), found[8]
        case b"u ":  # u XY sub m1 m2 m3 mW h1 h2 h3 path; stage 2 is our side, which is HEAD
            found = _words(record, 11, at_most=True)
            return _disk_against_head(found[4], found[6]), found[10]
        case b"? ":
            path = record[2:]
            # A path that ends in "/" is another repository inside this one: not our files.
            return None if path.endswith(b"/") else ChangeKind.ADDED, path
        case b"# " | b"! ":
            return None, b""
        case _:
            raise ValueError(f"not a status record: {record[:80]!r}")


def _disk_against_head(head_mode: bytes, disk_mode: bytes) -> ChangeKind | None:
    if head_mode == _ABSENT:
        return None if disk_mode == _ABSENT else ChangeKind.ADDED
    return ChangeKind.REMOVED if disk_mode == _ABSENT else ChangeKind.MODIFIED


def _split_once(record: bytes, mark: bytes) -> tuple[bytes, bytes]:
    before, found, after = record.partition(mark)
    if not found or not after:
        raise ValueError(f"not a record of git's: {record[:80]!r}")
    return before, after


def _words(fields: bytes, count: int, *, at_most: bool = False) -> list[bytes]:
    """Split into exactly *count* words; *at_most* leaves further spaces to the last one."""
    words = fields.split(b" ", count - 1 if at_most else -1)
    if len(words) != count:
        raise ValueError(f"expected {count} fields: {fields[:80]!r}")
    return words
