"""Encoders whose meanings are written down, so that tests know what is like what."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from memhtml.model.ports import SparseRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float32
    from numpy.typing import NDArray

    from memhtml.model.ports import Progress, TextKind

_SYNONYMS = (
    ("oven", "stove", "furnace"),
    ("bread", "loaf", "loaves", "baguette"),
    ("repair", "mend", "fix", "mended"),
    ("car", "vehicle", "lorry"),
)


class Meanings:
    """Words that stand together above are one term; every other word is a term of its own."""

    def __init__(self, space_id: str = "meanings@0") -> None:
        self.space_id = space_id
        self._terms: dict[str, int] = {}
        for number, words in enumerate(_SYNONYMS):
            self._terms |= dict.fromkeys(words, number)

    def query(self, text: str) -> dict[int, int]:
        return dict.fromkeys(self._words(text), 100)

    def encode_docs(
        self, texts: Sequence[str], *, workers: int = 1, progress: Progress | None = None
    ) -> list[SparseRow]:
        del workers, progress
        rows = []
        for text in texts:
            counts = sorted(Counter(self._words(text)).items())
            weights = bytes(min(100 * count, 255) for _, count in counts)
            rows.append(SparseRow(tuple(term for term, _ in counts), weights))
        return rows

    def _words(self, text: str) -> list[int]:
        words = re.findall(r"[a-z]{3,}", text.lower())
        return [self._terms.setdefault(word, len(self._terms) + 100) for word in words]


class DenseMeanings:
    """The same as vectors: what means the same points the same way, and all else across it."""

    dims = 512

    def __init__(self, space_id: str = "dense-meanings@0") -> None:
        self.space_id = space_id
        self.asked = 0
        self._sparse = Meanings()

    def encode(
        self, texts: Sequence[str], kind: TextKind, *, progress: Progress | None = None
    ) -> NDArray[float32]:
        del progress
        self.asked += kind == "query"
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in self._sparse.query(text):
                row[term % self.dims] += 1
        # Nothing at all still has a direction, one that nothing else has.
        rows[:, -1] += np.float32(1e-3)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
