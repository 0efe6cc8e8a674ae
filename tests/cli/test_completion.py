from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from memhtml.cli.command import GLOBAL_FLAGS
from memhtml.cli.commands import every_command
from memhtml.cli.shells import SCRIPTS
from tests.cli.calls import call

if TYPE_CHECKING:
    from pathlib import Path

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


def complete(*words: str, cwd: Path | str = ".") -> list[str]:
    """Return what bash offers for the last of *words*."""
    script = (
        SCRIPTS["bash"]()
        + '\nCOMP_WORDS=(memhtml "$@"); COMP_CWORD=$#; _memhtml; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    ran = subprocess.run(
        ["bash", "-c", script, "bash", *words], capture_output=True, check=True, cwd=cwd
    )
    assert ran.stderr == b""
    return ran.stdout.decode().split()


@needs_bash
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sea"], ["search"]),
        (["index", ""], ["rebuild", "update", "embed", "status"]),
        (["--repo", "/x", "index", "re"], ["rebuild"]),
        (["search", "q", "--include"], ["--include-archived"]),
        (["search", "q", "--type", "e"], ["episodic", "error_pattern"]),
        (["write", "--status", "d"], ["doing", "done"]),
        (["search", "q", "--limit", ""], []),
        (["completion", "f"], ["fish"]),
        (["index", "status", "--de"], ["--dense"]),
    ],
)
def test_bash_offers_what_the_table_has(words: list[str], offered: list[str]) -> None:
    assert complete(*words) == offered


@needs_bash
def test_bash_offers_files_to_check_and_folders_for_a_store(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "note.html").touch()
    assert sorted(complete("check", "no", cwd=tmp_path)) == ["note.html", "notes"]
    assert complete("status", "--repo", "no", cwd=tmp_path) == ["notes"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_script_knows_every_command_and_flag(shell: str) -> None:
    result = call("completion", shell)
    assert result.out == SCRIPTS[shell]()
    spelled = "-l {}" if shell == "fish" else "--{}"
    for command in every_command():
        assert all(word in result.out for word in command.name.split())
        for flag in (*command.flags, *GLOBAL_FLAGS):
            assert spelled.format(flag.name) in result.out
    assert call("completion", shell, "--json").data == {"shell": shell, "script": result.out}


def test_a_tab_does_not_wait_for_a_large_index_to_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh clone of 20,000 memories kept a shell waiting for 13 seconds."""
    monkeypatch.setattr("memhtml.cli.commands.complete._MOST_READ", 1)
    repo = ("--repo", str(tmp_path / "store"))
    call("init", *repo)
    for name in ("east", "west"):
        stated = ("write", "--type=semantic", f"--title=Gate {name}", f"--claim=It is {name}.")
        call(*stated, "--workspace=barn", "--tag=yard", *repo)
    cache = tmp_path / "store" / ".memhtml" / "cache"
    (cache / "index.db").unlink()
    words = call("complete", "memory", "projects/barn/gate-e", *repo, "--json").data["words"]
    assert words == ["projects/barn/gate-east.html"]
    assert call("complete", "workspace", *repo, "--json").data["words"] == ["barn"]
    assert call("complete", "tag", *repo, "--json").json["code"] == "ERR_INDEX_STALE"
    assert call("index", "rebuild", *repo).status == 0
    assert call("complete", "tag", *repo, "--json").data["words"] == ["yard"]


def test_words_of_a_store_are_listed_by_their_beginning(tmp_path: Path) -> None:
    repo = ("--repo", str(tmp_path / "store"))
    call("init", *repo)
    stated = ("write", "--type=semantic", "--title=Gate", "--claim=It is green.", "--tag=yard")
    path = call(*stated, "--workspace=barn", "--entity=place:Gate", *repo).data["path"]
    for argv, words in (
        (["memory", ""], ["projects/barn/gate.html"]),
        (["memory", "areas/"], []),
        (["tag", "y"], ["yard"]),
        (["entity"], ["place:Gate"]),
        (["workspace", "b"], ["barn"]),
    ):
        assert call("complete", *argv, "--json", *repo).data["words"] == words, argv
        assert call("complete", *argv, *repo).out == "".join(f"{word}\n" for word in words)
    assert path == "projects/barn/gate.html"
    none = call("complete", "tag", "--text", "--repo", str(tmp_path / "none"))
    assert (none.status, none.out) == (1, "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_every_script_is_good_syntax_to_its_shell(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell]())
    subprocess.run([program, "-n", str(script)], check=True)
