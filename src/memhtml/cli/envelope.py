"""What a call answers: `Success` or `Failure`, and the one map from an exception to a failure.

A machine reads ``{apiVersion, type, data}`` or ``{apiVersion, error, code, suggestions}``; types
and codes are only ever added, so callers branch on them and never on the words of ``error``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.cli.commands import MODULES
from memhtml.model.errors import InvalidMemory, MemhtmlError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from memhtml.cli.screen import Screen

__all__ = [
    "API_VERSION",
    "ERROR_CODES",
    "RESPONSE_TYPES",
    "Failure",
    "Json",
    "Success",
    "failure_of",
]

API_VERSION = "1"

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

RESPONSE_TYPES: Mapping[str, str] = {
    "repo.init": "what init made and where",
    "memory.written": "where the memory is, and whether this call made it",
    "memory.detail": "one memory, whole",
    "memory.opened": "the page in the browser, and the memories on it",
    "batch.applied": "what became of each operation, and the one commit",
    "task.written": "where the task is",
    "task.updated": "where a task stands, and where it went",
    "trace.report": "what was read of sessions with agents",
    "trace.sessions": "sessions in which something was said",
    "trace.links": "which sessions touched which memories, and how",
    "doctor.report": "what is wrong with the store, and what was mended",
    "eval.discrimination": "whether memories are found above their near-twins, and hard questions",
    "eval.answers": "which questions of the store are not answered",
    "publish.report": "the pages that were written and removed",
    "import.report": "what became of each thing that a source holds, and the one commit",
    "export.report": "what was written and where, and what was left out",
    "memory.corrected": "where the new memory is, and where the old one went",
    "memory.edited": "the memory, and the commit unless nothing differed",
    "memory.archived": "where what was archived went",
    "memory.archive_preview": "what would be archived",
    "memory.unarchived": "where the memory is again",
    "memory.linked": "the link, and the commit unless it was there already",
    "memory.history": "every version of one memory, newest first",
    "memory.blame": "each sentence of one memory, and the version that first said it",
    "store.log": "what happened to memories, commit by commit",
    "store.diff": "what was learned, corrected, contradicted and forgotten between two states",
    "memory.hits": "ranked memories, with snippets and what the answer rests on",
    "recall.pack": "quotes within a budget, and what else was found",
    "memory.similar": "the memories most like one",
    "memory.resolved": "where a path leads today",
    "memory.neighbors": "the memories near one by its links",
    "memory.route": "the fewest links that join two memories",
    "memory.list": "a page of memories, by path",
    "memory.reinforced": "for which memories a signal counted",
    "entity.activity": "what memories are about, the latest activity first",
    "tag.list": "the tags, the most used first",
    "task.list": "a page of tasks, with what blocks each",
    "model.list": "the models that can be added, and those that have been",
    "model.preview": "what would be fetched, and under which licence",
    "model.added": "the model in the cache folder",
    "model.removed": "whether there was such a model",
    "model.verified": "what is wrong with the files of a model",
    "state.export": "the committed copy of usage",
    "state.import": "for how many memories usage changed",
    "index.report": "what a pass over the index did, or what the index holds",
    "status.health": "the state of the store and its index",
    "store.synced": "how the store stood to its remote, and what was done",
    "sleep.report": "what a run of sleep did, phase by phase",
    "sleep.review": "what a run did, why, and what memories said before and after",
    "sleep.merge": "what a merge of a run did",
    "sleep.dropped": "the run that was thrown away",
    "sleep.undone": "the commit that takes a run back",
    "sleep.runs": "the runs that wait, and those that were merged",
    "sleep.plan": "what a run would have to look at",
    "merge.result": "what a merge of one file could not decide",
    "check.report": "every finding in the files that were checked",
    "check.codes": "every code that a finding may have",
    "serve.exit": "the server ended",
    "cli.manifest": "the whole contract of this command line",
    "cli.brief": "how each command is called and what for",
    "cli.help": "the contract of one command",
    "cli.schemas": "JSON Schemas of the documents",
    "detect.result": "the language that a text would be stamped with",
    "cli.completion": "a completion script for a shell",
    "cli.words": "the words of a store that begin so",
    "cli.version": "the version",
}
"""Every ``type`` a success may have."""

ERROR_CODES: Mapping[str, str] = {
    "ERR_UNKNOWN_COMMAND": "there is no such command",
    "ERR_MISSING_ARGUMENT": "something required was not given",
    "ERR_INVALID_FLAG": "a flag is unknown, or its value cannot be used",
    "ERR_UNEXPECTED_ARGUMENT": "more was given than the command takes",
    "ERR_REPO_REQUIRED": "no store was named and the environment forbids a default one",
    "ERR_NOT_A_STORE": "the root is not a memhtml store; nothing was touched",
    "ERR_PATH_NOT_FOUND": "nothing stands at that path",
    "ERR_INVALID_MEMORY": "the memory breaks a rule of the format; nothing was written",
    "ERR_DUPLICATE_CONTENT": "another memory says already what this one would say",
    "ERR_WRITE_CONFLICT": "something else stands where the memory should go",
    "ERR_SECRET": "the text looks like it holds a credential; nothing was written",
    "ERR_DIRTY_TREE": "uncommitted changes stand where a clean tree is needed",
    "ERR_BUSY": "another process holds the store; nothing was changed and a retry is safe",
    "ERR_INDEX_STALE": "the index cannot answer for the current tree",
    "ERR_EMBED_MODEL_MISMATCH": "the index has vectors of another model than the configured one",
    "ERR_MODEL_UNAVAILABLE": "a model cannot be fetched, loaded or reached",
    "ERR_BUDGET_SPENT": "what a run may spend on a model is used up",
    "ERR_STORAGE": "a file or database operation failed",
    "ERR_GIT": "a git command failed",
    "ERR_REMOTE": "another repository cannot be reached, or refuses",
    "ERR_RUN_NOT_FOUND": "there is no sleep run of that name",
    "ERR_RUN_REFUSED": "a sleep run cannot be taken as it stands; nothing was changed",
    "ERR_UNKNOWN": "a fault of memhtml itself; the traceback is on stderr",
}
"""Every ``code`` a failure may have."""

_GENERAL_ADVICE: Mapping[str, tuple[str, ...]] = {
    "ERR_GIT": ("see what git says: git status, and its hooks and signing program",),
    "ERR_STORAGE": ("memhtml status",),
    "ERR_BUSY": ("run the same command again",),
    "ERR_PATH_NOT_FOUND": ("memhtml list", "or search for a few words of it"),
    "ERR_INDEX_STALE": ("memhtml index rebuild",),
}
"""What to try where the error itself has no better idea."""


class Success(NamedTuple):
    """An answer. *exit_status* is not 0 where the answer is bad news, such as violations."""

    type: str
    data: dict[str, Json]
    text: Callable[[Screen], str]
    """Lays the same answer out for people, lines ended; called only when people read it."""
    exit_status: int = 0
    form: Literal["text", "json"] | None = None
    """What goes out where neither ``--json`` nor ``--text`` is said; None: whatever fits stdout.

    A script or a SARIF log is text in a pipe too.
    """
    again: Callable[[], Success] | None = None
    """Waits until there is another answer, and returns it; None where this is the only one."""

    def envelope(self) -> dict[str, Json]:
        """Return the document a machine reads."""
        return {"apiVersion": API_VERSION, "type": self.type, "data": self.data}


class Failure(NamedTuple):
    """A refusal or an accident, with what to try next."""

    error: str
    code: str
    suggestions: tuple[str, ...]
    exit_status: int
    findings: tuple[str, ...] = ()
    """Where a memory was refused: each finding in a line, for people."""

    def envelope(self) -> dict[str, Json]:
        """Return the document a machine reads."""
        return {
            "apiVersion": API_VERSION,
            "error": self.error,
            "code": self.code,
            "suggestions": list(self.suggestions),
        }


def failure_of(error: BaseException) -> Failure:
    """Return the failure that *error* is answered with. Whatever is not ours is ours to mend."""
    if isinstance(error, MemhtmlError):
        return Failure(
            error.message,
            error.code,
            _suggestions(error),
            error.exit_status,
            _findings(error),
        )
    if isinstance(error, OSError):
        what = error.strerror or str(error)
        where = f": {error.filename!r}" if error.filename else ""
        return Failure(what + where, "ERR_STORAGE", _GENERAL_ADVICE["ERR_STORAGE"], 1)
    return Failure(
        f"memhtml failed: {type(error).__name__}: {error}",
        "ERR_UNKNOWN",
        ("report it with the traceback that is on stderr",),
        1,
    )


def _findings(error: MemhtmlError) -> tuple[str, ...]:
    if not isinstance(error, InvalidMemory):
        return ()
    # Without the place: it is one in a file that was never made.
    return tuple(f"{finding.code}: {finding.message}" for finding in error.diagnostics)


def _suggestions(error: MemhtmlError) -> tuple[str, ...]:
    """Return what to try, each once, and no command that this version does not have."""
    general = _GENERAL_ADVICE.get(error.code, ())
    if isinstance(error, InvalidMemory) and error.diagnostics:
        general = ("memhtml check --list-codes",)
    known = [text for text in dict.fromkeys(error.suggestions) if _can_be_run(text)]
    return tuple(known) or general


def _can_be_run(suggestion: str) -> bool:
    words = suggestion.split()
    if words[:1] != ["memhtml"]:
        return True
    return " ".join(words[1:2]) in MODULES or " ".join(words[1:3]) in MODULES
