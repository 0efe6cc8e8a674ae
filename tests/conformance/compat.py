"""The stated deviations, read from ``docs/compat.md``: the one place that lists them.

There, a paragraph that begins with ``Vectors:`` names vectors in backticks: an id such as
``slug_paths-004``, or ``tag crlf`` for whatever bears that tag in any folder of vectors.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

COMPAT = Path(__file__).parents[2] / "docs" / "compat.md"


class Deviations(NamedTuple):
    ids: frozenset[str]
    tags: frozenset[str]


def read_deviations(markdown: str | None = None) -> Deviations:
    if markdown is None:
        markdown = COMPAT.read_text(encoding="utf-8")
    paragraphs = re.findall(r"^Vectors:.*?(?=\n\n|\Z)", markdown, flags=re.MULTILINE | re.DOTALL)
    names = [name for paragraph in paragraphs for name in re.findall(r"`([^`]+)`", paragraph)]
    tags = frozenset(name.removeprefix("tag ") for name in names if name.startswith("tag "))
    return Deviations(frozenset(name for name in names if not name.startswith("tag ")), tags)
