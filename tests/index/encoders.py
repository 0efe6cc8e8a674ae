"""Encoders that are no models: a text's row follows from its words alone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from memhtml.model.ports import SparseRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.model.ports import Progress


def term(word: str) -> int:
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:2], "big")


class WordEncoder:
    """A term for each word, weighing its length; and what it was asked to encode."""

    def __init__(self, space_id: str = "words@000000000001") -> None:
        self.space_id = space_id
        self.encoded: list[str] = []

    def query(self, text: str) -> dict[int, int]:
        return {term(word): 1 for word in text.lower().split()}

    def encode_docs(
        self, texts: Sequence[str], *, workers: int = 1, progress: Progress | None = None
    ) -> list[SparseRow]:
        del workers, progress
        self.encoded += texts
        return [self.row(text) for text in texts]

    @staticmethod
    def row(text: str) -> SparseRow:
        weights = {term(word): min(len(word), 255) for word in text.lower().split()}
        terms = tuple(sorted(weights))
        return SparseRow(terms, bytes(weights[t] for t in terms))
