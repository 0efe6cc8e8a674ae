"""The phases of sleep in their order, a module each; see `memhtml.sleep.phase` for what one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.sleep.phases import (
    confidence_decay,
    reprieve,
    retention_triage,
    state_export,
)

if TYPE_CHECKING:
    from memhtml.sleep.phase import Phase

__all__ = ["PHASES"]

PHASES: tuple[Phase, ...] = (
    confidence_decay,
    retention_triage,
    reprieve,
    state_export,
)
