"""Dense vectors as bytes and back, and the arithmetic of unit rows.

Vectors are float32, little-endian, back to back. Stored one to a row, 100,000 of them take ten
times as long to read as in *pages* of 1,024: a page is what a long-lived process loads, while a
single search reads only the rows of its few candidates and can do without numpy.
"""

from __future__ import annotations

import sys
from array import array
from math import fsum, sqrt
from typing import TYPE_CHECKING

from memhtml.model.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy import float32
    from numpy.typing import NDArray

__all__ = ["PAGE_ROWS", "dot", "matrix", "nearest", "pack", "paged", "unit", "unit_rows", "unpack"]

PAGE_ROWS = 1024

_SWAPPED = sys.byteorder == "big"


def pack(values: Iterable[float]) -> bytes:
    r"""Return *values* as float32, little-endian.

    >>> pack([1.0])
    b'\x00\x00\x80?'
    """
    packed = array("f", values)
    if _SWAPPED:
        packed.byteswap()
    return packed.tobytes()


def unpack(data: bytes) -> array[float]:
    """Return the values that `pack` got, rounded to float32.

    >>> unpack(pack([0.5, -2.0])).tolist()
    [0.5, -2.0]
    """
    values = array("f", data)
    if _SWAPPED:
        values.byteswap()
    return values


def paged(rows: NDArray[float32], page_rows: int = PAGE_ROWS) -> Iterator[bytes]:
    """Yield *rows*, ``(n, dims)``, as pages of *page_rows* rows; the last may be shorter."""
    for start in range(0, len(rows), page_rows):
        yield rows[start : start + page_rows].astype("<f4").tobytes()


def matrix(pages: Iterable[bytes], dims: int) -> NDArray[float32]:
    """Return the rows of *pages* in order: float32, ``(n, dims)``, writable."""
    import numpy as np  # noqa: PLC0415 - heavy, and only wanted where it is loaded anyway

    return np.frombuffer(bytearray().join(pages), "<f4").reshape(-1, dims)


def nearest(rows: NDArray[float32], query: NDArray[float32], limit: int) -> list[tuple[int, float]]:
    """Return the *limit* rows with the highest dot product, best first, equal ones by row.

    *rows* is ``(n, dims)`` and *query* ``(dims,)``, both of unit length, so that it is a cosine.
    """
    import numpy as np  # noqa: PLC0415 - heavy, and only wanted where it is loaded anyway

    cosines = rows @ query
    found = np.arange(len(cosines))
    if 0 < limit < len(cosines):
        # Everything that reaches the limit-th best, so that ties are cut by row below.
        found = np.flatnonzero(cosines >= np.partition(cosines, -limit)[-limit])
    order = np.lexsort((found, -cosines[found]))[: max(limit, 0)]
    return [(int(row), float(cosines[row])) for row in found[order]]


def unit_rows(answer: object, count: int, dims: int, *, model: str) -> NDArray[float32]:
    """Return what *model* answered to *count* texts as float32, ``(count, dims)``, of unit length.

    Rows that are of unit length already come back as they are, to the bit.

    Raises:
        ModelUnavailable: It is of another shape, or has a row without a direction.
    """
    import numpy as np  # noqa: PLC0415 - heavy, and only wanted where it is loaded anyway

    try:
        rows = np.asarray(answer, np.float32)
    except (ValueError, TypeError) as error:
        reason = "its answer is not a list of vectors of equal width"
        raise ModelUnavailable(model, reason) from error
    if rows.shape != (count, dims):
        reason = f"asked for {count} x {dims} numbers, it answered {rows.shape}"
        raise ModelUnavailable(model, reason)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise ModelUnavailable(model, "it answered a vector without a direction")
    is_unit = bool((abs(lengths - 1) < 1e-5).all())
    found: NDArray[float32] = rows if is_unit else rows / lengths
    return found


def unit(values: Sequence[float]) -> list[float]:
    """Return *values* scaled to length 1; a vector of zeros stays as it is.

    >>> unit([3.0, 4.0])
    [0.6, 0.8]
    """
    length = sqrt(fsum(value * value for value in values))
    return [value / length for value in values] if length else list(values)


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the dot product; of unit vectors it is their cosine.

    >>> dot([0.6, 0.8], [0.8, 0.6])
    0.96
    """
    return fsum(a * b for a, b in zip(left, right, strict=True))
