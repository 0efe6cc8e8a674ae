"""Where models stand: a folder of the user's, told from the environment.

A search comes by here, and `pathlib` would cost it more than the search itself.
"""

# ruff: noqa: PTH111, PTH118 - see above

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["cache_folder"]


def cache_folder(environ: Mapping[str, str], platform: str) -> str:
    """Return the user's cache folder for us, as *platform* (``sys.platform``) has it.

    ``MEMHTML_CACHE`` names another. Nothing is created.
    """
    if chosen := environ.get("MEMHTML_CACHE"):
        return chosen
    home = os.path.expanduser(environ.get("HOME") or environ.get("USERPROFILE") or "~")
    if platform == "win32":
        base = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(base, "memhtml", "Cache")
    if platform == "darwin":
        return os.path.join(home, "Library", "Caches", "memhtml")
    return os.path.join(environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), "memhtml")
