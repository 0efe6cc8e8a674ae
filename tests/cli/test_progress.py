from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from memhtml.cli.command import Call
from memhtml.cli.commands import command_named
from memhtml.cli.progress import progress_bar
from memhtml.cli.world import World
from tests.cli.terminals import plain

if TYPE_CHECKING:
    from collections.abc import Mapping


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def call_of(
    clock: Clock,
    *,
    is_watched: bool = True,
    env: Mapping[str, str] | None = None,
    json: bool = False,
) -> tuple[Call, io.StringIO]:
    stderr = io.StringIO()
    world = World(
        env=env or {},
        cwd="/",
        stdin=io.BytesIO(),
        stdout=io.StringIO(),
        stderr=stderr,
        now=clock,
        is_watched=is_watched,
    )
    return Call(command_named("doctor"), {"json": json, "dense": False}, world), stderr


def test_what_takes_a_while_has_a_bar_that_goes_away() -> None:
    clock = Clock()
    call, stderr = call_of(clock)
    with progress_bar(call, "examining") as tell:
        assert tell is not None
        tell(1, 200)
        assert stderr.getvalue() == ""
        clock.now = 0.6
        tell(150, 200)
    assert "examining" in plain(stderr.getvalue())
    assert "150/200" in stderr.getvalue()
    assert stderr.getvalue().endswith("\x1b[2K")
    assert "\x1b[3" not in stderr.getvalue().replace("\x1b[?25", "")


@pytest.mark.parametrize(
    ("is_watched", "env", "json"),
    [(False, {}, False), (True, {"TERM": "dumb"}, False), (True, {}, True)],
)
def test_nobody_who_does_not_watch_gets_a_bar(
    is_watched: bool, env: dict[str, str], json: bool
) -> None:
    call, stderr = call_of(Clock(), is_watched=is_watched, env=env, json=json)
    with progress_bar(call, "examining") as tell:
        assert tell is None
    assert stderr.getvalue() == ""
