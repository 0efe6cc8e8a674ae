"""One call of the command line inside this process, with everything outside made up."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.cli.main import main
from memhtml.cli.world import World

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["NOON", "Result", "call"]

NOON = 1_798_804_800.0
"""2027-01-01T12:00:00Z, when these calls are made."""


class Result(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        document = json.loads(self.out)
        assert isinstance(document, dict)
        assert document["apiVersion"] == "1"
        return document

    @property
    def data(self) -> dict[str, Any]:
        """The data of a success."""
        assert set(self.json) == {"apiVersion", "type", "data"}, self.out
        data = self.json["data"]
        assert isinstance(data, dict)
        return data


def call(
    *argv: str,
    cwd: Path | str = ".",
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    is_terminal: bool = False,
    columns: int = 80,
    has_colour: bool = False,
    encoding: str = "utf-8",
) -> Result:
    """Run ``memhtml *argv`` and return what it printed."""
    out, err = io.BytesIO(), io.BytesIO()
    stdout = io.TextIOWrapper(out, encoding=encoding, errors="replace", newline="")
    stderr = io.TextIOWrapper(err, encoding="utf-8", newline="")
    world = World(
        env={**os.environ, **(env or {})},
        cwd=str(Path(cwd).resolve()),
        stdin=io.BytesIO(stdin),
        stdout=stdout,
        stderr=stderr,
        now=lambda: NOON,
        is_terminal=is_terminal,
        columns=columns,
        has_colour=has_colour,
    )
    status = main(argv, world)
    stdout.flush()
    stderr.flush()
    return Result(status, out.getvalue().decode(encoding), err.getvalue().decode())
