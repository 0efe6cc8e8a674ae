"""SPLADE: a text as its strongest vocabulary terms, among them words it does not contain.

Every piece of the text bids for every term; a term's weight is the logarithm of its highest bid.
Nearly all the time goes into that one product (pieces x width x 27,000 terms), so it is done in
blocks that stay in the cache, and its maximum is taken before the block is left.

Terms are pieces of ASCII letters and digits. The model was trained on English: of another script
it knows the single letters, and a term like that would match every text of the script alike. A
text with nothing to read gets an empty row and is found by its words.
"""

from __future__ import annotations

import re
from math import expm1
from typing import TYPE_CHECKING, Any

from memhtml.model.ports import SparseRow
from memhtml.providers.encoders.arrays import np
from memhtml.providers.encoders.bert import Bert, gelu, norm_arrays, normalised
from memhtml.providers.encoders.parallel import mapped
from memhtml.providers.encoders.querytable import Expansion
from memhtml.providers.encoders.wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy import float32, uint8
    from numpy.typing import NDArray

    from memhtml.model.ports import Progress
    from memhtml.providers.encoders.querytable import QueryTable

__all__ = ["KEPT_TERMS", "WEIGHT_SCALE", "Splade", "SpladeModel", "head_arrays"]

KEPT_TERMS = 96
"""Terms kept of a text. 64 cost 0.008 nDCG, 48 cost 0.014."""
WEIGHT_SCALE = 64
"""What a weight of 1.0 is stored as: one byte then reaches 3.98."""

_EXPANSIONS = 8
_LEAST_WEIGHT = 0.05
_BLOCK = 2048
_BATCH = 256

_term_re = re.compile("(?:##)?[0-9a-z]+")
_readable_re = re.compile("[0-9A-Za-z]")


class Splade:
    """A sparse encoder (`memhtml.model.ports.SparseEncoder`)."""

    def __init__(self, model: SpladeModel, table: QueryTable) -> None:
        self._model = model
        self._table = table

    @property
    def space_id(self) -> str:
        """Name of the vector space."""
        return self._table.space_id

    def query(self, text: str) -> dict[int, int]:
        """Return the terms that *text* asks about; see `QueryTable.query`."""
        return self._table.query(text)

    def encode_docs(
        self, texts: Sequence[str], *, workers: int = 1, progress: Progress | None = None
    ) -> list[SparseRow]:
        """Return one row for each text, in order; see `SparseEncoder.encode_docs`.

        A text is read as far as the model can, 512 word pieces or some 2,000 characters.
        """
        return mapped(self._model.row, texts, workers=workers, progress=progress)


class SpladeModel:
    """The weights of one model, and what they say about texts and pieces."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> None:
        """*arrays* are what `bert.compact` and `head_arrays` made.

        *facts* are what `Bert` wants and ``vocabulary``, every piece in order of its id.
        """
        self._bert = Bert(arrays, facts)
        self._epsilon = np.float32(facts["epsilon"])
        self._head = {name: array for name, array in arrays.items() if name.startswith("head")}
        self._terms = arrays["terms"]
        # One column a term, so that a block of terms is a product and a maximum over its rows.
        chosen = arrays["words"][self._terms] * arrays["words.scale"][self._terms, None]
        self._table = np.ascontiguousarray(chosen.T)
        self._vocabulary: list[str] = facts["vocabulary"]
        self._pieces = WordPiece(self._vocabulary)

    def row(self, text: str) -> SparseRow:
        """Return the `KEPT_TERMS` heaviest terms of *text*; of equal ones, those of lower id."""
        if not _readable_re.search(text):
            return SparseRow((), b"")
        ids = self._pieces.ids(text, self._bert.longest)
        bids = self._bids(np.asarray([ids]))[0]
        found = np.flatnonzero(bids > expm1(_LEAST_WEIGHT))
        weights = _weights(bids[found])
        if len(found) > KEPT_TERMS:
            heaviest = np.argsort(-weights.astype(np.int16), kind="stable")[:KEPT_TERMS]
            heaviest.sort()
            found, weights = found[heaviest], weights[heaviest]
        return SparseRow(tuple(self._terms[found].tolist()), weights.tobytes())

    def expansions(self, *, workers: int = 1, progress: Progress | None = None) -> list[Expansion]:
        """Return the strongest terms of every piece that can be a term, read on its own."""
        starts = range(0, len(self._terms), _BATCH)
        batches = mapped(self._expanded, starts, workers=workers, progress=progress)
        return [expansion for batch in batches for expansion in batch]

    def _expanded(self, start: int) -> list[Expansion]:
        pieces = self._terms[start : start + _BATCH].astype(np.int64)
        (begin, end) = self._pieces.ids("", 2)
        ids = np.column_stack([np.full_like(pieces, begin), pieces, np.full_like(pieces, end)])
        bids = self._bids(ids)
        # The least of the strongest, row by row. Without the partition, sorting is half the time.
        least = np.partition(bids, -_EXPANSIONS, axis=1)[:, -_EXPANSIONS]
        rows, places = np.nonzero(bids >= np.maximum(least, expm1(_LEAST_WEIGHT))[:, None])
        ends = np.cumsum(np.bincount(rows, minlength=len(pieces)))[:-1]
        terms, weights = self._terms[places], _weights(bids[rows, places])
        return [
            Expansion(self._vocabulary[piece], tuple(of_piece.tolist()), by_piece.tobytes())
            for piece, of_piece, by_piece in zip(
                pieces.tolist(), np.split(terms, ends), np.split(weights, ends), strict=True
            )
        ]

    def _bids(self, ids: NDArray[Any]) -> NDArray[float32]:
        """Return the highest bid for each term: float32, ``(texts, terms)``."""
        head = self._head
        hidden = self._bert.hidden(ids)
        grown = gelu(hidden @ head["head"] + head["head.bias"])
        ready = normalised(grown, head["head_norm.gain"], head["head_norm.bias"], self._epsilon)
        count, pieces, width = ready.shape
        flat = ready.reshape(-1, width)
        bids = np.empty((count, len(self._terms)), np.float32)
        for start in range(0, len(self._terms), _BLOCK):
            block = flat @ self._table[:, start : start + _BLOCK]
            np.max(block.reshape(count, pieces, -1), axis=1, out=bids[:, start : start + _BLOCK])
        bids += head["head.terms_bias"]
        return bids


def head_arrays(
    weights: Mapping[str, NDArray[Any]], vocabulary: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of the part that bids, from a masked-language checkpoint.

    Raises:
        KeyError: The checkpoint lacks an array, so it is no such model; the argument is its name.
    """
    terms = np.asarray(
        [number for number, piece in enumerate(vocabulary) if _term_re.fullmatch(piece)], "<u2"
    )
    dense = "cls.predictions.transform.dense"
    return {
        "terms": terms,
        "head": weights[f"{dense}.weight"].T.astype("<f4"),
        "head.bias": weights[f"{dense}.bias"].astype("<f4"),
        "head.terms_bias": weights["cls.predictions.bias"][terms].astype("<f4"),
        **norm_arrays(weights, "cls.predictions.transform.LayerNorm", "head_norm"),
    }


def _weights(bids: NDArray[float32]) -> NDArray[uint8]:
    weights: NDArray[uint8] = np.clip(np.rint(np.log1p(bids) * WEIGHT_SCALE), 1, 255).astype(
        np.uint8
    )
    return weights
