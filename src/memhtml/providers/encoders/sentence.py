"""Sentence vectors: a text as the mean of what a BERT model makes of its pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memhtml.providers.encoders.arrays import np
from memhtml.providers.encoders.bert import Bert
from memhtml.providers.encoders.parallel import mapped
from memhtml.providers.encoders.wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy import float32
    from numpy.typing import NDArray

    from memhtml.model.ports import Progress, TextKind

__all__ = ["SentenceEncoder"]


class SentenceEncoder:
    """A dense encoder (`memhtml.model.ports.DenseEncoder`)."""

    def __init__(
        self, space_id: str, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
    ) -> None:
        """*arrays* are what `bert.compact` made; *facts* what `Bert` wants, and ``vocabulary``."""
        self.space_id = space_id
        self.dims = int(arrays["places"].shape[1])
        self._bert = Bert(arrays, facts)
        self._pieces = WordPiece(facts["vocabulary"])

    def encode(
        self, texts: Sequence[str], kind: TextKind, *, progress: Progress | None = None
    ) -> NDArray[float32]:
        """Return unit rows, float32, ``(len(texts), dims)``; see `DenseEncoder.encode`.

        The model reads questions and documents alike, so *kind* changes nothing. A text is read as
        far as the model can, 512 word pieces or some 2,000 characters.
        """
        del kind
        rows = mapped(self._row, texts, progress=progress)
        return np.asarray(rows, np.float32).reshape(len(texts), self.dims)

    def _row(self, text: str) -> NDArray[float32]:
        ids = self._pieces.ids(text, self._bert.longest)
        mean = self._bert.hidden(np.asarray([ids]))[0].mean(0)
        row: NDArray[float32] = mean / np.linalg.norm(mean)
        return row
