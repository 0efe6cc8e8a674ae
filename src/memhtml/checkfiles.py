"""Memory files on disk: find them, check them, mend what cannot lose meaning.

`mend` is pure, and it proves itself: a repair after which the article says anything else, by
canonical text and content hash, is not made.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.checks import diagnostic
from memhtml.format.edit import set_meta
from memhtml.format.parse import FILE_CAP, parse
from memhtml.model.diagnostics import Span
from memhtml.model.zoned import utc_instant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from memhtml.model.diagnostics import Diagnostic
    from memhtml.model.document import Document

__all__ = [
    "FileReport",
    "Fix",
    "Mended",
    "Problem",
    "Target",
    "check_bytes",
    "check_file",
    "find_files",
    "mend",
    "mend_file",
]

STDIN = "-"

# One byte more than the format admits: the checker sees that a file is too large, and we need not
# read all of it.
_MOST_BYTES = FILE_CAP + 1

_DATETIME_CODES = frozenset({"meta-datetime-invalid", "time-datetime-invalid"})


class Target(NamedTuple):
    """A file to check."""

    label: str
    """Its path as a person would type it from the current folder, or ``<stdin>``."""
    path: str | None
    """Where it is; None for standard input."""


class Problem(NamedTuple):
    """A path that was not checked, and why."""

    label: str
    reason: str


class Fix(NamedTuple):
    """One repair."""

    code: str
    message: str


class Mended(NamedTuple):
    """A file after every repair that could be made."""

    data: bytes
    fixes: tuple[Fix, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """What was found in one file, and what can be mended in it."""

    target: Target
    data: bytes
    """What *diagnostics* are about: the file as it was, or as it is once mended."""
    diagnostics: tuple[Diagnostic, ...]
    original: bytes
    mended: bytes
    fixes: tuple[Fix, ...]


def find_files(
    paths: Sequence[str], cwd: str, env: Mapping[str, str]
) -> Iterator[Target | Problem]:
    """Yield what there is to check under *paths*, each file once. *env* is what git is run with.

    A path that names a file is taken as it is. A folder is walked: its ``*.html`` files, without
    what git ignores when it lies in a repository, and without hidden folders, symbolic links
    (reported), ``index.html`` listings, and of a store the pages of `publish` and ``README.html``.
    """
    seen: set[str] = set()
    for path in paths:
        if path == STDIN:
            found: Iterator[Target | Problem] = iter((Target("<stdin>", None),))
        else:
            found = _find(os.path.normpath(path), cwd, env)
        for item in found:
            if item.label not in seen:
                seen.add(item.label)
                yield item


def check_file(target: Target) -> FileReport:
    """Read a file and check it.

    Raises:
        OSError: it cannot be read.
    """
    assert target.path is not None  # noqa: S101 - standard input has no file
    data = _read(target.path)
    if len(data) > FILE_CAP:
        finding = diagnostic(
            "file-too-large",
            Span(0, 0, 1, 1, 1, 1),
            size=os.stat(target.path).st_size,
            limit=FILE_CAP,
        )
        return _report(target, b"", (finding,), Mended(b"", ()))
    return check_bytes(target, data)


def check_bytes(target: Target, data: bytes) -> FileReport:
    """Check the bytes of one file, and see what `mend` would do with them."""
    document = parse(data)
    return _report(target, data, document.diagnostics, _mend(data, document))


def mend_file(report: FileReport) -> FileReport:
    """Write the repairs of *report* to its file, and return what is left to say about it.

    Raises:
        OSError: it cannot be written, or holds something else by now. Then it is as it was.
    """
    if report.target.path is None or not report.fixes:
        return report
    _replace(report.target.path, expected=report.original, data=report.mended)
    left = parse(report.mended).diagnostics
    return replace(report, data=report.mended, diagnostics=left)


def mend(data: bytes) -> Mended:
    """Return *data* with every repair that cannot lose meaning.

    Datetimes that name one instant in another spelling become the UTC form; a stated content hash
    that is not the article's is stated anew; a missing newline at the end is added, of the kind
    that the file uses. The rest, and the article's words, stay as they are. Mending twice is
    mending once.
    """
    return _mend(data, parse(data))


def _report(
    target: Target, data: bytes, diagnostics: tuple[Diagnostic, ...], mended: Mended
) -> FileReport:
    return FileReport(
        target=target,
        data=data,
        diagnostics=diagnostics,
        original=data,
        mended=mended.data,
        fixes=mended.fixes,
    )


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_MOST_BYTES)


def _find(path: str, cwd: str, env: Mapping[str, str]) -> Iterator[Target | Problem]:
    label = path.replace(os.sep, "/")
    full = os.path.join(cwd, path)
    if not os.path.isdir(full):
        # Reading it tells best what is wrong with it, if anything is.
        yield Target(label, full)
        return
    from memhtml.store.listings import is_generated  # noqa: PLC0415 - only a walk needs it

    base = "" if label == "." else label.rstrip("/") + "/"
    known: dict[str, str | None] = {}
    for name in _walk(full, env):
        last = name.rpartition("/")[2]
        if not name.endswith(".html"):
            continue
        if any(part.startswith(".") for part in name.split("/")):
            continue
        place = os.path.join(full, name)
        in_store = _path_in_store(place, known)
        if last == "index.html" or in_store == "README.html" or is_generated(in_store):
            continue
        try:
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            continue  # known to git, gone from the folder
        except OSError as error:
            yield Problem(base + name, error.strerror or str(error))
            continue
        if stat.S_ISREG(mode):
            yield Target(base + name, place)
        elif stat.S_ISLNK(mode):
            yield Problem(base + name, "a symbolic link is not followed; name it to check it")
        else:
            yield Problem(base + name, "not a regular file")


def _path_in_store(place: str, known: dict[str, str | None]) -> str:
    """Return *place* relative to the store it lies in, or only its name where it lies in none."""
    folder, name = os.path.split(os.path.abspath(place))
    return f"{_folder_in_store(folder, known) or ''}{name}"


def _folder_in_store(folder: str, known: dict[str, str | None]) -> str | None:
    """Return *folder* relative to its store, empty or with a slash at its end; None outside one.

    *known* has the answers so far, and learns this one.
    """
    if folder not in known:
        parent, name = os.path.split(folder)
        if os.path.isdir(os.path.join(folder, ".memhtml")):
            known[folder] = ""
        elif parent == folder or (above := _folder_in_store(parent, known)) is None:
            known[folder] = None
        else:
            known[folder] = f"{above}{name}/"
    return known[folder]


def _walk(folder: str, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the files under *folder*, sorted, relative and with ``/``; git decides which."""
    names = _git_files(folder, env)
    if names is None:
        names = _plain_files(folder)
    for name in sorted(names):
        # A repository inside the repository, or a submodule: git names it and stops there.
        inner = os.path.join(folder, name)
        if name.endswith("/") or (os.path.isdir(inner) and not os.path.islink(inner)):
            yield from (f"{name.rstrip('/')}/{deeper}" for deeper in _walk(inner, env))
        else:
            yield name


def _git_files(folder: str, env: Mapping[str, str]) -> set[str] | None:
    """Return the files that git tracks or would offer to track, or None where it has no say.

    It has none outside a repository, and none over a folder that is itself ignored: whoever
    names such a folder means it.
    """
    from memhtml.store import children  # noqa: PLC0415 - a check of single files runs nothing
    from memhtml.store.git import scrubbed  # noqa: PLC0415 - as above

    git, env = ("git", "-C", folder), scrubbed(env)
    listing = (*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    try:
        if children.run((*git, "check-ignore", "-q", "."), env=env).status != 1:
            return None
        listed = children.run(listing, env=env)
    except OSError:
        return None
    if listed.status != 0:
        return None
    return {os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}


def _plain_files(folder: str) -> set[str]:
    names: set[str] = set()
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inner = os.path.relpath(place, folder).replace(os.sep, "/")
        names.update(name if inner == "." else f"{inner}/{name}" for name in files)
    return names


def _mend(data: bytes, document: Document) -> Mended:
    if b"memhtml-" not in data:
        return Mended(data, ())  # none of ours
    fixes: list[Fix] = []
    for repair in (_mend_datetimes, _mend_hash, _mend_end):
        changed, made = repair(data, document)
        if not made:
            continue
        after = parse(changed)
        if after.text == document.text and after.content_hash == document.content_hash:
            data, document = changed, after
            fixes += made
    return Mended(data, tuple(fixes))


def _mend_datetimes(data: bytes, document: Document) -> Mended:
    fixes = []
    faults = [d for d in document.diagnostics if d.code in _DATETIME_CODES]
    for fault in sorted(faults, key=lambda d: d.span.start, reverse=True):
        value = fault.info.get("value")
        instant = utc_instant(value) if isinstance(value, str) else None
        if instant is None:
            continue
        start, end = fault.span.start, fault.span.end
        source = data[start:end]
        written = str(value).encode()
        # A value that the file spells with character references is left to its author.
        if source.count(written) == 1:
            data = data[:start] + source.replace(written, instant.encode()) + data[end:]
            fixes.append(Fix("datetime", f"{value} → {instant}"))
    return Mended(data, tuple(reversed(fixes)))


def _mend_hash(data: bytes, document: Document) -> Mended:
    stated = document.head.content_hash
    has_one_article = all(d.code != "article-count" for d in document.diagnostics)
    if stated is None or stated == document.content_hash or not has_one_article:
        return Mended(data, ())
    fix = Fix("content-hash", "the stated content hash is not the article's")
    return Mended(set_meta(data, "memhtml-content-hash", document.content_hash), (fix,))


def _mend_end(data: bytes, _: Document) -> Mended:
    if not data or data.endswith((b"\n", b"\r")):
        return Mended(data, ())
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    return Mended(data + newline, (Fix("newline", "no newline at the end"),))


def _replace(path: str, *, expected: bytes, data: bytes) -> None:
    """Put *data* in the place of a file that still holds *expected*, at once and with its mode."""
    import tempfile  # noqa: PLC0415 - only `--fix` writes

    path = os.path.realpath(path)  # a symbolic link stays one
    mode = stat.S_IMODE(os.stat(path).st_mode)
    handle, beside = tempfile.mkstemp(
        dir=os.path.dirname(path), prefix=f".{os.path.basename(path)}."
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, mode)
        if _read(path) != expected:
            # The handler below is for this too: the new file must not stay behind.
            raise OSError("the file was changed while it was being mended; run again")  # noqa: TRY301
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
