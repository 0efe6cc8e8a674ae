"""Where transcripts are looked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memhtml.traces.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ROOT_VARIABLE", "trace_roots"]

ROOT_VARIABLE = "MEMHTML_TRACE_ROOT"


def trace_roots(env: Mapping[str, str], *, home: str) -> tuple[str, ...]:
    """Return the folders that *env* names, or those of every agent below *home*, there or not.

    Several are separated as in ``PATH``. An agent's own variable moves its folder.

    >>> trace_roots({"CODEX_HOME": "/srv/codex"}, home="/home/ada")[:2]
    ('/home/ada/.claude', '/srv/codex')
    >>> trace_roots({"MEMHTML_TRACE_ROOT": "~/traces"}, home="/home/ada")
    ('/home/ada/traces',)
    """
    named = [part for part in env.get(ROOT_VARIABLE, "").split(os.pathsep) if part.strip()]
    if not named:
        for layout in LAYOUTS.values():
            moved = env.get(layout.HOME_VARIABLE, "").strip() if layout.HOME_VARIABLE else ""
            named.append(moved + layout.BELOW_VARIABLE if moved else f"~/{layout.HOME}")
    return tuple(dict.fromkeys(str(Path(_in(home, path)).absolute()) for path in named))


def _in(home: str, path: str) -> str:
    return home + path[1:] if path == "~" or path.startswith("~/") else path
