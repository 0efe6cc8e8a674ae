"""The numbers of sleep, each with where it comes from; a store may set them in its config.toml."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Settings"]


class Settings(NamedTuple):
    """See the phases for what each number decides."""

    max_merges: int = 500
    """Duplicates folded in one run: a neglected store has hundreds, and a review lists each."""
    max_findings: int = 10
    """Tasks opened in one run, over all phases (sleep format §5)."""
    protected_importance: int = 8
    """From here on a memory is never archived by age or disuse."""
    confidence_half_life_days: float = 365.0
    """In so many quiet days confidence falls half of the way to its floor."""
    confidence_hold_days: float = 30.0
    """For so long a reading, or being new, holds it where it is."""
    confidence_step: float = 0.05
    """A file is written anew only when its confidence has fallen by so much."""
    max_decays: int = 100
    """Files so rewritten in one run, or a hundredth of the memories where that is more; the curve
    does not forget, so the others follow the next night."""
    evict_after_days: float = 180.0
    """Nothing is archived for disuse before it was quiet for so long."""
    max_evictions: int = 50
    """Memories archived for disuse in one run, those worth least first; more nobody reviews."""
    max_arcs: int = 10
    """Arcs begun in one run."""
    detection_days: float = 60.0
    """What a memory says is to do opens a task while the memory is so young."""
    trace_sessions: int = 10
    """Transcripts consolidated in one run (sleep format §3)."""
    compress_after_days: float = 90.0
    """Nothing is folded into another before it was quiet for so long."""
    max_compressions: int = 25
    """Memories written in one run out of several."""
