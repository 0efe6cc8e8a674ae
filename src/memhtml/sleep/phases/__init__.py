"""The phases of sleep in their order, a module each; see `memhtml.sleep.phase` for what one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.sleep.phases import (
    arc_synthesis,
    compress,
    confidence_decay,
    dedup_merge,
    edge_typing,
    entity_resolution,
    integrity,
    person_links,
    placement_triage,
    preflight,
    relationship_mining,
    reprieve,
    retention_triage,
    state_export,
    task_detection,
    trace_consolidation,
)

if TYPE_CHECKING:
    from memhtml.sleep.phase import Phase

__all__ = ["PHASES"]

PHASES: tuple[Phase, ...] = (
    preflight,
    dedup_merge,
    entity_resolution,
    person_links,
    relationship_mining,
    edge_typing,
    confidence_decay,
    arc_synthesis,
    retention_triage,
    compress,
    reprieve,
    trace_consolidation,
    task_detection,
    placement_triage,
    integrity,
    state_export,
)
