"""``history``, ``blame``, ``sync`` and the merge driver: a memory over time and between clones."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING

from memhtml.answers.casing import in_camel
from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.model.history import Synced

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_PATH_NOT_FOUND", "ERR_GIT", "ERR_STORAGE")
_PATH = Argument(
    name="path", noun=Noun.MEMORY, summary="its path in the store, now or before it moved"
)

COMMANDS = (
    Command(
        name="history",
        summary="Show every version of a memory, across archiving and corrections.",
        description=(
            "Newest first, with who committed it, the session it came from, the reason that was "
            "given, and the words that came and went. Moves are followed by what commits say and "
            "never by likeness. Edits that are not committed are not shown."
        ),
        arguments=(_PATH,),
        response_types=("memory.history",),
        errors=_ERRORS,
        examples=("memhtml history areas/inbox/gate-hours.html",),
    ),
    Command(
        name="blame",
        summary="Show which commit and session each sentence of a memory came from.",
        arguments=(_PATH,),
        response_types=("memory.blame",),
        errors=_ERRORS,
        examples=("memhtml blame areas/inbox/gate-hours.html",),
    ),
    Command(
        name="sync",
        summary="Bring this store and its remote together: fetch, merge, push.",
        description=(
            "The remote is the branch's own, else the only one, else origin. Tags, links and "
            "stamps of both sides are kept, an edit follows a memory that was archived on the "
            "other side, and published pages are made anew. Where both sides changed what a "
            "memory says, nothing is changed here and the answer names the files: exit status 1. "
            "Git's own credentials are used, and nobody is ever asked for a password."
        ),
        flags=(
            Flag(name="remote", metavar="name", summary="the remote to sync with"),
            Flag(name="no-push", kind=Kind.BOOLEAN, summary="fetch and merge, and push nothing"),
            Flag(
                name="keep-conflicts",
                kind=Kind.BOOLEAN,
                summary="leave a merge with conflicts open in the files, to be finished by hand",
            ),
            Flag(
                name="allow-unrelated",
                kind=Kind.BOOLEAN,
                summary="join a store that was made apart from this one",
            ),
        ),
        response_types=("store.synced",),
        errors=(
            "ERR_NOT_A_STORE",
            "ERR_REMOTE",
            "ERR_DIRTY_TREE",
            "ERR_WRITE_CONFLICT",
            "ERR_BUSY",
            "ERR_GIT",
            "ERR_STORAGE",
        ),
        exit_statuses=(
            (0, "in step"),
            (1, "there are conflicts, or it could not be done"),
            (2, "the call is wrong"),
        ),
        examples=("memhtml sync", "memhtml sync --remote backup --keep-conflicts"),
    ),
    Command(
        name="merge-driver",
        summary="Merge one file for git; init registers it, and nobody calls it by hand.",
        description=(
            "Git calls it with the file of the common version, of this side and of the other, and "
            "the path in the store. The second file becomes the merged one. Exit status 1 says "
            "that a person has to decide; the file then has git's conflict markers."
        ),
        arguments=(
            Argument(name="base", summary="file with the common version", noun=Noun.FILE),
            Argument(name="ours", summary="file to merge into", noun=Noun.FILE),
            Argument(name="theirs", summary="file with the other side's version", noun=Noun.FILE),
            Argument(name="path", summary="where the file stands in the store"),
        ),
        is_about_store=False,
        response_types=("merge.result",),
        errors=("ERR_STORAGE",),
        exit_statuses=(
            (0, "merged"),
            (1, "there are conflicts, or a file cannot be read"),
            (2, "the call is wrong"),
        ),
        examples=("memhtml merge-driver %O %A %B %P",),
    ),
)


def run(call: Call) -> Success:
    """Look back, or bring versions together."""
    return _RUNS[call.command.name](call)


def _history(call: Call) -> Success:
    from memhtml.answers.shown import VERSION, version  # noqa: PLC0415 - help needs none
    from memhtml.answers.shown import words as told_words  # noqa: PLC0415 - as above

    with open_store(call) as corpus:
        versions = corpus.history(call.text("path"))
        words = corpus.compare_versions(versions)

    def text(screen: Screen) -> str:
        from memhtml.cli.views.history import history_lines  # noqa: PLC0415 - only for people

        return history_lines(versions, words, screen)

    rows: list[Json] = [
        {**in_camel(VERSION, version(each)), "words": told_words(pieces)}
        for each, pieces in zip(versions, words, strict=True)
    ]
    return Success("memory.history", {"path": versions[0].path, "versions": rows}, text)


def _blame(call: Call) -> Success:
    from memhtml.answers.shown import VERSION, version  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus:
        blamed = corpus.blame(call.text("path"))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.history import blame_lines  # noqa: PLC0415 - only for people

        return blame_lines(blamed, screen)

    rows: list[Json] = [
        {"sentence": each.sentence, **in_camel(VERSION, version(each.version))} for each in blamed
    ]
    return Success("memory.blame", {"sentences": rows}, text)


def _sync(call: Call) -> Success:
    from memhtml.publish import publish_again  # noqa: PLC0415 - help needs none
    from memhtml.store.sync import SyncOptions  # noqa: PLC0415 - as above

    options = SyncOptions(
        remote=call.optional_text("remote"),
        push=not call.is_on("no-push"),
        keep_conflicts=call.is_on("keep-conflicts"),
        allow_unrelated=call.is_on("allow-unrelated"),
    )
    with open_store(call) as corpus:
        done = corpus.sync(options, on_pulled=lambda: publish_again(corpus))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.history import sync_lines  # noqa: PLC0415 - only for people

        return sync_lines(done, screen)

    return Success("store.synced", _synced_json(done), text, exit_status=1 if done.conflicts else 0)


def _synced_json(done: Synced) -> dict[str, Json]:
    return {
        "state": done.state.value,
        "remote": done.remote,
        "branch": done.branch,
        "before": done.before,
        "after": done.after,
        "ahead": done.ahead,
        "behind": done.behind,
        "pushed": done.pushed,
        "merged": list(done.merged),
        "conflicts": [
            {
                "path": conflict.path,
                "ourSha": conflict.ours,
                "theirSha": conflict.theirs,
                "reason": conflict.reason,
            }
            for conflict in done.conflicts
        ],
        "mergeOpen": done.is_merge_open,
    }


def _merge_driver(call: Call) -> Success:
    from memhtml.store.treemerge import merge_versions  # noqa: PLC0415 - help needs none

    base, ours, theirs = (
        os.path.join(call.world.cwd, call.text(name)) for name in ("base", "ours", "theirs")
    )
    path = call.text("path")
    # Git names an empty file where there is no common version.
    merged = merge_versions(path, _content(base) or None, _content(ours), _content(theirs))
    conflicts = ("kind of file",) if merged is None else merged.conflicts
    if merged is not None:
        with open(ours, "wb") as file:
            file.write(merged.data)
    return Success(
        "merge.result",
        {"path": path, "conflicts": list(conflicts)},
        # Git itself says what conflicts.
        lambda _: "",
        exit_status=1 if conflicts else 0,
        form="text",
    )


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


_RUNS = {"history": _history, "blame": _blame, "sync": _sync, "merge-driver": _merge_driver}
