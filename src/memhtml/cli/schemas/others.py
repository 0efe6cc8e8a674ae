"""Schemas of answers that need no store, or are about files outside of it."""

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
from memhtml.cli.command import Kind
from memhtml.cli.envelope import API_VERSION
from memhtml.cli.schemas.evals import EVALS
from memhtml.cli.schemas.memories import NOTES
from memhtml.model.diagnostics import Severity
from memhtml.providers.models import ModelKind
from memhtml.transfer.item import ImportFormat, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.answers.schema import Schema

__all__ = ["OTHERS"]

# Checks

_PROBLEM = record(
    "A file that was not looked at.", {"path": text("Where it is."), "reason": text("Why not.")}
)
_DIAGNOSTIC = record(
    "A finding.",
    {
        "code": text("The rule, as a stable word; check --list-codes has them all."),
        "severity": choice("How much it matters.", Severity),
        "message": text("What is wrong."),
        "line": integer("Where it begins, counted from 1."),
        "column": integer("Where in the line, counted from 1."),
        "endLine": integer("Where it ends."),
        "endColumn": integer("Where in that line; the first column after it."),
        "start": integer("The byte where it begins."),
        "end": integer("The first byte after it."),
        "info": mapping(
            "Particulars by name, other for each code.",
            {"anyOf": [STRING, {"type": "integer"}, {"type": "null"}]},
        ),
    },
)
_CHECKED = record(
    "A file with something to say of.",
    {
        "path": text("Where it is; - for standard input."),
        "diagnostics": items("What was found in it.", _DIAGNOSTIC),
        "fixes": items(
            "What was mended, or can be.",
            record(
                "A fix.",
                {"code": text("The rule."), "message": text("What it does.")},
            ),
        ),
        "diff": maybe(text("The same as a unified diff, with --diff.")),
    },
)

# Models

_MODEL: Mapping[str, Schema] = {
    "name": text("What it is called."),
    "kind": choice("What it makes of a text.", ModelKind),
    "about": maybe(text("What it is.")),
    "requirement": text("The release that carries it, as pip names it."),
    "licence": text("As its distributor states it."),
    "licenceNote": maybe(text("By whose word, and what is not known.")),
    "languages": items("Languages it was trained on; none when not stated.", STRING),
    "downloadBytes": maybe(integer("How much is fetched.")),
    "added": switch("It is in the cache folder."),
    "spaceId": maybe(text("Its vector space.")),
    "folder": maybe(text("Where it is.")),
    "bytes": maybe(integer("How much it takes there.")),
}
_A_MODEL = record("A model.", _MODEL)

# The contract itself

_ANY: Schema = {"anyOf": [STRING, {"type": "number"}, {"type": "boolean"}, {"type": "null"}]}
_CHOICES = maybe(items("The words that it may be.", STRING))
_ARGUMENT = record(
    "A word that stands by its place.",
    {
        "name": text("What it is called."),
        "summary": text("What it is."),
        "required": switch("It must be there."),
        "repeatable": switch("There may be several."),
        "choices": _CHOICES,
    },
)
_FLAG = record(
    "A named option.",
    {
        "name": text("Without its dashes."),
        "summary": text("What it does."),
        "kind": choice("How the text after it is read.", Kind),
        "required": switch("It must be there."),
        "repeatable": switch("It may be given several times."),
        "default": _ANY | {"description": "What its absence means; null for nothing."},
        "choices": _CHOICES,
        "minimum": maybe(number("The least it may be.")),
        "maximum": maybe(number("The most it may be.")),
    },
    optional=("default",),
)
_COMMAND: Mapping[str, Schema] = {
    "name": text("One or two words."),
    "summary": text("What it is for."),
    "description": maybe(text("More about it.")),
    "args": items("Words that stand by their place, in order.", _ARGUMENT),
    "flags": items("Named options of its own.", _FLAG),
    "responseTypes": items("The types of its successes.", STRING),
    "errorCodes": items("The codes of its failures, those of a wrong call apart.", STRING),
    "exitStatuses": items(
        "What the exit status says.",
        record(
            "A status.",
            {"status": integer("The number."), "meaning": text("What it says.")},
        ),
    ),
    "examples": items("Whole command lines.", STRING),
    "supportsJson": switch("It takes --json."),
    "supportsDense": switch("It takes --dense."),
}
_GLOBAL_FLAGS = items("Options of every command.", _FLAG)

OTHERS: Mapping[str, Schema] = {
    **EVALS,
    "check.report": record(
        "What a check found.",
        {
            "ok": switch("Exit status is 0."),
            "filesChecked": integer("How many files were looked at."),
            "violations": integer("How many."),
            "warnings": integer("How many."),
            "notes": integer("How many."),
            "fixed": integer("How many faults were mended."),
            "fixable": integer("How many --fix would mend."),
            "unreadable": items("Files that could not be read.", _PROBLEM),
            "skipped": items("What is no file to check.", _PROBLEM),
            "files": items("Files with something to say of, no others.", _CHECKED),
        },
    ),
    "check.codes": record(
        "The codes that a finding may have.",
        {
            "codes": items(
                "Each code.",
                record(
                    "A code.",
                    {
                        "code": text("The stable word."),
                        "severity": choice("How much it matters.", Severity),
                        "summary": text("What it says."),
                    },
                ),
            )
        },
    ),
    "detect.result": record(
        "The language of a text.",
        {
            "detector": choice("What was asked.", ("builtin", "highlightjs", "off")),
            "language": maybe(text("What a fence would be stamped with; null for nothing.")),
            "confidence": number("How sure that is.", least=0),
            "outcome": text("Why, as a stable word."),
            "reason": text("More about it; empty for nothing."),
            "candidate": maybe(text("The best guess.")),
            "runnerUp": maybe(text("The next best.")),
            "evidence": items(
                "What decided it.",
                either(
                    "A reason.",
                    record(
                        "A pattern of the builtin detector.",
                        {
                            "pattern": text("The pattern."),
                            "weight": number("What it says for the best guess."),
                            "lead": number("How much more than for the next best."),
                        },
                    ),
                    record(
                        "A grammar of highlight.js.",
                        {
                            "grammar": maybe(text("The grammar.")),
                            "relevance": number("Its relevance."),
                        },
                    ),
                ),
            ),
        },
    ),
    "merge.result": record(
        "A merge of one file.",
        {
            "path": text("Where the file stands in the store."),
            "conflicts": items("What a person has to decide.", STRING),
        },
    ),
    "import.report": record(
        "What came of an import.",
        {
            "source": text("What was read."),
            "format": choice("What it is.", ImportFormat),
            "because": text("What that was seen by."),
            "dryRun": switch("It was only told."),
            "counts": record(
                "How many came to what; the others add up to found.",
                {name: integer(f"How many: {name}.") for name in ("found", *Outcome)},
            ),
            "links": record(
                "Links between what was found.",
                {
                    "found": integer("How many."),
                    "made": integer("How many stand in the store."),
                    "unresolved": integer("How many lead nowhere."),
                    "failed": integer("How many were refused."),
                },
            ),
            "items": items(
                "What became of each thing.",
                record(
                    "A thing that was found.",
                    {
                        "origin": text("Where in the source."),
                        "title": text("Its title."),
                        "outcome": choice("What became of it.", Outcome),
                        "path": maybe(text("Where its memory is.")),
                        "code": maybe(text("The code of the refusal.")),
                        "reason": maybe(text("Why it was skipped or failed.")),
                        "notes": NOTES,
                        "nearDuplicates": items("Memories that say nearly the same.", STRING),
                    },
                ),
            ),
            "commitSha": COMMIT,
        },
    ),
    "export.report": record(
        "What an export wrote.",
        {
            "format": choice("As what.", ("md", "jsonl", "html")),
            "out": text("The folder or file."),
            "memories": integer("How many memories."),
            "archived": integer("How many of them are in the archive."),
            "bytes": integer("How much was written."),
            "leftOut": items("Memories that are not in it.", _PROBLEM),
        },
    ),
    "model.list": record(
        "Models.",
        {
            "cacheDir": text("The folder in which models stand."),
            "models": items("Those that can be added, and those that have been.", _A_MODEL),
        },
    ),
    "model.preview": _A_MODEL,
    "model.added": record(
        "A model.", {**_MODEL, "wasThere": switch("It was there before, and whole.")}
    ),
    "model.removed": record(
        "A model that is gone.",
        {"name": text("What it is called."), "removed": switch("It was there.")},
    ),
    "model.verified": record(
        "The files of a model.",
        {
            "name": text("What it is called."),
            "ok": switch("Every file is as it was converted."),
            "faults": items("What is wrong.", STRING),
        },
    ),
    "serve.exit": record("A server that ended.", {"server": text("Which one.")}),
    "cli.manifest": record(
        "The whole contract.",
        {
            "name": text("The program."),
            "version": text("Its version."),
            "summary": text("What it is."),
            "apiVersion": {"const": API_VERSION, "description": "The version of the documents."},
            "guide": items(
                "What to know before the first call.",
                record("A topic.", {"topic": text("What about."), "body": text("What to know.")}),
            ),
            "globalFlags": _GLOBAL_FLAGS,
            "errorCodes": items("Every code.", STRING),
            "errorMeanings": mapping("What each says.", STRING),
            "config": items(
                "Environment variables that are read.",
                record(
                    "A variable.",
                    {
                        "name": text("What it is called."),
                        "description": text("What it does."),
                        "fallback": text("What its absence means."),
                    },
                ),
            ),
            "responseTypes": items("Every type.", STRING),
            "responseMeanings": mapping("What each is.", STRING),
            "commands": items("Every command.", record("A command.", _COMMAND)),
        },
    ),
    "cli.words": record(
        "Words of a store.",
        {
            "kind": choice("What kind.", ("memory", "tag", "entity", "workspace")),
            "words": items("Those that begin so.", STRING),
        },
    ),
    "cli.brief": record(
        "The contract in brief.",
        {
            "name": text("The program."),
            "version": text("Its version."),
            "summary": text("What it is."),
            "apiVersion": {"const": API_VERSION, "description": "The version of the documents."},
            "guide": items(
                "What to know before the first call.",
                record("A topic.", {"topic": text("What about."), "body": text("What to know.")}),
            ),
            "globalFlags": items("Flags of every command.", STRING),
            "flagGroups": mapping(
                "What a name in brackets stands for in a call.", items("Its flags.", STRING)
            ),
            "commands": items(
                "Every command.",
                record("A command.", {"call": text("How."), "summary": text("What for.")}),
            ),
        },
    ),
    "cli.help": record(
        "The contract of one command.",
        {
            **_COMMAND,
            "usage": text("The call in one line."),
            "globalFlags": _GLOBAL_FLAGS,
            "usageErrorCodes": items("The codes of a wrong call.", STRING),
            "seeAlso": items("Commands that are near it.", STRING),
        },
    ),
    "cli.schemas": record(
        "JSON Schemas of the documents.",
        {"schemas": mapping("Each by the type it describes.", {"type": "object"})},
    ),
    "cli.completion": record(
        "A completion script.",
        {"shell": choice("Whose.", ("bash", "zsh", "fish")), "script": text("The script.")},
    ),
    "cli.version": record(
        "The version.", {"name": text("The program."), "version": text("Its version.")}
    ),
}
