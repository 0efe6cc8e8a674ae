from __future__ import annotations

import shlex
from pathlib import Path

from memhtml.transfer.item import ImportFormat
from tests.cli.calls import call
from tests.transfer.stores import fill

PAGE = Path(__file__).parents[2].joinpath("docs", "import-export.md").read_text(encoding="utf-8")


def test_the_session_on_the_page_goes_as_it_is_shown(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    call("init", "--repo", store)
    oven = "The oven is hot.\n\n![](plan.png)\n"
    fill(tmp_path / "notes", {"gate.md": "The gate is open.", "oven.md": oven})
    session = PAGE.partition("```console\n")[2].partition("```")[0]
    for step in session.split("$ memhtml ")[1:]:
        command, _, shown = step.partition("\n")
        argv = shlex.split(command)
        done = call(*argv, "--repo", store, cwd=tmp_path, is_terminal=True, columns=120)
        assert done.status == 0, done
        assert not shown or done.out == shown


def test_the_page_names_every_format_that_is_read() -> None:
    assert not [word for word in ImportFormat if f"`{word}`" not in PAGE]
