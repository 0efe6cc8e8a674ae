"""How much of a safety test runs: a short form in ``make test``, all of it in ``make soak``."""

from __future__ import annotations

import os
from typing import TypeVar

__all__ = ["SOAK", "scaled"]

T = TypeVar("T")

SOAK = os.environ.get("MEMHTML_SOAK") == "1"


def scaled(short: T, full: T) -> T:
    return full if SOAK else short
