"""The version, as a literal: asking the installed metadata costs more than the whole command."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.1.0"
