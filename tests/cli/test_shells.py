"""Real shells, driven by their keys: what a Tab puts on the line (cli.md §7.11: there was none)."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are a thing of POSIX", allow_module_level=True)

from memhtml.cli.shells import SCRIPTS
from tests.cli.calls import call
from tests.cli.terminals import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GATE = "areas/inbox/gate-hours.html"
START = {
    "bash": ("--norc", "--noprofile", "-i"),
    "zsh": ("-f", "-i"),
    "fish": ("--no-config", "--interactive"),
}
READY = {
    "bash": "PS1='%% '; bind 'set enable-bracketed-paste off'; source {script}\n",
    "zsh": (
        "PROMPT='%%%% '; unset zle_bracketed_paste; autoload -Uz compinit; "
        "compinit -u -d {folder}/dump; source {script}\n"
    ),
    "fish": "function fish_prompt; echo -n '%% '; end; source {script}\n",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, and a folder with a memhtml to be found in PATH."""
    folder = tmp_path_factory.mktemp("shells")
    repo = ("--repo", str(folder / "store"))
    assert call("init", *repo).status == 0
    for number, (title, path) in enumerate(
        (("Gate hours", GATE), ("Gate keeper", "areas/inbox/gate-keeper.html"))
    ):
        stated = ("write", "--type=semantic", f"--title={title}", f"--claim=It is {number}.")
        labels = ("--tag=harbour", "--entity=person:Ada Lindqvist", f"--path={path}")
        assert call(*stated, *labels, *repo).status == 0
    tools = folder / "bin"
    tools.mkdir()
    program = tools / "memhtml"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m memhtml \"$@\"\n")
    program.chmod(0o755)
    return folder


@pytest.fixture(params=list(SCRIPTS))
def shell(request: pytest.FixtureRequest, bench: Path) -> Iterator[Terminal]:
    name = request.param
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"COMPLETION WAS NOT TRIED: there is no {name} here")
    script = bench / f"script.{name}"
    script.write_text(SCRIPTS[name]())
    env = {
        "PATH": f"{bench / 'bin'}:/usr/bin:/bin",
        "MEMHTML_ROOT": str(bench / "store"),
        "HOME": str(bench),
        "XDG_DATA_HOME": str(bench),
        "XDG_CONFIG_HOME": str(bench),
    }
    with Terminal(program, *START[name], cwd=bench, env=env, columns=200) as terminal:
        terminal.type(READY[name].format(script=script, folder=bench))
        terminal.type("echo READY-$((1+1))\n" if name != "fish" else "echo READY-(math 1+1)\n")
        terminal.expect("READY-2")
        terminal.expect("% ")
        yield terminal


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("memhtml sea", "memhtml search "),
        ("memhtml index reb", "memhtml index rebuild "),
        ("memhtml search x --include", "memhtml search x --include-archived "),
        ("memhtml search x --type proc", "memhtml search x --type procedural "),
        ("memhtml read are", "memhtml read areas/inbox/gate-"),  # as far as both go
        ("memhtml read areas/inbox/gate-h", f"memhtml read {GATE} "),
        ("memhtml read ./areas/inbox/gate-h", f"memhtml read ./{GATE} "),
        ("memhtml reinforce areas/inbox/gate-h", f"memhtml reinforce {GATE} "),
        ("memhtml search x --tag har", "memhtml search x --tag harbour "),
        ("memhtml search x --not-tag har", "memhtml search x --not-tag harbour "),
        ("memhtml list --entity person:Ad", "memhtml list --entity person:Ada\\ Lindqvist "),
        ("memhtml list --entity=person:Ad", "memhtml list --entity=person:Ada\\ Lindqvist "),
    ],
)
def test_a_tab_completes_commands_flags_and_words_of_the_store(
    shell: Terminal, typed: str, completed: str
) -> None:
    shell.forget()
    shell.type(f"{typed}\t")
    # What stands on the line then is shown again, with quotes around it, by the shell itself.
    shell.type("\x01echo '\x05'\n")
    shell.expect(f"\n{completed.rstrip()}", seconds=10)


def test_a_folder_is_completed_without_a_space_and_a_store_that_is_named_is_asked(
    shell: Terminal, bench: Path
) -> None:
    shell.forget()
    shell.type(f"memhtml --repo {bench / 'store'} read ar\t\x01echo '\x05x'\n")
    shell.expect("read areas/inbox/gate-x", seconds=10)
    shell.forget()
    shell.type("memhtml --repo /nowhere read ar\t\x01echo '\x05x'\n")
    shell.expect("read arx", seconds=10)
    assert "error" not in shell.seen


def test_a_word_of_the_store_that_is_a_command_is_never_run(shell: Terminal, bench: Path) -> None:
    """Tags come from agents: one that is a command must stay a word, on Tab and on Enter."""
    harmed = bench / "harmed"
    tags = (f"$(touch {harmed})", f"';touch {harmed};'", f"`touch {harmed}`", f"x;touch {harmed}")
    store = bench / "hostile"
    if not store.exists():
        assert call("init", "--repo", str(store)).status == 0
        stated = ("write", "--type=semantic", "--title=Gate", "--claim=It is red.")
        flags = [f"--tag={tag}" for tag in tags]
        assert call(*stated, *flags, "--repo", str(store)).status == 0
        assert call("complete", "tag", "--repo", str(store)).out.splitlines() == sorted(tags)
    for begun in ("$", "'", "`", "x"):
        shell.forget()
        shell.type(f"memhtml --repo {store} search x --tag {begun}\t")
        shell.shows("harmed", seconds=1)
        shell.type("\n\x03")
        shell.shows("harmed is made", seconds=0.5)
    assert not harmed.exists()
