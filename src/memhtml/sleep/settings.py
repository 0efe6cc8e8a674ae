"""The numbers of sleep, each with where it comes from; a store may set them in its config.toml."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Settings"]


class Settings(NamedTuple):
    """See the phases for what each number decides."""

    max_merges: int = 100
    """Duplicates folded in one run (sleep format §3)."""
    max_findings: int = 10
    """Tasks opened in one run, over all phases (sleep format §5)."""
    protected_importance: int = 8
    """From here on a memory is never archived by age or disuse."""
