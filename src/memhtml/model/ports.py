"""Ports: what we need of encoders, as small protocols.

Two kinds of vectors exist. A *sparse* row is a handful of weighted vocabulary terms and is scored
over an inverted index; a *dense* row is a unit vector of fixed width. Either lives in one *vector
space*, named by `space_id`: rows of another space do not exist for a reader, and are never mixed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float32
    from numpy.typing import NDArray

__all__ = ["DenseEncoder", "Progress", "SparseEncoder", "SparseQueries", "SparseRow", "TextKind"]

TextKind = Literal["document", "query"]
"""Some models encode a question otherwise than the text that answers it."""


class Progress(Protocol):
    """Told about long work as it goes on; it may raise to stop it."""

    def __call__(self, done: int, total: int, /) -> None:
        """*done* of *total* pieces of work are finished."""


class SparseRow(NamedTuple):
    """What one text is about: its strongest vocabulary terms and their weights."""

    terms: tuple[int, ...]
    """Term ids, ascending, each below 65,536."""
    weights: bytes
    """One weight of 1 to 255 for each term, in the same order."""


class SparseQueries(Protocol):
    """The question side of a sparse space. It needs no model and no array library."""

    @property
    def space_id(self) -> str:
        """Name of the vector space: the model's name and 12 hex digits of its weights' hash."""

    def query(self, text: str) -> dict[int, int]:
        """Return the terms that *text* asks about, each with a weight of 1 to 255.

        Empty when no word of it is known to the model.
        """


class SparseEncoder(SparseQueries, Protocol):
    """Both sides of a sparse space."""

    def encode_docs(
        self, texts: Sequence[str], *, workers: int = 1, progress: Progress | None = None
    ) -> list[SparseRow]:
        """Return one row for each text, in order.

        A row depends on its own text alone, whatever it is encoded beside and by how many
        *workers* (threads).

        Raises:
            ModelUnavailable: The model could not answer.
        """


class DenseEncoder(Protocol):
    """Texts as unit vectors, so that a dot product is a cosine."""

    @property
    def space_id(self) -> str:
        """Name of the vector space; see `SparseQueries.space_id`."""

    @property
    def dims(self) -> int:
        """Width of a row."""

    def encode(
        self, texts: Sequence[str], kind: TextKind, *, progress: Progress | None = None
    ) -> NDArray[float32]:
        """Return float32 rows of unit length, shape ``(len(texts), dims)``, in order.

        Raises:
            ModelUnavailable: The model could not answer, or answered with another shape.
        """
