"""How long a memory has been quiet: neither news nor used.

Age counts from content: from when a fact happened or was said, whichever is later, for what is
written today about last year is young. The stamps that curation leaves say nothing about age.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.model.instants import stamp
from memhtml.search.days import days_between

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from memhtml.index.usage import Usage
    from memhtml.sleep.population import Live

__all__ = ["is_pinned", "last_stir", "last_use", "quiet_days"]

PIN = "pinned"
"""The tag with which a person keeps a memory where it is."""


def last_use(usage: Usage | None) -> str | None:
    """Return when a memory last served somebody; one that served badly was not used."""
    if usage is None or usage.outcome_score < 0:
        return None
    return max(filter(None, (usage.last_accessed_at, usage.last_reinforced_at)), default=None)


def last_stir(memory: Live, usage: Usage | None) -> str:
    """Return when *memory* was last news or last used."""
    return max(memory.news_at, memory.created_at, last_use(usage) or "")


def quiet_days(memory: Live, usage: Mapping[str, Usage], now: datetime) -> float:
    """Return for how many days *memory* has been quiet; negative for what is still to come."""
    return days_between(last_stir(memory, usage.get(memory.path)), stamp(now))


def is_pinned(memory: Live) -> bool:
    """Whether a person asked to keep *memory* where it is."""
    return any(tag.casefold() == PIN for tag in memory.tags)
