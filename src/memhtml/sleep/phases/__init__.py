"""The phases of sleep in their order, a module each; see `memhtml.sleep.phase` for what one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.sleep.phases import (
    arc_synthesis,
    compress,
    confidence_decay,
    integrity,
    placement_triage,
    reprieve,
    retention_triage,
    state_export,
    task_detection,
)

if TYPE_CHECKING:
    from memhtml.sleep.phase import Phase

__all__ = ["PHASES"]

PHASES: tuple[Phase, ...] = (
    confidence_decay,
    arc_synthesis,
    retention_triage,
    compress,
    reprieve,
    task_detection,
    placement_triage,
    integrity,
    state_export,
)
