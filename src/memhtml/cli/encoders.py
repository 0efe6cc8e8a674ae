"""Which model makes vectors for an index, and whether it is there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from memhtml.model.errors import ModelUnavailable
from memhtml.providers import models
from memhtml.providers.encoders.load import dense_encoder, sparse_encoder
from memhtml.providers.home import cache_folder

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.corpus import Corpus
    from memhtml.model.ports import DenseEncoder, SparseEncoder

__all__ = ["DEFAULT_MODEL", "cache_of", "chosen_model", "find_installed", "open_encoder"]

DEFAULT_MODEL = "splade-tiny"


def cache_of(call: Call) -> str:
    """Return the folder in which models stand."""
    return cache_folder(call.world.env, sys.platform)


def chosen_model(call: Call, corpus: Corpus) -> str:
    """Return the name of the model that *call* is to encode with.

    The one it names, else the one that the index has rows of, else the default.

    Raises:
        InvalidFlag: It names one that is neither known nor there.
    """
    name = call.optional_text("model")
    if name is None:
        spaces = [one.space for one in corpus.coverage()]
        return spaces[0].partition("@")[0] if spaces else DEFAULT_MODEL
    if find_installed(call, name) is None:
        models.find(name)
    return name


def find_installed(call: Call, name: str) -> models.InstalledModel | None:
    """Return the model *name* if it has been added."""
    there = models.installed(cache_of(call))
    return next((model for model in there if model.name == name), None)


def open_encoder(call: Call, name: str) -> SparseEncoder | DenseEncoder:
    """Return the encoder of the model *name*.

    Raises:
        ModelUnavailable: It has not been added, cannot be read, or numpy is not installed.
    """
    model = find_installed(call, name)
    if model is None:
        reason = "it has not been added"
        raise ModelUnavailable(name, reason, suggestions=(f"memhtml model add {name}",))
    if model.kind is models.ModelKind.DENSE:
        return dense_encoder(name, cache_of(call))
    return sparse_encoder(name, cache_of(call))
