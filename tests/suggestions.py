"""What is wrong with a suggestion: one that reads like a command must be one that can be run."""

from __future__ import annotations

import shlex

from memhtml.cli.parse import parse
from memhtml.model.errors import UnknownCommand, UsageError

__all__ = ["fault_of"]


def fault_of(suggestion: str) -> str | None:
    """Return why *suggestion*, which begins like a command, cannot be run; None if it can."""
    if not suggestion.isprintable():
        return f"nobody can paste {suggestion!r}"
    for line in suggestion.split(" && "):
        program = line.partition(" ")[0]
        if program not in {"memhtml", "git"}:
            continue
        try:
            words = shlex.split(line)
            if program == "memhtml":
                parse(words[1:])
        except UnknownCommand:
            continue  # one that this version lacks: the command line leaves it out
        except (UsageError, ValueError) as error:
            return f"{suggestion!r} cannot be run: {error}"
        if any("<" in word or word.endswith((",", "…")) for word in words):
            return f"{suggestion!r} has a place to fill in"
    return None
