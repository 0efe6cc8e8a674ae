"""Recency: the newer of two memories that answer about equally well is shown first.

What counts is when a fact became news: when it happened, or else when it was written. A stamp that
curation leaves is not news (`memhtml.index.rows.FileRow.news_at`).
"""

from __future__ import annotations

from memhtml.search.days import days_between

__all__ = ["NAME", "WEIGHT", "value"]

NAME = "recency"
WEIGHT = 0.03
HALF_LIFE_DAYS = 90.0


def value(news_at: str, now: str) -> float:
    """Return 1 for news of the instant *now*, half of it for each 90 days before.

    >>> value("2026-01-01", "2026-04-01"), value("2026-01-01", "2025-01-01")
    (0.5, 1.0)
    """
    return float(0.5 ** (max(days_between(news_at, now), 0.0) / HALF_LIFE_DAYS))
