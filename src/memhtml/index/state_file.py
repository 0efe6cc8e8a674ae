"""Where the state plane stands, for who only asks whether there is one.

Most stores that are searched have none, and `memhtml.index.usage` costs a cold search 2 ms.
"""

from __future__ import annotations

import os

from memhtml.index.database import cache_folder

__all__ = ["has_usage", "state_path"]


def state_path(root: str) -> str:
    """Return where the state plane of the store at *root* stands, if it does."""
    return f"{cache_folder(root)}/state.db"


def has_usage(root: str) -> bool:
    """Tell whether the store at *root* has a state plane, made by us so far."""
    try:
        os.stat(state_path(root))  # noqa: PTH116 - a search asks, and pathlib costs a cold one 5 ms
    except OSError:
        return False
    return True
