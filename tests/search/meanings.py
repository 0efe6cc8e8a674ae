"""A sparse encoder whose meanings are written down, so that tests know what is like what."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from memhtml.model.ports import SparseRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.model.ports import Progress

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
