"""Preflight: what the run has before it, and on what likeness rests; proposes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.sleep.phase import Outcome

if TYPE_CHECKING:
    from memhtml.sleep.phase import Context

__all__ = ["NAME", "NEEDS", "run"]

NAME = "preflight"
NEEDS: tuple[str, ...] = ()

_BASES = {
    "dense": "likeness by dense vectors",
    "sparse": "likeness by sparse vectors",
    "shingles": "likeness by words: no vectors cover the store (memhtml index embed makes them)",
}


def run(context: Context) -> Outcome:
    """Count the memories, and tell what the phases have to work with."""
    population = context.population
    model = "no model bound" if context.judge is None else f"model {context.judge.name}"
    return Outcome(
        counts={
            "memories": len(population.all),
            "active": len(population.active),
            "arcs": len(population.arcs),
            "tasks": len(population.tasks),
            "archived": sum(memory.archived for memory in population),
            "used": len(context.usage),
        },
        detail=f"{_BASES[context.likeness.basis]}; {model}",
    )
