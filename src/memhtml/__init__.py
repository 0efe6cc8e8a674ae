"""Long-term memory for AI agents and people, as a git repository of HTML files.

What stands in `__all__` is what users may rely on. Names are loaded when they are first used, so
importing the package costs nothing that a program does not use.

>>> import memhtml
>>> document = memhtml.parse(b"<title>Dough</title><article><p><mark>It rises twice.</mark></p>")
>>> document.claim
'It rises twice.'
"""

from __future__ import annotations

# Type checkers know the name. Importing `typing` for it would double the cost of `--version`.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from memhtml import aio
    from memhtml.corpus import Corpus
    from memhtml.format.edit import (
        add_link,
        add_meta,
        apply_edits,
        read_links,
        read_meta,
        remove_link,
        remove_meta,
        set_meta,
    )
    from memhtml.format.fences import LANG_TOKEN
    from memhtml.format.language_names import DETECT_MAX_CHARS
    from memhtml.format.metas import META_ORDER
    from memhtml.format.parse import check_document, check_memory, parse
    from memhtml.format.render import render_memory, render_template
    from memhtml.format.serialize import serialize
    from memhtml.format.text import canonical_text, content_hash, gist
    from memhtml.model.changes import (
        Archived,
        ArchiveRequest,
        Batch,
        Corrected,
        Correction,
        Linked,
        LinkRequest,
        OpResult,
        Place,
        TaskStatusRequest,
        TaskUpdated,
        Unarchived,
    )
    from memhtml.model.diagnostics import Diagnostic, Severity, Span
    from memhtml.model.document import Citation, Document, Facet, Head, Link
    from memhtml.model.errors import (
        Busy,
        DirtyTree,
        DuplicateContent,
        EmbedModelMismatch,
        GitFailure,
        IndexStale,
        InvalidFlag,
        InvalidMemory,
        InvalidPath,
        InvalidReference,
        MemhtmlError,
        MemoriesMissing,
        ModelUnavailable,
        NotAStore,
        NotCommitted,
        PathNotFound,
        RemoteFailure,
        RepositoryState,
        SecretFound,
        StorageFailure,
        UnfinishedCommit,
        UsageError,
        WriteConflict,
    )
    from memhtml.model.history import Version
    from memhtml.model.memory import Checked, Draft, Memory, Written
    from memhtml.model.vocabulary import MemoryType, Rel, Status, TaskStatus
    from memhtml.search.hits import Hit, Hits, NoMatch, NoMatchReason
    from memhtml.search.lists import FileList, ListedMemory, ListedTask, TaskList
    from memhtml.search.recall import Pack, Quote, Unit
    from memhtml.search.scope import Scope, make_scope
    from memhtml.store.batch import BatchOptions

    __version__: str
    init = Corpus.init
    open = Corpus.open  # noqa: A001 - read as memhtml.open

__all__ = [
    "DETECT_MAX_CHARS",
    "LANG_TOKEN",
    "META_ORDER",
    "ArchiveRequest",
    "Archived",
    "Batch",
    "BatchOptions",
    "Busy",
    "Checked",
    "Citation",
    "Corpus",
    "Corrected",
    "Correction",
    "Diagnostic",
    "DirtyTree",
    "Document",
    "Draft",
    "DuplicateContent",
    "EmbedModelMismatch",
    "Facet",
    "FileList",
    "GitFailure",
    "Head",
    "Hit",
    "Hits",
    "IndexStale",
    "InvalidFlag",
    "InvalidMemory",
    "InvalidPath",
    "InvalidReference",
    "Link",
    "LinkRequest",
    "Linked",
    "ListedMemory",
    "ListedTask",
    "MemhtmlError",
    "MemoriesMissing",
    "Memory",
    "MemoryType",
    "ModelUnavailable",
    "NoMatch",
    "NoMatchReason",
    "NotAStore",
    "NotCommitted",
    "OpResult",
    "Pack",
    "PathNotFound",
    "Place",
    "Quote",
    "Rel",
    "RemoteFailure",
    "RepositoryState",
    "Scope",
    "SecretFound",
    "Severity",
    "Span",
    "Status",
    "StorageFailure",
    "TaskList",
    "TaskStatus",
    "TaskStatusRequest",
    "TaskUpdated",
    "Unarchived",
    "UnfinishedCommit",
    "Unit",
    "UsageError",
    "Version",
    "WriteConflict",
    "Written",
    "__version__",
    "add_link",
    "add_meta",
    "aio",
    "apply_edits",
    "canonical_text",
    "check_document",
    "check_memory",
    "content_hash",
    "gist",
    "init",
    "make_scope",
    "open",
    "parse",
    "read_links",
    "read_meta",
    "remove_link",
    "remove_meta",
    "render_memory",
    "render_template",
    "serialize",
    "set_meta",
]

_HOMES = {
    "corpus": ("Corpus",),
    "format.edit": (
        "add_link",
        "add_meta",
        "apply_edits",
        "read_links",
        "read_meta",
        "remove_link",
        "remove_meta",
        "set_meta",
    ),
    "format.fences": ("LANG_TOKEN",),
    "format.language_names": ("DETECT_MAX_CHARS",),
    "format.metas": ("META_ORDER",),
    "format.parse": ("check_document", "check_memory", "parse"),
    "format.render": ("render_memory", "render_template"),
    "format.serialize": ("serialize",),
    "format.text": ("canonical_text", "content_hash", "gist"),
    "model.changes": (
        "ArchiveRequest",
        "Archived",
        "Batch",
        "Corrected",
        "Correction",
        "LinkRequest",
        "Linked",
        "OpResult",
        "Place",
        "TaskStatusRequest",
        "TaskUpdated",
        "Unarchived",
    ),
    "model.diagnostics": ("Diagnostic", "Severity", "Span"),
    "model.document": ("Citation", "Document", "Facet", "Head", "Link"),
    "model.errors": (
        "Busy",
        "DirtyTree",
        "DuplicateContent",
        "EmbedModelMismatch",
        "GitFailure",
        "IndexStale",
        "InvalidFlag",
        "InvalidMemory",
        "InvalidPath",
        "InvalidReference",
        "MemhtmlError",
        "MemoriesMissing",
        "ModelUnavailable",
        "NotAStore",
        "NotCommitted",
        "PathNotFound",
        "RemoteFailure",
        "RepositoryState",
        "SecretFound",
        "StorageFailure",
        "UnfinishedCommit",
        "UsageError",
        "WriteConflict",
    ),
    "model.history": ("Version",),
    "model.memory": ("Checked", "Draft", "Memory", "Written"),
    "model.vocabulary": ("MemoryType", "Rel", "Status", "TaskStatus"),
    "search.hits": ("Hit", "Hits", "NoMatch", "NoMatchReason"),
    "search.lists": ("FileList", "ListedMemory", "ListedTask", "TaskList"),
    "search.recall": ("Pack", "Quote", "Unit"),
    "search.scope": ("Scope", "make_scope"),
    "store.batch": ("BatchOptions",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - one of the names above, typed there
    if name in _HOME_OF:
        from importlib import import_module  # noqa: PLC0415 - only when a name is first used

        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    elif name in {"open", "init"}:
        # The two ways to a corpus; methods of a class that a parser of files never needs.
        value = getattr(__getattr__("Corpus"), name)
    elif name == "aio":
        from importlib import import_module  # noqa: PLC0415 - asyncio costs what it costs

        value = import_module(f"{__name__}.aio")
    elif name == "__version__":
        from memhtml.model.version import VERSION as value  # noqa: N811, PLC0415 - a literal
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
