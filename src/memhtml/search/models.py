"""The question side of the models that an index has vectors of, each loaded once in a process.

The table of a sparse model is a file of a megabyte and is loaded by whoever searches. A dense model
takes a quarter of a second and a hundred megabytes, so a command does not load one unless it is
told to; a process that lives on does, with its first question.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from memhtml.index.vectors import space_names
from memhtml.model.errors import EmbedModelMismatch, MemhtmlError
from memhtml.search.ranking import Means

if TYPE_CHECKING:
    from memhtml.index.database import Index
    from memhtml.model.ports import DenseEncoder, SparseQueries
    from memhtml.search.arms.dense import DenseQuestions

__all__ = ["Models"]


class Models:
    """The models of one process.

    *cache_dir* is where they stand, the user's cache folder by default; *encoder* a dense one that
    is loaded already; *is_warm* tells that the process lives on.
    """

    def __init__(
        self,
        cache_dir: str | None = None,
        *,
        encoder: DenseEncoder | None = None,
        is_warm: bool = False,
    ) -> None:
        self._cache_dir = cache_dir
        self._encoder = encoder
        self._is_warm = is_warm
        self._queries: SparseQueries | None = None
        self._dense: DenseQuestions | None = None

    def means(self, index: Index, *, dense: bool | None = None) -> Means:
        """Return what a search of *index* may use of models.

        With *dense*, a dense model is loaded if the index has vectors of one; by default only in a
        process that lives on, or where there is one already. Whatever is not there, the means say
        why.
        """
        with index.guarded("look for vectors"):
            spaces = space_names(index.connection)
        means = Means()
        if not spaces:
            reason = "the index has no vectors; memhtml index embed makes them"
            means = means._replace(unavailable=reason)
        if dense and "dense" not in spaces:
            reason = "the index has no dense vectors; memhtml index embed --model minilm makes them"
            means = means._replace(dense_unavailable=reason)
        if self._is_warm and spaces:
            _load_numpy()
        if (name := spaces.get("sparse")) is not None:
            try:
                means = means._replace(queries=self._sparse_queries(name))
            except MemhtmlError as error:
                means = means._replace(unavailable=error.message)
        if (name := spaces.get("dense")) is not None:
            load = self._is_warm if dense is None else dense
            try:
                means = means._replace(dense=self._dense_questions(name, load=load))
            except MemhtmlError as error:
                return means._replace(dense_unavailable=error.message)
            if means.dense is None or dense is False:
                reason = f"vectors of {name} were not asked; --dense-model loads what asks them"
                means = means._replace(dense=None, dense_unavailable=reason)
        return means

    def _sparse_queries(self, name: str) -> SparseQueries:
        if self._queries is None or self._queries.space_id != name:
            from memhtml.providers.encoders.load import query_table  # noqa: PLC0415 - words need none

            self._queries = query_table(name.partition("@")[0], self._folder)
        return self._queries

    def _dense_questions(self, name: str, *, load: bool) -> DenseQuestions | None:
        if self._dense is None or self._dense.space_id != name:
            encoder = self._encoder
            if encoder is None or encoder.space_id != name:
                if not load:
                    return None
                from memhtml.providers.encoders.load import dense_encoder  # noqa: PLC0415 - numpy

                encoder = dense_encoder(name.partition("@")[0], self._folder)
            if encoder.space_id != name:
                raise EmbedModelMismatch(name, encoder.space_id)
            from memhtml.search.arms.dense import DenseQuestions  # noqa: PLC0415 - as above

            self._dense = DenseQuestions(encoder)
        return self._dense

    @property
    def _folder(self) -> str:
        if self._cache_dir is None:
            from memhtml.providers.home import cache_folder  # noqa: PLC0415 - goes with a model

            self._cache_dir = cache_folder(os.environ, sys.platform)
        return self._cache_dir


def _load_numpy() -> None:
    """Load numpy if there is one: it scores ten times as fast as we do without."""
    with contextlib.suppress(ModuleNotFoundError):
        import memhtml.providers.encoders.arrays  # noqa: F401, PLC0415 - 80 ms, worth it once
