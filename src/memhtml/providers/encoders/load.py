"""Loading encoders by name: models in the cache folder, and providers from entry points.

A search comes here for its query table, so nothing is imported but what that needs; numpy arrives
with `sparse_encoder` and `dense_encoder`. A model is a folder of its own, complete or not there at
all: `memhtml.providers.models` moves it into place as a whole.
"""

from __future__ import annotations

import json
import os
import re
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from memhtml.model.errors import InvalidFlag, ModelUnavailable
from memhtml.providers.encoders.querytable import QueryTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memhtml.model.ports import DenseEncoder
    from memhtml.providers.encoders.sentence import SentenceEncoder
    from memhtml.providers.encoders.splade import Splade

__all__ = [
    "ENTRY_POINTS",
    "MANIFEST",
    "QUERIES",
    "REVISION",
    "WEIGHTS",
    "dense_encoder",
    "is_model_name",
    "model_folder",
    "provider_encoder",
    "query_table",
    "space_id",
    "sparse_encoder",
    "without_numpy",
]

ENTRY_POINTS = "memhtml.embedders"
"""The group in which a distribution names a function from options to a `DenseEncoder`."""

REVISION = 1
"""Raise it when the files of a model, or the rows of the same text, change by a change of ours."""

WEIGHTS = "weights.bin"
QUERIES = "queries.bin"
MANIFEST = "model.json"

# Ours need no look at the installed distributions, which costs a cold process 40 ms.
_BUILT_IN: tuple[str, ...] = ("bedrock", "ollama", "openai")

Opened = TypeVar("Opened")

_name_re = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?")


def model_folder(name: str, cache_dir: str | os.PathLike[str]) -> str:
    """Return where the runtime files of model *name* stand, if they do.

    Raises:
        InvalidFlag: *name* is not one a model can have. A store may say which model it was indexed
            with, and must not lead us to files of its own by that.
    """
    if not is_model_name(name):
        raise InvalidFlag(f"{name!r} is not a model's name", suggestions=("memhtml model list",))
    return f"{os.fspath(cache_dir)}/models/{name}"


def is_model_name(name: str) -> bool:
    """Whether *name* is one a model can have: it is also the name of a folder.

    >>> [is_model_name(name) for name in ("splade-tiny", "../tiny", "CON:")]
    [True, False, False]
    """
    return _name_re.fullmatch(name) is not None


def space_id(name: str, weights_sha256: str) -> str:
    """Return the name of a local model's vector space.

    >>> space_id("tiny", "0123456789abcdef")
    'tiny@0123456789ab'
    """
    return f"{name}@{weights_sha256[:12]}"


def query_table(name: str, cache_dir: str | os.PathLike[str]) -> QueryTable:
    """Return the question side of the sparse model *name*, without numpy.

    Raises:
        ModelUnavailable: The model has not been added, or its table cannot be read.
    """
    return _opened(name, cache_dir, lambda folder: QueryTable(f"{folder}/{QUERIES}"))


def sparse_encoder(name: str, cache_dir: str | os.PathLike[str]) -> Splade:
    """Return both sides of the sparse model *name*.

    Raises:
        ModelUnavailable: It has not been added, cannot be read, or numpy is not installed.
    """
    return _opened(name, cache_dir, _sparse)


def dense_encoder(name: str, cache_dir: str | os.PathLike[str]) -> SentenceEncoder:
    """Return the dense model *name*.

    Raises:
        ModelUnavailable: It has not been added, cannot be read, or numpy is not installed.
    """
    return _opened(name, cache_dir, _dense)


def provider_encoder(name: str, options: Mapping[str, str]) -> DenseEncoder:
    """Return the dense encoder that provider *name* makes of *options*.

    Ours are ``openai``, ``ollama`` and ``bedrock``; others come from entry points. *options* may
    name addresses and keys, so they are the user's own and never a store's.

    Raises:
        ModelUnavailable: There is no such provider, or a library that it needs is not installed.
        UsageError: An option is missing or cannot be used.
    """
    if name not in _BUILT_IN:
        return _entry_point(name)(options)
    try:
        module = import_module(f"memhtml.providers.encoders.{name}")
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise without_numpy(name) from error
    encoder: DenseEncoder = module.encoder(options)
    return encoder


def without_numpy(name: str) -> ModelUnavailable:
    """Return what to raise when model *name* needs numpy and there is none."""
    install = "python -m pip install 'numpy>=1.26,<3'"
    return ModelUnavailable(name, "numpy is not installed", suggestions=(install,))


def _entry_point(name: str) -> Callable[[Mapping[str, str]], DenseEncoder]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - 40 ms, for foreign providers only

    found = entry_points(group=ENTRY_POINTS)
    if name not in found.names:
        known = sorted({*_BUILT_IN, *found.names})
        raise ModelUnavailable(name, f"no such provider; there are {', '.join(known)}")
    try:
        make: Callable[[Mapping[str, str]], DenseEncoder] = found[name].load()
    except (ImportError, AttributeError) as error:
        raise ModelUnavailable(name, f"its provider cannot be loaded: {error}") from error
    return make


def _opened(name: str, cache_dir: str | os.PathLike[str], read: Callable[[str], Opened]) -> Opened:
    add = f"memhtml model add {name}"
    try:
        return read(model_folder(name, cache_dir))
    except FileNotFoundError as error:
        reason = "it has not been added, or is not of this kind"
        raise ModelUnavailable(name, reason, suggestions=(add,)) from error
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise without_numpy(name) from error
    except (OSError, ValueError, KeyError) as error:
        again = (f"memhtml model verify {name}", f"memhtml model remove {name}", add)
        reason = f"its files cannot be read: {error}"
        raise ModelUnavailable(name, reason, suggestions=again) from error


def _sparse(folder: str) -> Splade:
    table = QueryTable(f"{folder}/{QUERIES}")
    from memhtml.providers.encoders.arrays import read_pack  # noqa: PLC0415 - imports numpy
    from memhtml.providers.encoders.splade import Splade, SpladeModel  # noqa: PLC0415 - as above

    return Splade(SpladeModel(*read_pack(f"{folder}/{WEIGHTS}")), table)


def _dense(folder: str) -> SentenceEncoder:
    with open(f"{folder}/{MANIFEST}", encoding="utf-8") as file:  # noqa: PTH123 - as `QueryTable`
        manifest = json.load(file)
    from memhtml.providers.encoders.arrays import read_pack  # noqa: PLC0415 - imports numpy
    from memhtml.providers.encoders.sentence import SentenceEncoder  # noqa: PLC0415 - as above

    return SentenceEncoder(manifest["space_id"], *read_pack(f"{folder}/{WEIGHTS}"))
