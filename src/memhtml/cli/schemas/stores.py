"""Schemas of answers about a store as a whole: its index, usage, pages, health and remote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers.schema import (
    COMMIT,
    STRING,
    choice,
    either,
    integer,
    items,
    mapping,
    maybe,
    number,
    record,
    switch,
    text,
)
from memhtml.digest.happening import What
from memhtml.doctor.finding import Gravity
from memhtml.model.history import SyncState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.answers.schema import Schema

__all__ = ["STORES"]

_HEAD = maybe(text("The last commit."))
_COVERAGE = items(
    "How much has vectors, for each vector space.",
    record(
        "A vector space.",
        {
            "kind": choice("What its vectors are.", ("sparse", "dense")),
            "space": text("Its name: a model and the hash of its weights."),
            "covered": integer("Texts that have a vector."),
            "texts": integer("Texts that can have one."),
            "share": number("One by the other.", least=0, most=1),
        },
    ),
)
_SKIPPED = items(
    "Files that cannot be read as memories.",
    record(
        "A file.",
        {
            "path": text("Where it is."),
            "reason": text("The code of its first violation, or not-a-file, or path-encoding."),
            "findings": items(
                "What is wrong with it.",
                record(
                    "A finding.",
                    {
                        "code": text("The rule, as a stable word."),
                        "message": text("What is wrong."),
                        "line": integer("Where, counted from 1."),
                        "column": integer("Where in the line, counted from 1."),
                    },
                ),
            ),
        },
    ),
)

_ENCODING = {
    "embedModel": maybe(text("The vector space; null where there is none.")),
    "embeddings": integer("Texts that have a vector."),
    "embeddingsWritten": integer("How many of them this call made."),
    "embeddingsPreserved": integer("How many were there before."),
    "embeddingsRemaining": integer("Texts that have none yet."),
    "embedReason": maybe(text("Why none could be made.")),
}
_PASS = {
    "headSha": _HEAD,
    "dirty": integer("Files that are indexed as they are on disk, not as committed."),
    "skipped": _SKIPPED,
}
_REBUILD = record(
    "What a rebuild did.",
    {
        "mode": {"const": "rebuild", "description": "What was done."},
        "filesIndexed": integer("Memories."),
        "chunksIndexed": integer("Pieces of them."),
        **_PASS,
        **_ENCODING,
    },
    optional=_ENCODING,
)
_UPDATE = record(
    "What an update did.",
    {
        "mode": {"const": "update", "description": "What was done."},
        "unchanged": switch("There was nothing to do."),
        "added": integer("Memories that are new."),
        "modified": integer("Memories that changed."),
        "removed": integer("Memories that are gone."),
        "renamed": integer("Memories that moved."),
        **_PASS,
    },
)
_EMBED = record(
    "What encoding did.",
    {
        "mode": {"const": "embed", "description": "What was done."},
        "headSha": _HEAD,
        "dryRun": switch("It was only counted."),
        "chunks": integer("Pieces of memories."),
        "texts": integer("Distinct texts of them."),
        **_ENCODING,
    },
)
_STATUS = record(
    "What the index holds.",
    {
        "mode": {"const": "status", "description": "What was done."},
        "headSha": _HEAD,
        "indexHeadSha": maybe(text("The commit that the index describes.")),
        "indexFresh": switch("That is the last commit."),
        "files": integer("Memories."),
        "skippedCount": integer("Files that cannot be read as memories."),
        "chunks": integer("Pieces of memories."),
        "texts": integer("Distinct texts of them."),
        "coverage": _COVERAGE,
        "rebuiltAt": maybe(text("When it was built.")),
        "updatedAt": maybe(text("When it last changed.")),
    },
)

_FINDING = record(
    "A finding.",
    {
        "code": text("What it is, as a stable word."),
        "severity": choice("How much it matters.", Gravity),
        "path": maybe(text("The file; null where the whole clone is meant.")),
        "line": maybe(integer("Where, counted from 1.")),
        "column": maybe(integer("Where in the line, counted from 1.")),
        "message": text("What is wrong."),
        "fixable": switch("--fix can mend it."),
        "hint": maybe(text("What to do about it.")),
    },
)

_MOMENT = record(
    "A state of the store.",
    {
        "commitSha": maybe(text("Its commit; null where there was none yet.")),
        "at": maybe(text("When.")),
    },
)
_HAPPENINGS = items(
    "What became of memories.",
    record(
        "One thing that became of one memory.",
        {
            "what": choice("What became of it.", What),
            "sentence": text("The whole of it in plain words, which quote memories."),
            "path": text("Where it stands, or stood."),
            "title": text("Its title."),
            "claim": text("What it says."),
            "memoryType": maybe(text("Its type.")),
            "before": maybe(text("What it, or the memory whose place it took, said before.")),
            "beforePath": maybe(text("Where that stood.")),
            "against": maybe(text("What the memory says that it contradicts.")),
            "againstPath": maybe(text("Where that one is.")),
            "notes": items("What changed of labels, and where a task stands.", STRING),
            "author": maybe(text("Who says so.")),
            "sessionId": maybe(text("The session it came from.")),
            "reason": maybe(text("Why.")),
            "commitSha": maybe(text("The commit.")),
            "at": maybe(text("When.")),
        },
    ),
)

STORES: Mapping[str, Schema] = {
    "repo.init": record(
        "A store.",
        {
            "root": text("The folder."),
            "created": switch("The repository is new."),
            "headSha": _HEAD,
            "wrote": items("Files that were missing and are committed now.", STRING),
            "kept": items("Files of ours that stood there uncommitted, and were left.", STRING),
            "author": text("Who commits will be by."),
            "hasOwnIdentity": switch("That is who git is configured with."),
        },
    ),
    "status.health": record(
        "The state of a store.",
        {
            "root": text("The folder."),
            "headSha": _HEAD,
            "dirty": switch("Files have changes that are not committed."),
            "dirtyPaths": items("Which.", STRING),
            "countsByType": mapping("Active memories by type.", {"type": "integer"}),
            "archivedCount": integer("Memories in the archive."),
            "indexFresh": switch("The index describes the last commit."),
            "indexHeadSha": maybe(text("The commit that the index describes.")),
            "chunks": integer("Pieces of memories."),
            "embeddings": integer("Texts that have a vector."),
            "embedModel": maybe(text("The vector space; null where there is none.")),
            "embedderUp": switch("Its model is there."),
            "vectorCoverage": number("The part of the texts that is encoded.", least=0, most=1),
            "coverage": _COVERAGE,
            "hasState": switch("It is recorded how memories are used."),
            "skipped": _SKIPPED,
            "detector": text("What tells code from prose."),
        },
    ),
    "index.report": either(
        "A pass over the index, or what it holds.", _REBUILD, _UPDATE, _EMBED, _STATUS
    ),
    "state.export": record(
        "The committed copy of usage.",
        {
            "path": text("Where it is."),
            "rows": integer("For how many memories it says something."),
            "written": switch("This call changed it."),
            "commitSha": COMMIT,
        },
    ),
    "state.import": record(
        "Usage that was taken in.",
        {
            "path": text("Where the copy is."),
            "restored": integer("For how many memories that changed something."),
        },
    ),
    "doctor.report": record(
        "The health of a store.",
        {
            "healthy": switch("Nothing grave is wrong, now."),
            "filesExamined": integer("How many files were looked at."),
            "findings": items("What was found.", _FINDING),
            "repaired": maybe(
                record(
                    "What --fix did.",
                    {
                        "dryRun": switch("It was only told."),
                        "mended": items("What was mended.", _FINDING),
                        "leftUncommitted": items(
                            "What was left, for its file has changes that are not committed.",
                            _FINDING,
                        ),
                        "commitSha": COMMIT,
                    },
                )
            ),
            "remaining": maybe(items("What is still wrong after --fix.", _FINDING)),
        },
    ),
    "publish.report": record(
        "Pages for browsing.",
        {
            "artifacts": integer("How many pages there are."),
            "written": integer("How many of them changed."),
            "removed": integer("How many pages are gone."),
            "paths": items("Which changed.", STRING),
            "removedPaths": items("Which are gone.", STRING),
            "commitSha": COMMIT,
        },
    ),
    "store.log": record(
        "What happened, commit by commit.",
        {
            "entries": items(
                "The commits, newest first.",
                record(
                    "A commit.",
                    {
                        "commitSha": text("The commit."),
                        "at": text("When."),
                        "author": text("Who committed it."),
                        "operation": maybe(text("What made it; null for a commit of other hands.")),
                        "summary": text("What the commit says."),
                        "sessionId": maybe(text("The session it came from.")),
                        "promptId": maybe(text("The prompt it came from.")),
                        "reason": maybe(text("Why.")),
                        "happenings": _HAPPENINGS,
                        "untold": integer("How many more files it changed."),
                    },
                ),
            ),
            "more": switch("There are older ones."),
        },
    ),
    "store.diff": record(
        "What happened between two states.",
        {
            "since": _MOMENT,
            "until": _MOMENT,
            "commits": integer("How many commits lie between them."),
            "counts": mapping("How often each thing happened.", {"type": "integer"}),
            "happenings": _HAPPENINGS,
            "page": maybe(text("The page that was written.")),
        },
    ),
    "store.synced": record(
        "A store and its remote.",
        {
            "state": choice("How the two stood to each other.", SyncState),
            "remote": maybe(text("The remote's name.")),
            "branch": maybe(text("The branch.")),
            "before": maybe(text("The last commit before.")),
            "after": maybe(text("The last commit now.")),
            "ahead": integer("Commits that the remote lacked."),
            "behind": integer("Commits that this clone lacked."),
            "pushed": switch("The remote has them all now."),
            "merged": items("Files in which both sides were joined.", STRING),
            "conflicts": items(
                "Files that a person has to decide.",
                record(
                    "A file.",
                    {
                        "path": text("Where it is."),
                        "ourSha": text("This side's version; empty where it has none."),
                        "theirSha": text("The other side's version; empty where it has none."),
                        "reason": text("What conflicts."),
                    },
                ),
            ),
            "mergeOpen": switch("A merge was left open in the files."),
        },
    ),
}
