"""Sparse scoring: a question's terms against an inverted index.

A *posting* is what one term says: the ids of the documents that carry it and, byte for byte beside
them, their weights. A score is the dot product of the question's and the document's weights; all
are whole numbers, so a sum is exact in any order and on any machine.

There are two scorers. The one in Python costs about 0.1 ms per thousand postings and nothing to
import, so a single search takes it; the one with numpy is ten times as fast and suits a process
that has numpy loaded anyway.
"""

from __future__ import annotations

import sys
from array import array
from heapq import nlargest
from itertools import chain, combinations
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from memhtml.model.ports import SparseRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy import int32
    from numpy.typing import NDArray

__all__ = [
    "Posting",
    "affordable",
    "best",
    "cosine",
    "cosines",
    "inverted",
    "pack_terms",
    "scores",
    "scores_numpy",
    "unpack_row",
]

_SWAPPED = sys.byteorder == "big"


class Posting(NamedTuple):
    """The documents that carry a term. Both fields are as they stand in the database."""

    docs: bytes
    """Document ids, unsigned 32 bits each, little-endian."""
    weights: bytes
    """Their weights, 1 to 255, one byte each."""


def pack_terms(row: SparseRow) -> bytes:
    r"""Return the terms of *row*, unsigned 16 bits each, little-endian.

    >>> pack_terms(SparseRow((1, 256), b"xx"))
    b'\x01\x00\x00\x01'
    """
    return _little("H", row.terms)


def unpack_row(terms: bytes, weights: bytes) -> SparseRow:
    r"""Return the row that `pack_terms` and its weights came from.

    >>> unpack_row(b"\x01\x00\x00\x01", b"\x07\x09")
    SparseRow(terms=(1, 256), weights=b'\x07\t')
    """
    return SparseRow(tuple(_numbers("H", terms)), weights)


def inverted(rows: Iterable[tuple[int, SparseRow]]) -> dict[int, Posting]:
    r"""Return a posting for every term of *rows*, which are document ids and what they carry.

    Terms ascend; documents stand in the order given.

    >>> inverted([(7, SparseRow((1, 2), b"ab")), (9, SparseRow((2,), b"c"))])[2]
    Posting(docs=b'\x07\x00\x00\x00\t\x00\x00\x00', weights=b'bc')
    """
    docs: dict[int, list[int]] = {}
    weights: dict[int, bytearray] = {}
    for doc, row in rows:
        for term, weight in zip(row.terms, row.weights, strict=True):
            docs.setdefault(term, []).append(doc)
            weights.setdefault(term, bytearray()).append(weight)
    return {term: Posting(_little("I", docs[term]), bytes(weights[term])) for term in sorted(docs)}


def scores(postings: Iterable[tuple[int, Posting]], size: int) -> list[int]:
    """Return the score of each document id below *size*.

    *postings* are the question's terms that the index has: each the question's weight and the
    posting. A term may come several times, once for each segment of the index.
    """
    total = [0] * size
    for weight, posting in postings:
        shares = map(weight.__mul__, posting.weights)
        for doc, share in zip(_numbers("I", posting.docs), shares, strict=True):
            total[doc] += share
    return total


def scores_numpy(postings: Iterable[tuple[int, Posting]], size: int) -> NDArray[int32]:
    """Return what `scores` returns, as int32 of shape ``(size,)``, with numpy."""
    import numpy as np  # noqa: PLC0415 - heavy, and only wanted where it is loaded anyway

    asked = list(postings)
    docs = np.frombuffer(b"".join(posting.docs for _, posting in asked), "<u4")
    weights = np.frombuffer(b"".join(posting.weights for _, posting in asked), np.uint8)
    own = np.repeat([weight for weight, _ in asked], [len(p.weights) for _, p in asked])
    # One pass over all postings. Sums of whole numbers below 2**53 are exact as floats.
    return np.bincount(docs, weights * own, size).astype(np.int32)


def best(totals: Sequence[int] | NDArray[int32], limit: int) -> list[tuple[int, int]]:
    """Return the *limit* best document ids with their scores, best first, equal ones by id.

    Documents that score zero carry no term of the question and are not among them.

    >>> best([0, 5, 9, 5], 2)
    [(2, 9), (1, 5)]
    """
    if limit <= 0:
        return []
    # What reaches the limit-th best score, and every tie with it: those are cut by id.
    if isinstance(totals, list):
        least = max(min(nlargest(limit, totals), default=0), 1)
        found = [(-score, doc) for doc, score in enumerate(totals) if score >= least]
    else:
        import numpy as np  # noqa: PLC0415 - the caller has it loaded: these are its scores

        array_ = np.asarray(totals)
        least = np.partition(array_, -limit)[-limit] if limit < len(array_) else 1
        docs = np.flatnonzero(array_ >= max(least, 1))
        found = list(zip((-array_[docs]).tolist(), docs.tolist(), strict=True))
    return [(doc, -score) for score, doc in sorted(found)[:limit]]


def affordable(query: Mapping[int, int], lengths: Mapping[int, int], budget: int) -> dict[int, int]:
    """Return the terms of *query* worth reading when *budget* postings may be read.

    Terms are taken by weight, heaviest first, until the next would pass the budget; the heaviest
    that the index has is always taken. *lengths* is how many postings each term has; terms it
    lacks are dropped.

    >>> affordable({1: 90, 2: 50, 3: 10, 4: 5}, {1: 600, 2: 300, 3: 200}, 1000)
    {1: 90, 2: 50}
    """
    taken: dict[int, int] = {}
    spent = 0
    for term, weight in sorted(query.items(), key=lambda item: (-item[1], item[0])):
        length = lengths.get(term, 0)
        if not length:
            continue
        if taken and spent + length > budget:
            break
        taken[term] = weight
        spent += length
    return taken


def cosine(left: SparseRow, right: SparseRow) -> float:
    r"""Return how alike two rows are, in ``[0, 1]``; 0 when either is empty.

    >>> round(cosine(SparseRow((1, 2), b"\x03\x04"), SparseRow((2, 5), b"\x04\x03")), 2)
    0.64
    """
    other = dict(zip(right.terms, right.weights, strict=True))
    common = sum(
        weight * other[term]
        for term, weight in zip(left.terms, left.weights, strict=True)
        if term in other
    )
    # One square root of one whole number: a row is exactly as like itself as can be.
    lengths = sum(w * w for w in left.weights) * sum(w * w for w in right.weights)
    return common / sqrt(lengths) if common else 0.0


def cosines(rows: Sequence[SparseRow]) -> list[list[float]]:
    """Return the `cosine` of each of *rows* with each."""
    if "numpy" in sys.modules:
        return _cosines_numpy(rows)
    carriers: dict[int, list[tuple[int, int]]] = {}
    for place, row in enumerate(rows):
        for term, weight in zip(row.terms, row.weights, strict=True):
            carriers.setdefault(term, []).append((place, weight))
    products = [[0] * len(rows) for _ in rows]
    for found in carriers.values():
        for (one, weight), (other, its) in combinations(found, 2):
            products[one][other] += weight * its
    squares = [sum(weight * weight for weight in row.weights) for row in rows]
    likeness = [[1.0 if own else 0.0] * len(rows) for own in squares]
    for one, other in combinations(range(len(rows)), 2):
        common = products[one][other]
        alike = common / sqrt(squares[one] * squares[other]) if common else 0.0
        likeness[one][other] = likeness[other][one] = alike
    return likeness


def _cosines_numpy(rows: Sequence[SparseRow]) -> list[list[float]]:
    import numpy as np  # noqa: PLC0415 - the caller looked whether it is loaded

    if not rows:
        return []
    terms = np.fromiter(chain.from_iterable(row.terms for row in rows), np.int64)
    columns = np.unique(terms, return_inverse=True)[1]
    places = np.repeat(np.arange(len(rows)), [len(row.terms) for row in rows])
    table = np.zeros((len(rows), int(columns.max(initial=0)) + 1))
    table[places, columns] = np.frombuffer(b"".join(row.weights for row in rows), np.uint8)
    products = table @ table.T
    squares = products.diagonal()
    lengths = np.sqrt(np.outer(squares, squares))
    found: list[list[float]] = np.divide(
        products, lengths, out=np.zeros_like(products), where=products > 0
    ).tolist()
    return found


def _little(code: str, numbers: Iterable[int]) -> bytes:
    packed = array(code, numbers)
    if _SWAPPED:
        packed.byteswap()
    return packed.tobytes()


def _numbers(code: str, data: bytes) -> Sequence[int]:
    if not _SWAPPED:
        # A view: the bytes SQLite handed over are read where they lie.
        return memoryview(data).cast(code)  # type: ignore[call-overload, no-any-return]  # a code in a variable
    numbers = array(code, data)
    numbers.byteswap()
    return numbers
