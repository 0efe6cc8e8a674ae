"""Every error memhtml raises on purpose, in one tree.

Callers branch on the class or on `code`, never on wording. `exit_status` is what the command line
exits with; `suggestions` are runnable commands or short advice, most useful first. No message
carries a memory's body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.model.shell import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.model.diagnostics import Diagnostic

__all__ = [
    "BudgetSpent",
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
    "MissingArgument",
    "ModelUnavailable",
    "NotAStore",
    "NotCommitted",
    "PathNotFound",
    "RemoteFailure",
    "RepoRequired",
    "RepositoryState",
    "RunNotFound",
    "RunRefused",
    "SecretFound",
    "StorageFailure",
    "UnexpectedArgument",
    "UnfinishedCommit",
    "UnknownCommand",
    "UsageError",
    "WriteConflict",
]


class MemhtmlError(Exception):
    """Root of the tree: catch this to catch everything memhtml raises on purpose."""

    code = "ERR_UNKNOWN"
    exit_status = 1

    def __init__(self, message: str, *, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.suggestions = tuple(suggestions)


class UsageError(MemhtmlError):
    """The call itself is wrong; nothing was tried."""

    code = "ERR_INVALID_FLAG"
    exit_status = 2


class UnknownCommand(UsageError):
    """There is no such command."""

    code = "ERR_UNKNOWN_COMMAND"


class MissingArgument(UsageError):
    """Something required was not given."""

    code = "ERR_MISSING_ARGUMENT"


class InvalidFlag(UsageError):
    """A flag or value is not one we have, or its value cannot be read."""

    code = "ERR_INVALID_FLAG"


class UnexpectedArgument(UsageError):
    """More was given than the command takes."""

    code = "ERR_UNEXPECTED_ARGUMENT"


class RepoRequired(UsageError):
    """No store was named, and the environment forbids a default one."""

    code = "ERR_REPO_REQUIRED"


class NotAStore(MemhtmlError):
    """The root is not a memhtml store; nothing was touched."""

    code = "ERR_NOT_A_STORE"

    def __init__(
        self,
        root: str,
        reason: str = "it is not the top of a git repository",
        *,
        suggestions: Sequence[str] | None = None,
    ) -> None:
        if suggestions is None:
            suggestions = (f"memhtml init --repo {quoted(root)}",)
        super().__init__(f"{root!r} is not a memhtml store: {reason}", suggestions=suggestions)
        self.root = root


class PathNotFound(MemhtmlError):
    """No memory stands at that path."""

    code = "ERR_PATH_NOT_FOUND"

    def __init__(self, path: str, *, suggestions: Sequence[str] = ()) -> None:
        super().__init__(f"no memory at {path!r}", suggestions=suggestions)
        self.path = path


class NotCommitted(PathNotFound):
    """A file stands at that path on disk, and no commit has it; it was left as it is.

    Searches find it; but what changes a memory must be undone by git, which does not know it yet.
    """

    def __init__(self, path: str) -> None:
        word = quoted(path)
        MemhtmlError.__init__(
            self,
            f"the file at {path!r} is not committed, so it cannot be changed yet",
            suggestions=(f"git add {word} && git commit -m 'Add a memory' {word}",),
        )
        self.path = path


class InvalidMemory(MemhtmlError):
    """A memory has violations, so it was not written.

    The message is every violation joined by ``"; "`` (seed §5); `diagnostics` has them all.
    """

    code = "ERR_INVALID_MEMORY"

    def __init__(
        self,
        diagnostics: Sequence[Diagnostic],
        *,
        reason: str | None = None,
        suggestions: Sequence[str] = (),
    ) -> None:
        super().__init__(
            reason or "; ".join(d.message for d in diagnostics), suggestions=suggestions
        )
        self.diagnostics = tuple(diagnostics)


class InvalidPath(InvalidMemory):
    """No memory may stand at that path; nothing was written.

    *rule* is the stable name of the rule that *path* breaks, such as ``path-bucket``.
    """

    def __init__(self, path: str, rule: str, reason: str) -> None:
        super().__init__((), reason=f"cannot use the path {path!r}: {reason}")
        self.path = path
        self.rule = rule


class DuplicateContent(MemhtmlError):
    """A correction would say what another active memory says already; nothing was written."""

    code = "ERR_DUPLICATE_CONTENT"

    def __init__(self, path: str, *, correcting: str) -> None:
        super().__init__(
            f"{path!r} says already what {correcting!r} would be corrected to",
            suggestions=(
                f"memhtml read {quoted(path)}",
                f"memhtml archive {quoted(correcting)} --reason {quoted(f'superseded by {path}')}",
            ),
        )
        self.path = path
        self.correcting = correcting


class WriteConflict(MemhtmlError):
    """What stands at a path is not what the writer expected; the tree is as it was.

    *ours* is the blob the writer expected ("" for none), *theirs* the one found ("" for none).
    """

    code = "ERR_WRITE_CONFLICT"

    def __init__(
        self,
        path: str,
        *,
        ours: str = "",
        theirs: str = "",
        reason: str = "another file stands there",
        suggestions: Sequence[str] = (),
    ) -> None:
        super().__init__(f"cannot write {path!r}: {reason}", suggestions=suggestions)
        self.path = path
        self.ours = ours
        self.theirs = theirs


class InvalidReference(InvalidMemory):
    """An ``@N`` of a batch names no file; nothing was written for this operation."""

    def __init__(self, reference: str, reason: str) -> None:
        super().__init__((), reason=f"cannot follow {reference!r}: {reason}")
        self.reference = reference


class DirtyTree(MemhtmlError):
    """Uncommitted changes stand where a clean tree is needed."""

    code = "ERR_DIRTY_TREE"

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(
            "uncommitted changes: " + ", ".join(paths[:10]) + (" …" if len(paths) > 10 else ""),
            suggestions=("git status",),
        )
        self.paths = tuple(paths)


class Busy(MemhtmlError):
    """Another process holds a lock we waited for; nothing was changed and a retry is safe."""

    code = "ERR_BUSY"


class RunNotFound(MemhtmlError):
    """There is no sleep run of that name."""

    code = "ERR_RUN_NOT_FOUND"

    def __init__(self, run_id: str | None, known: Sequence[str] = ()) -> None:
        if run_id is None:
            message = "no sleep run waits"
        else:
            there = f"; there are {', '.join(known)}" if known else ", and none waits"
            message = f"there is no sleep run {run_id!r}{there}"
        super().__init__(message, suggestions=("memhtml sleep status",))
        self.run_id = run_id


class RunRefused(MemhtmlError):
    """A sleep run cannot be merged, resumed, undone or dropped as it stands; nothing was changed.

    *reason* is ``conflict``, ``gate``, ``running``, ``busy``, ``unfinished``, ``finished``,
    ``empty``, ``checked-out``, ``merged``, ``unmerged`` or ``undone``; *paths* are the files it is
    about.
    """

    code = "ERR_RUN_REFUSED"

    def __init__(
        self,
        message: str,
        *,
        reason: str,
        paths: Sequence[str] = (),
        suggestions: Sequence[str] = (),
    ) -> None:
        super().__init__(message, suggestions=suggestions)
        self.reason = reason
        self.paths = tuple(paths)


class RepositoryState(MemhtmlError):
    """The repository is in a state in which no commit can be made; nothing was changed."""

    code = "ERR_GIT"


class GitFailure(MemhtmlError):
    """A git command failed in a way we have no better word for."""

    code = "ERR_GIT"

    def __init__(
        self, command: Sequence[str], status: int, stderr: str, *, suggestions: Sequence[str] = ()
    ) -> None:
        lines = [text.strip() for text in stderr.splitlines() if text.strip()]
        # Git may follow its complaint with advice.
        line = next((text for text in lines if text.startswith(("fatal:", "error:"))), "")
        line = line or (lines[-1] if lines else "")
        super().__init__(
            f"git {' '.join(command[:3])} exited {status}" + (f": {line}" if line else ""),
            suggestions=suggestions,
        )
        self.command = tuple(command)
        self.status = status
        self.stderr = stderr


class RemoteFailure(MemhtmlError):
    """Another repository cannot be reached, or refuses; what is here is as it was."""

    code = "ERR_REMOTE"

    def __init__(self, remote: str, reason: str) -> None:
        super().__init__(
            f"cannot sync with {remote!r}: {reason}",
            suggestions=(f"git fetch {quoted(remote)}", f"git remote get-url {quoted(remote)}"),
        )
        self.remote = remote


class StorageFailure(MemhtmlError):
    """A file or database operation failed: disk full, permission, corruption."""

    code = "ERR_STORAGE"


class UnfinishedCommit(StorageFailure):
    """A commit is made, but files or git's index could not follow; the next write finishes it.

    *commit* is what was made, so nothing is lost and a retry would say everything twice.
    """

    def __init__(self, commit: str, reason: str) -> None:
        super().__init__(f"commit {commit} is made, but {reason}; the next write finishes it")
        self.commit = commit


class MemoriesMissing(StorageFailure):
    """Most memories are gone from the disk at once; the index was left as it is.

    More often a folder that is not mounted or a checkout gone wrong than somebody's wish.
    """

    def __init__(self, missing: int, known: int) -> None:
        super().__init__(
            f"{missing:,} of {known:,} memories are missing from the disk, though no commit "
            "removes them; the index still has them",
            suggestions=(
                "git status",
                "git restore .",
                "if they are to go, commit that: git commit -a",
            ),
        )
        self.missing = missing


class IndexStale(MemhtmlError):
    """The index cannot answer for the current tree and could not be brought up to date."""

    code = "ERR_INDEX_STALE"

    def __init__(self, message: str) -> None:
        super().__init__(message, suggestions=("memhtml index rebuild",))


class EmbedModelMismatch(MemhtmlError):
    """The index has vectors of another space than the configured encoder's; it has them still."""

    code = "ERR_EMBED_MODEL_MISMATCH"

    def __init__(self, indexed: str, configured: str) -> None:
        super().__init__(
            f"the index has vectors of {indexed!r}, and {configured!r} is configured",
            suggestions=("memhtml index rebuild --embed",),
        )
        self.indexed = indexed
        self.configured = configured


class ModelUnavailable(MemhtmlError):
    """A model cannot be fetched, loaded or reached; whoever asked goes on without it.

    *model* is the name it was asked for by. Search drops the arm that needed it and says so.
    """

    code = "ERR_MODEL_UNAVAILABLE"

    def __init__(self, model: str, reason: str, *, suggestions: Sequence[str] = ()) -> None:
        super().__init__(f"model {model!r} is unavailable: {reason}", suggestions=suggestions)
        self.model = model
        self.reason = reason


class BudgetSpent(ModelUnavailable):
    """The calls or tokens that a run may spend on a model are used up."""

    code = "ERR_BUDGET_SPENT"


class SecretFound(MemhtmlError):
    """A text to be written holds what looks like a credential; nothing was written.

    The message names the kind and the line of each, never the value.
    """

    code = "ERR_SECRET"

    def __init__(self, places: Sequence[tuple[str, int]]) -> None:
        super().__init__(
            "looks like a credential: "
            + "; ".join(f"{kind} on line {line}" for kind, line in places),
            suggestions=(
                "store where the credential is kept instead of the credential",
                "--allow-secret writes it all the same",
            ),
        )
        self.places = tuple(places)
