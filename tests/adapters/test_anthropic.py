"""The memory tool's commands, as the SDK's runner sends them, worded as documented."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memhtml
from memhtml.adapters.anthropic import AsyncMemoryTool, MemoryTool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memhtml import Corpus

FILE = "/memories/prefs/coffee.md"
ELSEWHERE = (
    "/etc/passwd",
    "memories/x",
    "/memories/../x",
    "/memories/a/../../x",
    "/memories/./x",
    "/memories/%2e%2e/x",
    "/memories/..%2f..%2fx",
    "/memories\\..\\x",
    "/memories/a%5c..%5cx",
    "/memoriesx/y",
    "/MEMORIES/x",
    "",
    "/",
)


@pytest.fixture
def tool(corpus: Corpus) -> MemoryTool:
    return MemoryTool(corpus)


def do(tool: MemoryTool, command: str, **fields: object) -> str:
    """Return what the model is told."""
    try:
        return str(tool.call({"command": command, **fields}))
    except ToolError as error:
        return str(error)


def text_of(tool: MemoryTool, path: str) -> str:
    lines = do(tool, "view", path=path).split("\n")[1:]
    return "\n".join(line.partition("\t")[2] for line in lines)


class TestWording:
    """Each sentence stands in the tool's documentation, under Tool commands."""

    def test_view_of_a_folder(self, tool: MemoryTool) -> None:
        do(tool, "create", path="/memories/a.txt", file_text="x" * 1536)
        do(tool, "create", path="/memories/d/b.txt", file_text="yy")
        do(tool, "create", path="/memories/d/e/deep.txt", file_text="zzz")
        do(tool, "create", path="/memories/.hidden", file_text="h")
        do(tool, "create", path="/memories/node_modules/m.js", file_text="m")
        assert do(tool, "view", path="/memories") == (
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden "
            "items and node_modules:\n"
            "1.5K\t/memories\n1.5K\t/memories/a.txt\n5B\t/memories/d/\n2B\t/memories/d/b.txt\n"
            "3B\t/memories/d/e/"
        )

    def test_view_of_a_file(self, tool: MemoryTool) -> None:
        do(tool, "create", path=FILE, file_text="one\ntwo\nthree")
        assert do(tool, "view", path=FILE) == (
            f"Here's the content of {FILE} with line numbers:\n"
            "     1\tone\n     2\ttwo\n     3\tthree"
        )
        assert do(tool, "view", path=FILE, view_range=[2, -1]).endswith(
            ":\n     2\ttwo\n     3\tthree"
        )
        assert do(tool, "view", path=FILE, view_range=[1, 1]).endswith(":\n     1\tone")

    def test_view_of_what_is_not_there(self, tool: MemoryTool) -> None:
        told = f"The path {FILE} does not exist. Please provide a valid path."
        assert do(tool, "view", path=FILE) == told

    def test_view_of_too_many_lines(self, tool: MemoryTool) -> None:
        do(tool, "create", path=FILE, file_text="\n" * 999_999)
        told = f"File {FILE} exceeds maximum line limit of 999,999 lines."
        assert do(tool, "view", path=FILE) == told

    def test_create(self, tool: MemoryTool) -> None:
        done = f"File created successfully at: {FILE}"
        assert do(tool, "create", path=FILE, file_text="x") == done
        refused = f"Error: File {FILE} already exists"
        assert do(tool, "create", path=FILE, file_text="y") == refused
        assert text_of(tool, FILE) == "x"

    def test_str_replace(self, tool: MemoryTool) -> None:
        do(tool, "create", path=FILE, file_text="1\n2\n3 milk\n4\n5\n6")
        done = do(tool, "str_replace", path=FILE, old_str="milk", new_str="oat\nmilk")
        assert done.startswith("The memory file has been edited.")
        assert done.endswith(
            ":\n     1\t1\n     2\t2\n     3\t3 oat\n     4\tmilk\n     5\t4\n     6\t5"
        )
        assert do(tool, "str_replace", path=FILE, old_str="tea", new_str="x") == (
            f"No replacement was performed, old_str `tea` did not appear verbatim in {FILE}."
        )
        do(tool, "insert", path=FILE, insert_line=0, insert_text="milk")
        assert do(tool, "str_replace", path=FILE, old_str="milk", new_str="x") == (
            "No replacement was performed. Multiple occurrences of old_str `milk` in lines: 1, 5. "
            "Please ensure it is unique"
        )
        for path in ("/memories/none", "/memories/prefs"):
            assert do(tool, "str_replace", path=path, old_str="a", new_str="b") == (
                f"Error: The path {path} does not exist. Please provide a valid path."
            )

    def test_insert(self, tool: MemoryTool) -> None:
        do(tool, "create", path=FILE, file_text="one\ntwo\n")
        done = f"The file {FILE} has been edited."
        assert do(tool, "insert", path=FILE, insert_line=1, insert_text="between\n") == done
        assert text_of(tool, FILE) == "one\nbetween\ntwo\n"
        assert do(tool, "insert", path=FILE, insert_line=9, insert_text="x") == (
            "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of "
            "the file: [0, 3]"
        )
        missing = "Error: The path /memories/none does not exist"
        assert do(tool, "insert", path="/memories/none", insert_line=0, insert_text="x") == missing

    def test_delete(self, tool: MemoryTool) -> None:
        do(tool, "create", path=FILE, file_text="x")
        do(tool, "create", path="/memories/prefs/tea.md", file_text="y")
        assert do(tool, "delete", path=FILE) == f"Successfully deleted {FILE}"
        assert do(tool, "delete", path=FILE) == f"Error: The path {FILE} does not exist"
        assert do(tool, "delete", path="/memories/prefs") == "Successfully deleted /memories/prefs"
        assert do(tool, "view", path="/memories").endswith(":\n0B\t/memories")

    def test_rename(self, tool: MemoryTool) -> None:
        do(tool, "create", path=FILE, file_text="x")
        do(tool, "create", path="/memories/b", file_text="y")
        assert do(tool, "rename", old_path="/memories/b", new_path=FILE) == (
            f"Error: The destination {FILE} already exists"
        )
        assert do(tool, "rename", old_path="/memories/none", new_path="/memories/c") == (
            "Error: The path /memories/none does not exist"
        )
        assert do(tool, "rename", old_path="/memories/prefs", new_path="/memories/p/q") == (
            "Successfully renamed /memories/prefs to /memories/p/q"
        )
        assert text_of(tool, "/memories/p/q/coffee.md") == "x"


class TestSafety:
    def test_a_path_that_leads_elsewhere_is_refused_by_every_command(
        self, tool: MemoryTool, corpus: Corpus
    ) -> None:
        for path in ELSEWHERE:
            fields: dict[str, object] = {"path": path, "file_text": "x", "old_str": "x"}
            fields |= {"new_str": "y", "insert_line": 0, "insert_text": "x"}
            fields |= {"old_path": path, "new_path": "/memories/x"}
            for command in ("view", "create", "str_replace", "insert", "delete", "rename"):
                told = do(tool, command, **fields)
                assert told == f"Error: The path {path} is not inside /memories", command
        do(tool, "create", path=FILE, file_text="x")
        for path in ELSEWHERE:
            told = do(tool, "rename", old_path=FILE, new_path=path)
            assert told == f"Error: The path {path} is not inside /memories"
        assert len(list(corpus)) == 1

    def test_a_path_with_a_control_character_is_refused(self, tool: MemoryTool) -> None:
        told = do(tool, "create", path="/memories/a\0b\n", file_text="x")
        assert "holds a character that no file name can hold" in told

    def test_joiners_are_part_of_names_and_what_turns_text_around_is_not(
        self, tool: MemoryTool
    ) -> None:
        """A Persian word was refused as holding what no file name can hold."""
        for name in (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\U0001f468\u200d\U0001f469",
        ):
            path = f"/memories/{name}.md"
            assert do(tool, "create", path=path, file_text="x").startswith("File created")
            assert text_of(tool, path) == "x"
        assert "holds a character" in do(tool, "create", path="/memories/\u202ex", file_text="x")

    def test_a_folder_with_blanks_at_its_ends_is_a_folder(self, tool: MemoryTool) -> None:
        """What was below it could neither be listed, moved nor deleted."""
        do(tool, "create", path="/memories/ a /b", file_text="x")
        do(tool, "create", path="/memories/a/b", file_text="y")
        assert do(tool, "view", path="/memories/ a ").endswith("1B\t/memories/ a /b")
        assert "exists" in do(tool, "create", path="/memories/ a ", file_text="z")
        assert do(tool, "delete", path="/memories/ a ").startswith("Successfully")
        assert text_of(tool, "/memories/a/b") == "y"

    def test_the_top_folder_stays(self, tool: MemoryTool) -> None:
        do(tool, "create", path=FILE, file_text="x")
        assert do(tool, "delete", path="/memories/").startswith("Error: ")
        assert do(tool, "rename", old_path="/memories", new_path="/memories/x").startswith("Error")
        assert do(tool, "create", path="/memories", file_text="x").startswith("Error: ")
        assert text_of(tool, FILE) == "x"

    def test_a_file_is_no_folder_and_no_folder_moves_into_itself(self, tool: MemoryTool) -> None:
        do(tool, "create", path=FILE, file_text="x")
        told = do(tool, "create", path=f"{FILE}/under", file_text="y")
        assert told == f"Error: {FILE} is a file, so nothing can be made below it"
        told = do(tool, "rename", old_path="/memories/prefs", new_path="/memories/prefs/in")
        assert told == "Error: The folder /memories/prefs cannot be moved into itself"

    def test_a_credential_is_refused_and_not_repeated(self, tool: MemoryTool) -> None:
        token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        told = do(tool, "create", path=FILE, file_text=f"token: {token}")
        assert told.startswith("Error: looks like a credential")
        assert token not in told

    @pytest.mark.parametrize(
        ("stated", "told"),
        [
            ({"command": "view"}, "Error: Invalid view command: `path`: Field required"),
            ({"command": "rm"}, "Error: `command` is one of view, create, str_replace, insert,"),
            ("view", "Error: `command` is one of view"),
            (
                {"command": "insert", "path": FILE, "insert_line": "x", "insert_text": "y"},
                "`insert_line`",
            ),
        ],
    )
    def test_what_is_no_command_is_told_to_the_model(
        self, tool: MemoryTool, stated: object, told: str
    ) -> None:
        with pytest.raises(ToolError) as caught:
            tool.call(stated)
        assert told in str(caught.value)

    def test_what_was_deleted_or_replaced_can_be_had_again(
        self, tool: MemoryTool, corpus: Corpus
    ) -> None:
        do(tool, "create", path=FILE, file_text="oat milk")
        (memory,) = corpus
        do(tool, "str_replace", path=FILE, old_str="oat", new_str="cow")
        assert len(corpus.history(memory.path)) == 2
        do(tool, "delete", path=FILE)
        assert [m.is_archived for m in corpus.memories(include_archived=True)] == [True]

    def test_two_that_change_one_file_do_not_lose_either_change(
        self, tool: MemoryTool, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        do(tool, "create", path=FILE, file_text="a b")
        other = MemoryTool(corpus)
        put = corpus.put

        def late(*args: Any, **kwargs: Any) -> str | None:
            monkeypatch.undo()
            do(other, "str_replace", path=FILE, old_str="a", new_str="A")
            return put(*args, **kwargs)

        monkeypatch.setattr(corpus, "put", late)
        told = do(tool, "str_replace", path=FILE, old_str="b", new_str="B")
        assert told.startswith("Error: The file was changed at the same time")
        assert text_of(tool, FILE) == "A b"

    def test_every_other_door_finds_what_was_written(
        self, tool: MemoryTool, corpus: Corpus
    ) -> None:
        do(tool, "create", path=FILE, file_text="# Coffee\nAda takes oat milk.\n")
        (hit,) = corpus.search("which milk does ada take").hits
        assert hit.title == FILE


names = st.sampled_from(["a", "b.md", "c d", "Ü"])
paths = st.lists(names, min_size=1, max_size=3).map(lambda parts: "/memories/" + "/".join(parts))
texts = st.text(st.sampled_from("ab \n\tü"), max_size=12)
commands = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": paths, "file_text": texts}),
    st.fixed_dictionaries(
        {
            "command": st.just("str_replace"),
            "path": paths,
            "old_str": st.sampled_from(["a", "ab", "\n"]),
            "new_str": texts,
        }
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": paths}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": paths, "new_path": paths}),
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=st.lists(commands, max_size=8))
def test_files_are_what_the_sdks_own_tool_on_a_disk_makes_of_them(
    tmp_path_factory: pytest.TempPathFactory, asked: list[dict[str, object]]
) -> None:
    root = tmp_path_factory.mktemp("both")
    memhtml.init(root / "store")
    theirs = BetaLocalFilesystemMemoryTool(str(root / "disk"))
    top = root / "disk" / "memories"
    with memhtml.open(root / "store", durability="none") as corpus:
        ours = MemoryTool(corpus)
        for command in asked:
            outcomes = [_succeeds(tool.call, command) for tool in (ours, theirs)]
            # A folder of theirs that was emptied is still there; ours never was more than a path.
            _drop_empty_folders(top)
            assert outcomes[0] == outcomes[1], command
        kept = {f"/memories/{p.relative_to(top)}": p.read_bytes() for p in _files(top)}
        assert {path: text_of(ours, path).encode() for path in kept} == kept
        assert len(list(corpus)) == len(kept)


def _succeeds(call: Callable[[object], object], command: object) -> bool:
    try:
        call(command)
    except (ToolError, OSError):
        return False
    return True


def _files(top: Path) -> list[Path]:
    return [path for path in top.rglob("*") if path.is_file()]


def _drop_empty_folders(top: Path) -> None:
    for path in sorted(top.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


class Script:
    """A server that answers with what is written here, one turn after the other."""

    def __init__(self, *commands: dict[str, object]) -> None:
        self._turns = [
            *(
                [{"type": "tool_use", "id": f"t{n}", "name": "memory", "input": command}]
                for n, command in enumerate(commands)
            ),
            [{"type": "text", "text": "Done."}],
        ]
        self.heard: list[dict[str, Any]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.heard.append(json.loads(request.content))
        content = self._turns[len(self.heard) - 1]
        is_last = len(self.heard) == len(self._turns)
        return httpx2.Response(
            200,
            json={
                "id": f"msg_{len(self.heard)}",
                "type": "message",
                "role": "assistant",
                "model": "scripted",
                "content": content,
                "stop_reason": "end_turn" if is_last else "tool_use",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        )

    @property
    def results(self) -> list[dict[str, Any]]:
        return [
            block
            for request in self.heard
            for block in request["messages"][-1]["content"]
            if isinstance(block, dict) and block["type"] == "tool_result"
        ]


SCRIPT: tuple[dict[str, object], ...] = (
    {"command": "create", "path": FILE, "file_text": "Ada takes oat milk."},
    {"command": "create", "path": FILE, "file_text": "again"},
    {"command": "view", "path": FILE},
)


def check(script: Script) -> None:
    assert script.heard[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    made, refused, shown = script.results
    assert made["content"] == f"File created successfully at: {FILE}"
    assert refused["is_error"] is True
    assert "already exists" in str(refused["content"])
    assert "     1\tAda takes oat milk." in str(shown["content"])


def test_the_sdks_runner_drives_it(tool: MemoryTool) -> None:
    script = Script(*SCRIPT)
    http = httpx2.Client(transport=httpx2.MockTransport(script))
    with anthropic.Anthropic(api_key="none", http_client=http) as client:
        runner = client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            messages=[{"role": "user", "content": "Remember what I drink."}],
            tools=[tool],
        )
        runner.until_done()
    check(script)


def test_the_sdks_async_runner_drives_the_async_one(corpus: Corpus) -> None:
    script = Script(*SCRIPT)

    async def use() -> None:
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(script))
        async with anthropic.AsyncAnthropic(api_key="none", http_client=http) as client:
            runner = client.beta.messages.tool_runner(
                model="scripted",
                max_tokens=100,
                messages=[{"role": "user", "content": "Remember what I drink."}],
                tools=[AsyncMemoryTool(corpus)],
            )
            await runner.until_done()

    asyncio.run(use())
    check(script)


def test_all_is_cleared_into_the_archive(tool: MemoryTool, corpus: Corpus) -> None:
    do(tool, "create", path=FILE, file_text="x")
    assert tool.clear_all_memory() == "All memory cleared"
    assert not list(corpus)
    assert len(list(corpus.memories(include_archived=True))) == 1
