"""From a call to the store it is about."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from memhtml.cli.world import store_root
from memhtml.model.errors import InvalidFlag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.corpus import Corpus
    from memhtml.index.lookup import SkippedFile

__all__ = ["memories_in_store", "open_store", "root_of", "skipped_json"]

_DURABILITIES = ("none", "bulk", "each")


def root_of(call: Call) -> str:
    """Return the absolute path of the store that *call* is about.

    Raises:
        RepoRequired: none was named, and the environment forbids a default.
    """
    return store_root(call.optional_text("repo"), call.world.env, call.world.cwd)


def memories_in_store(call: Call) -> Call:
    """Return *call* with every argument or flag that is a memory as its path within the store.

    A leading ``./`` goes, and so does the store's own folder before an absolute path. Whatever else
    it may be stays as it is, for the store to judge.
    """
    values = dict(call.values)
    for name in call.command.memories:
        given = values.get(name)
        if isinstance(given, str):
            values[name] = _in_store(call, given)
        elif isinstance(given, tuple):
            values[name] = tuple(_in_store(call, path) for path in given)
    return call._replace(values=values)


def _in_store(call: Call, path: str) -> str:
    if not os.path.isabs(path):
        return path.removeprefix("./")
    root = root_of(call)
    for base in dict.fromkeys((root, os.path.realpath(root))):
        if path.startswith(base + os.sep):
            return path[len(base) + 1 :].replace(os.sep, "/")
    return path


def open_store(call: Call, *, index_delay: float = 0.0) -> Corpus:
    """Open the store that *call* is about; the caller closes it. See `Corpus.open`.

    Raises:
        NotAStore: there is none at that place.
        UsageError: none was named where one must be, or a variable has an unknown value.
    """
    from memhtml.corpus import Corpus  # noqa: PLC0415 - loads git and the database

    durability = call.world.env.get("MEMHTML_DURABILITY", "").strip() or "bulk"
    if durability not in _DURABILITIES:
        raise InvalidFlag(
            f"MEMHTML_DURABILITY is one of {', '.join(_DURABILITIES)}, not {durability!r}",
            suggestions=("memhtml manifest",),
        )
    return Corpus.open(
        root_of(call),
        durability=durability,
        index_delay=index_delay,
        on_lag=lambda reason: call.world.stderr.write(f"warning: {reason}\n"),
        detect=partial(_detect, call.world.env),
        cache_dir=call.world.env.get("MEMHTML_CACHE") or None,
        # Who may let git's index wait lives on, and a model loaded once pays.
        is_warm=index_delay > 0.0,
    )


def _detect(env: Mapping[str, str], code: str) -> str | None:
    """Propose the language of *code* by the detector that the environment names."""
    from memhtml.providers.languages import detector, settings  # noqa: PLC0415 - loads its model

    chosen = settings(env)
    return detector(chosen.name, highlightjs=chosen.highlightjs)(code)


def skipped_json(file: SkippedFile) -> Json:
    """Return a file that is no memory, with every reason, as a machine reads it."""
    return {
        "path": file.path,
        "reason": file.reason,
        "findings": [
            {
                "code": finding.code,
                "message": finding.message,
                "line": finding.line,
                "column": finding.column,
            }
            for finding in file.findings
        ],
    }
