"""``edit``, ``new`` and ``open``: a memory in the person's own editor, and in their browser."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store
from memhtml.model.errors import InvalidMemory, MemhtmlError, SecretFound

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen
    from memhtml.corpus import Corpus
    from memhtml.model.changes import Edited

__all__ = ["COMMANDS", "run"]

_LATE_ERRORS = ("ERR_BUSY", "ERR_GIT", "ERR_STORAGE")

COMMANDS = (
    Command(
        name="edit",
        summary="Open a memory in your editor; check and commit what you save.",
        description=(
            "The editor is VISUAL, else EDITOR. What you save is checked as a memory: each fault "
            "is shown with its line and column, and you may go on editing. Nothing you typed is "
            "lost: where it cannot be written it is kept in a file, and --file takes it up again. "
            "A memory that changed meanwhile is a conflict. What is no longer true is better "
            "corrected (memhtml correct), which keeps the old one at hand."
        ),
        arguments=(Argument(name="path", noun=Noun.MEMORY, summary="the memory"),),
        flags=(
            Flag(
                name="file",
                noun=Noun.FILE,
                metavar="file",
                summary="take this file for the edited text, and open no editor",
            ),
            Flag(
                name="expect",
                metavar="sha",
                summary="with --file: the sha of the version it was made from",
            ),
            Flag(name="reason", metavar="text", summary="why; kept with the commit"),
            Flag(
                name="allow-secret",
                kind=Kind.BOOLEAN,
                summary="write text that looks like a credential all the same",
            ),
        ),
        response_types=("memory.edited",),
        errors=(
            "ERR_NOT_A_STORE",
            "ERR_PATH_NOT_FOUND",
            "ERR_INVALID_MEMORY",
            "ERR_DUPLICATE_CONTENT",
            "ERR_SECRET",
            "ERR_DIRTY_TREE",
            "ERR_WRITE_CONFLICT",
            *_LATE_ERRORS,
        ),
        examples=("memhtml edit areas/inbox/gate-hours.html",),
    ),
)


def run(call: Call) -> Success:
    """Edit a memory."""
    return _edit(call)


def _edit(call: Call) -> Success:
    source = call.optional_text("file")
    if call.values["expect"] is not None and source is None:
        raise call.refuse("expect", "it goes with --file; an editor is given the version there is")
    with open_store(call) as corpus:
        if source is not None:
            done = _apply(call, corpus, _contents(call, source), call.optional_text("expect"))
        else:
            done = _in_editor(call, corpus)

    def text(screen: Screen) -> str:
        from memhtml.cli.screen import printable  # noqa: PLC0415 - only for people

        path = screen.paint(printable(done.path), "bold")
        if done.commit is None:
            return f"nothing changed in {path}\n"
        commit = screen.paint(f"commit {done.commit[:10]}", "dim")
        return f"{screen.paint('edited', 'green')} {path}\n{commit}\n"

    return Success(
        "memory.edited",
        {"path": done.path, "commitSha": done.commit, "contentHash": done.content_hash},
        text,
    )


def _contents(call: Call, name: str) -> bytes:
    try:
        with open(os.path.join(call.world.cwd, name), "rb") as file:
            return file.read()
    except OSError as error:
        raise call.refuse("file", f"{name!r} cannot be read: {error.strerror}") from None


def _apply(call: Call, corpus: Corpus, data: bytes, expect: str | None) -> Edited:
    return corpus.edit(
        call.text("path"),
        data,
        expect=expect,
        reason=call.optional_text("reason"),
        allow_secret=call.is_on("allow-secret"),
    )


def _in_editor(call: Call, corpus: Corpus) -> Edited:
    """Let the person edit until what is saved can be written, or they give up.

    Raises:
        MemhtmlError: It could not be written; a hint says where the text is kept.
    """
    from memhtml.cli.editor import contents, discard, draft_file, edit  # noqa: PLC0415 - only here
    from memhtml.model.shell import quoted  # noqa: PLC0415 - as above

    memory = corpus.read(call.text("path"))
    committed = _committed(corpus, memory.path)
    draft = draft_file(os.path.basename(memory.path), committed)
    sha = corpus.sha_of(committed)
    while True:
        try:
            data = edit(draft, call.world)
            done = _apply(call, corpus, data, sha)
        except MemhtmlError as error:
            if _is_same(draft, committed):
                discard(draft)
                raise
            mends = isinstance(error, (InvalidMemory, SecretFound))
            if mends and _goes_on(call, error, memory.path, contents(draft)):
                continue
            kept = quoted(draft)
            error.suggestions = (
                f"memhtml edit {quoted(memory.path)} --file {kept}",
                *((f"memhtml check {kept}",) if mends else ()),
                *error.suggestions,
            )
            raise
        discard(draft)
        return done


def _is_same(draft: str, committed: bytes) -> bool:
    """Whether nothing was typed that could be lost."""
    from memhtml.cli.editor import contents  # noqa: PLC0415 - loaded by now

    try:
        return contents(draft) == committed
    except OSError:
        return True


def _committed(corpus: Corpus, path: str) -> bytes:
    """Return what HEAD has at *path*, which the disk must have too.

    Raises:
        NotCommitted: No commit has it.
        DirtyTree: It was edited by hand since.
    """
    from memhtml.model.errors import DirtyTree, NotCommitted  # noqa: PLC0415 - only here
    from memhtml.model.shell import quoted  # noqa: PLC0415 - as above

    data = corpus.read_committed(path)
    if data is None:
        raise NotCommitted(path)
    if any(change.path == path for change in corpus.worktree_changes()):
        error = DirtyTree([path])
        error.suggestions = (f"git commit -m 'Edit by hand' -- {quoted(path)}",)
        raise error
    return data


def _goes_on(call: Call, error: MemhtmlError, path: str, data: bytes) -> bool:
    """Show what is wrong with *data*, and ask whether to go on editing."""
    from memhtml.cli.editor import asked, is_asked  # noqa: PLC0415 - only here

    world = call.world
    if not is_asked(world):
        return False
    world.stdout.write(_faults(call, error, path, data))
    try:
        answer = asked("Edit it again? [Y/n] ", world)
    except KeyboardInterrupt:
        # A no like any other: where the text is kept is told with the error.
        world.stdout.write("\n")
        return False
    return answer is not None and answer.lower() in {"", "y", "yes"}


def _faults(call: Call, error: MemhtmlError, path: str, data: bytes) -> str:
    """Return the findings of the checker with their lines, or the message of another refusal."""
    from memhtml.cli.screen import Screen, flowing  # noqa: PLC0415 - only here
    from memhtml.cli.views.findings import faults_page  # noqa: PLC0415 - as above

    world = call.world
    screen = Screen(world.columns, world.has_colour, world.now())
    if isinstance(error, InvalidMemory) and error.diagnostics:
        return faults_page(path, data, screen)
    return "\n".join(flowing(error.message, screen)) + "\n"
