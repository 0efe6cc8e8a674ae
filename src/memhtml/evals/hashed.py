"""An encoder that is no model: a text's row follows from its words alone, on any machine.

Each word adds 1 at one place and 0.5 at another, both read off its SHA-256; the row has unit
length. So two texts are near when they share words, the same everywhere.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from memhtml.model.ports import SparseRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memhtml.model.ports import Progress

__all__ = ["HashedWords"]

PLACES = 65_536
"""As many as a sparse space may have. With the 1,024 of the TypeScript tool, one near-twin in fifty
is lifted above its original by a word that happens to share a place with one of the question."""

_word_re = re.compile(r"[a-z0-9]+")


class HashedWords:
    """Both sides of the space."""

    space_id = "hashed-words@000000000001"

    def query(self, text: str) -> dict[int, int]:
        """Return the places of *text* with their weights, 1 to 255."""
        sums: dict[int, float] = defaultdict(float)
        for word in _word_re.findall(text.lower()):
            digest = hashlib.sha256(word.encode()).digest()
            sums[int.from_bytes(digest[:4], "big") % PLACES] += 1.0
            sums[int.from_bytes(digest[4:8], "big") % PLACES] += 0.5
        length = math.sqrt(sum(value * value for value in sums.values())) or 1.0
        return {place: max(1, round(255 * value / length)) for place, value in sums.items()}

    def encode_docs(
        self, texts: Sequence[str], *, workers: int = 1, progress: Progress | None = None
    ) -> list[SparseRow]:
        """Return one row for each text, in order."""
        del workers, progress
        rows = (sorted(self.query(text).items()) for text in texts)
        return [
            SparseRow(tuple(place for place, _ in row), bytes(weight for _, weight in row))
            for row in rows
        ]
