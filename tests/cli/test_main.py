from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from memhtml.cli import main as main_module
from memhtml.cli.commands import MODULES, every_command
from memhtml.cli.envelope import ERROR_CODES, RESPONSE_TYPES, Success, failure_of
from memhtml.cli.parse import parse
from memhtml.cli.world import World, store_root
from memhtml.model import errors
from memhtml.model.version import VERSION
from tests.cli.calls import NOON, call
from tests.suggestions import fault_of

ROOT = Path(__file__).parents[2]


def spawn(
    *argv: str, env: dict[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "memhtml", *argv],
        env={**os.environ, **(env or {})},
        input=stdin,
        capture_output=True,
        check=False,
    )


def test_the_version_is_the_packages() -> None:
    package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert package["project"]["version"] == VERSION
    assert spawn("--version").stdout.decode().split() == ["memhtml", VERSION]
    assert call("--version").out == f"memhtml {VERSION}\n"
    assert call("search", "--version", "--json").status == 2
    assert call("--version", "--json").data == {"name": "memhtml", "version": VERSION}


def test_version_imports_three_modules_of_ours_and_none_that_python_does_not_start_with() -> None:
    script = "import sys; print(*sorted(sys.modules))"
    plain = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    probe = (
        "import sys; sys.argv = ['memhtml', '--version']; import memhtml.__main__ as m; m.run(); "
        + script
    )
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True)
    added = set(ran.stdout.decode().split()) - set(plain.stdout.decode().split())
    assert added - {"memhtml", VERSION} == {
        "memhtml.__main__",
        "memhtml.model",
        "memhtml.model.version",
        "__future__",
    }


def test_one_command_imports_no_other_and_nothing_heavy() -> None:
    probe = (
        "import sys\n"
        "from memhtml.cli.parse import parse\n"
        "assert parse(['search', 'q']).command.name == 'search'\n"
        "print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True)
    loaded = set(ran.stdout.decode().split())
    ours = {name for name in loaded if name.startswith("memhtml.cli.commands.")}
    assert ours == {"memhtml.cli.commands.search"}
    heavy = {
        "argparse",
        "rich",
        "numpy",
        "turbohtml",
        "logging",
        "asyncio",
        "subprocess",
        "pathlib",
    }
    assert not heavy & loaded
    assert not {"memhtml.format", "memhtml.cli.views", "memhtml.cli.screen"} & loaded


def test_every_error_class_has_a_code_that_the_manifest_names() -> None:
    for name in errors.__all__:
        assert getattr(errors, name).code in ERROR_CODES, name


def test_every_response_type_of_a_command_is_named_and_every_named_one_is_used() -> None:
    used = {name for command in every_command() for name in command.response_types}
    assert used | {"cli.version"} == set(RESPONSE_TYPES)
    for command in every_command():
        assert set(command.errors) <= set(ERROR_CODES)


def test_a_pipe_gets_one_json_document_and_a_terminal_text() -> None:
    assert call("manifest").json["type"] == "cli.manifest"
    assert call("manifest", is_terminal=True).out.startswith("memhtml  Long-term memory")
    assert call("manifest", "--json", is_terminal=True).json["type"] == "cli.manifest"
    assert call("manifest", "--json=true", is_terminal=True).json["type"] == "cli.manifest"
    assert call("manifest", "--json=false", is_terminal=True).out.startswith("memhtml  Long")
    assert call("manifest", "--text").out.startswith("memhtml  Long-term memory")


def test_dense_is_one_line_without_null_members() -> None:
    result = call("help", "search", "--dense")
    assert result.out.count("\n") == 1
    assert ":null" not in result.out
    assert json.loads(result.out)["data"]["name"] == "search"
    pretty = call("help", "search", "--json").out
    assert '\n  "type": "cli.help"' in pretty
    assert '"default": null' in pretty


def test_a_failure_in_a_pipe_is_an_envelope_and_on_a_terminal_a_message_with_hints() -> None:
    piped = call("publsih", "x")
    assert (piped.status, piped.err) == (2, "")
    assert piped.json == {
        "apiVersion": "1",
        "error": "there is no command 'publsih'; did you mean publish?",
        "code": "ERR_UNKNOWN_COMMAND",
        "suggestions": ["use publish in place of publsih", "memhtml help"],
    }
    shown = call("publsih", "x", is_terminal=True)
    assert (shown.status, shown.out) == (2, "")
    assert shown.err.splitlines() == [
        "error: there is no command 'publsih'; did you mean publish?",
        " hint: use publish in place of publsih",
        " hint: memhtml help",
    ]


def test_text_and_json_at_once_are_refused() -> None:
    assert call("manifest", "--text", "--json").json["code"] == "ERR_INVALID_FLAG"


def test_a_fault_of_ours_is_answered_and_its_traceback_goes_to_stderr(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def explode(_: object) -> Success:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(main_module, "run", explode)
    result = call("manifest")
    assert (result.status, result.json["code"]) == (1, "ERR_UNKNOWN")
    assert "ZeroDivisionError" in result.json["error"]
    assert result.err.startswith("Traceback")


def test_an_operating_system_error_is_a_storage_failure_that_names_the_file() -> None:
    failure = failure_of(PermissionError(13, "Permission denied", "/some/where"))
    assert (failure.code, failure.exit_status) == ("ERR_STORAGE", 1)
    assert failure.error == "Permission denied: '/some/where'"


def test_an_interrupt_ends_with_130_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> Success:
        raise KeyboardInterrupt

    monkeypatch.setattr(main_module, "run", interrupt)
    assert call("manifest")[:] == (130, "", "\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are not sent so there")
def test_a_real_interrupt_leaves_no_traceback() -> None:
    read, write = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "memhtml", "check", "-"],
        stdin=read,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(read)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    os.close(write)
    assert (process.returncode, out, err) == (130, b"", b"\n")


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{shlex.quote(sys.executable)} -m memhtml manifest | head -c 10"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert (ran.stdout, ran.stderr) == (b'{\n  "apiVe', b"")
    closed = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        check=False,
    )
    assert closed.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device here")
def test_an_answer_that_cannot_be_printed_is_an_error_in_one_line() -> None:
    command = f"{shlex.quote(sys.executable)} -m memhtml manifest > /dev/full"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert ran.stderr == b"error: the answer cannot be printed: No space left on device\n"
    assert ran.returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_streams_that_were_closed_before_the_start_are_no_error_to_who_needs_none() -> None:
    for closed in ("<&-", "2>&-", "<&- 2>&-"):
        command = f"{shlex.quote(sys.executable)} -m memhtml manifest {closed}"
        ran = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, b""), closed


def test_a_pipe_that_closes_early_ends_with_141() -> None:
    class Closed(io.StringIO):
        encoding = "utf-8"

        def write(self, _: str) -> int:
            raise BrokenPipeError

    world = World(
        env={},
        cwd="/",
        stdin=io.BytesIO(),
        stdout=Closed(),
        stderr=io.StringIO(),
        now=lambda: NOON,
    )
    assert main_module.main(["manifest"], world) == 141


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_every_encoding_carries_the_same_json(encoding: str) -> None:
    result = call("日本語", encoding=encoding)
    assert result.json["error"].startswith("there is no command '日本語'")
    assert ("日本語" in result.out) is (encoding == "utf-8")


def test_a_console_of_one_alphabet_shows_what_it_can() -> None:
    ran = spawn("help", "--text", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (ran.returncode, ran.stderr) == (0, b"")
    ran = spawn("read", "--text", "語", "語", env={"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"})
    assert ran.returncode == 2
    assert b"'?' is one word more" in ran.stderr


def test_every_suggestion_of_a_usage_error_that_is_a_command_can_be_run() -> None:
    for line in (
        "serach x",
        "index",
        "index rebuld",
        "help index",
        "read",
        "read a b",
        "search q --limt 3",
        "write --title t --type task",
        "write --title t --type semantic --claim c --due 2026-01-01",
    ):
        for suggestion in call(*shlex.split(line)).json["suggestions"]:
            words = shlex.split(suggestion)
            assert words[0] == "memhtml", (line, suggestion)
            if words[1:] != ["help"]:
                parse(words[1:] if words[1] != "check" else ["check"])


def test_a_store_is_named_by_flag_then_variable_then_default(tmp_path: Path) -> None:
    at = str(tmp_path)
    home = {"HOME": at}
    assert store_root("here", {"MEMHTML_ROOT": "/else"}, at) == str(tmp_path / "here")
    assert store_root(None, {"MEMHTML_ROOT": "~/mine", **home}, "/") == str(tmp_path / "mine")
    with pytest.raises(errors.InvalidFlag):
        store_root(" ", {"MEMHTML_ROOT": "/else"}, at)
    assert store_root(None, {"MEMHTML_ROOT": " ", **home}, "/") == str(tmp_path / "memhtml")


@pytest.mark.parametrize("value", ["1", "yes", "anything"])
def test_a_default_store_can_be_forbidden(value: str) -> None:
    env = {"MEMHTML_REFUSE_ENV_ROOT": value, "MEMHTML_ROOT": "/somewhere"}
    with pytest.raises(errors.RepoRequired):
        store_root(None, env, "/")
    assert store_root("/named", env, "/") == str(Path("/named").absolute())


@pytest.mark.parametrize("value", ["0", "false", "no", "OFF", " "])
def test_a_default_store_is_not_forbidden_by_a_word_for_no(value: str) -> None:
    env = {"MEMHTML_REFUSE_ENV_ROOT": value, "MEMHTML_ROOT": "/somewhere"}
    assert store_root(None, env, "/") == str(Path("/somewhere").absolute())


def test_help_is_the_same_by_three_ways() -> None:
    pages = [call(*words, "--text").out for words in (["help", "search"], ["search", "--help"])]
    assert pages[0] == pages[1] == call("search", "-h", "--text").out
    assert pages[0].startswith("memhtml search\nFind memories")
    assert call("-h", "--text").out == call("help", "--text").out


def test_help_names_everything_a_command_takes_and_fits_the_terminal() -> None:
    for command in every_command():
        page = call("help", *command.name.split(), is_terminal=True, columns=80)
        assert page.status == 0
        for flag in command.flags:
            assert f"--{flag.name}" in page.out
        long = [line for line in page.out.splitlines() if len(line) > 80]
        assert long == [f"  {example}" for example in command.examples if len(example) > 78]


def test_help_for_a_command_answers_its_contract() -> None:
    data = call("help", "index", "status").data
    assert set(data) >= {"usage", "globalFlags", "usageErrorCodes", "seeAlso", "args", "flags"}
    assert data["seeAlso"] == ["index rebuild", "index update", "index embed"]
    assert set(data["usageErrorCodes"]) <= set(ERROR_CODES)


def test_help_for_a_family_or_a_stranger_suggests_members_or_the_nearest() -> None:
    family = call("help", "index").json
    assert family["code"] == "ERR_UNKNOWN_COMMAND"
    assert family["suggestions"][0] == "memhtml help index rebuild"
    assert call("help", "serch").json["suggestions"][0] == "memhtml help search"
    assert call("help", "search", "more").json["code"] == "ERR_UNEXPECTED_ARGUMENT"


def test_the_manifest_lists_what_exists() -> None:
    data = call("manifest").data
    assert set(data) == {
        "name",
        "version",
        "summary",
        "apiVersion",
        "guide",
        "globalFlags",
        "errorCodes",
        "errorMeanings",
        "config",
        "responseTypes",
        "responseMeanings",
        "commands",
    }
    assert [command["name"] for command in data["commands"]] == list(MODULES)
    for command in data["commands"]:
        assert set(command) >= {
            "name",
            "summary",
            "args",
            "flags",
            "responseTypes",
            "examples",
            "supportsJson",
            "supportsDense",
        }
    source = "\n".join(p.read_text("utf-8") for p in (ROOT / "src").rglob("*.py"))
    for variable in data["config"]:
        assert len(re.findall(rf'"{variable["name"]}"', source)) > 1, variable["name"]


def test_a_bare_call_in_a_pipe_is_the_manifest() -> None:
    assert call().json["type"] == "cli.manifest"
    assert call("--dense").json["type"] == "cli.manifest"


@pytest.mark.parametrize("code", ERROR_CODES)
def test_what_is_suggested_where_an_error_has_no_idea_can_be_run_or_is_prose(code: str) -> None:
    error = errors.MemhtmlError("a fault without advice")
    error.code = code

    for suggestion in failure_of(error).suggestions:
        assert fault_of(suggestion) is None
        assert "<" not in suggestion


def test_a_brief_manifest_names_every_command_in_little_room() -> None:
    brief = call("manifest", "--brief", "--dense")
    calls = {row["call"]: row["summary"] for row in brief.data["commands"]}
    for command, line in zip(every_command(), calls, strict=True):
        assert line.startswith(f"memhtml {command.name}")
        assert calls[line] == command.summary
        for flag in command.flags:
            groups = brief.data["flagGroups"]
            named = [line, *(flags for name, flags in groups.items() if f"[{name}]" in line)]
            assert any(flag.name in str(part) for part in named), (command.name, flag.name)
    assert len(brief.out) < len(call("manifest", "--dense").out) / 8
    shown = call("manifest", "--brief", "--text").out
    assert "memhtml search <query> [filters] [--at <commit>]" in shown
    assert "[--no-abstain]" in shown
    assert call("manifest", "--brief", "--schemas").json["code"] == "ERR_INVALID_FLAG"
