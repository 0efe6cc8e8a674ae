"""The agents whose transcripts can be read, one module each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.traces.layouts import claude, codex, gemini, pi

if TYPE_CHECKING:
    from memhtml.traces.layouts.layout import Layout

__all__ = ["LAYOUTS"]

LAYOUTS: dict[str, Layout] = {layout.NAME: layout for layout in (claude, codex, gemini, pi)}
"""Every layout by its name, in the order in which they are scanned."""
