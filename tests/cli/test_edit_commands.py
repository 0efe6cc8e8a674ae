"""A memory in an editor, by questions, in a browser: the other tool has none (cli.md §7.11)."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("pseudo-terminals are a thing of POSIX", allow_module_level=True)

from tests.cli.calls import call
from tests.cli.terminals import MEMHTML, Terminal, plain

GATE = "areas/inbox/gate-hours.html"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "store"
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    monkeypatch.setenv("MEMHTML_ROOT", str(root))
    monkeypatch.setenv("TMPDIR", str(drafts))
    monkeypatch.delenv("VISUAL", raising=False)
    assert call("init").status == 0
    stated = ("write", "--type=semantic", "--title=Gate hours", "--claim=It opens at 06:30.")
    assert call(*stated, "--tag=yard", "--entity=place:Gate", "--path", GATE).status == 0
    return root


def run(*argv: str, editor: str = "true", **env: str) -> tuple[int, dict[str, Any]]:
    ran = subprocess.run(
        [*MEMHTML, *argv],
        capture_output=True,
        check=False,
        env={**os.environ, "EDITOR": editor, **env},
    )
    document = json.loads(ran.stdout)
    assert isinstance(document, dict)
    return ran.returncode, document


def drafts(store: Path) -> list[Path]:
    return sorted((store.parent / "drafts").rglob("*.html"))


def subjects(store: Path) -> list[str]:
    log = subprocess.check_output(["git", "-C", str(store), "log", "--format=%s"], text=True)
    return log.splitlines()


def test_what_an_editor_saves_is_checked_stamped_and_committed(store: Path) -> None:
    before = call("read", GATE).data
    status, document = run("edit", f"./{GATE}", editor="sed -i s/06:30/07:00/")
    after = call("read", GATE).data
    assert (status, document["data"]["path"]) == (0, GATE)
    assert after["gist"] == "It opens at 07:00."
    assert after["metas"]["contentHash"] == document["data"]["contentHash"]
    assert after["metas"]["contentHash"] != before["metas"]["contentHash"]
    assert after["warnings"] == []
    assert subjects(store)[0] == "memhtml(edit): Gate hours"
    assert drafts(store) == []


def test_nothing_saved_is_nothing_written(store: Path) -> None:
    status, document = run("edit", GATE)
    assert (status, document["data"]["commitSha"]) == (0, None)
    assert len(subjects(store)) == 2
    failed, refusal = run("edit", GATE, editor="false")
    assert (failed, refusal["code"]) == (1, "ERR_STORAGE")
    assert drafts(store) == []


def test_an_edit_that_breaks_the_format_is_kept_and_can_be_taken_up(store: Path) -> None:
    status, document = run("edit", GATE, editor="sed -i 's/<.\\?mark>//g'")
    assert (status, document["code"]) == (1, "ERR_INVALID_MEMORY")
    (draft,) = drafts(store)
    assert document["suggestions"][:2] == [
        f"memhtml edit {GATE} --file {draft}",
        f"memhtml check {draft}",
    ]
    assert len(subjects(store)) == 2
    assert (draft.stat().st_mode & 0o77, draft.parent.stat().st_mode & 0o77) == (0o44, 0)
    text = draft.read_text("utf-8")
    draft.write_text(text.replace("It opens at 06:30.", "<mark>It opens at 08:00.</mark>"), "utf-8")
    assert call(*shlex.split(document["suggestions"][0])[1:]).status == 0
    assert call("read", GATE).data["gist"] == "It opens at 08:00."


def test_faults_are_shown_with_line_and_column_and_the_editor_is_offered_again(
    store: Path, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text(
        "#!/bin/sh\n"
        'if grep -q "<mark>" "$1"; then sed -i "s/<.\\?mark>//g" "$1"\n'
        'else sed -i "s/It opens at 06:30./<mark>It is shut.<\\/mark>/" "$1"; fi\n'
    )
    editor.chmod(0o755)
    with Terminal(*MEMHTML, "edit", GATE, env={"EDITOR": str(editor)}) as seen:
        seen.expect("Edit it again? [Y/n] ")
        shown = plain(seen.seen)
        assert f"{GATE}:15:1: mark-missing violation" in shown
        assert "  15 │ <article>\n     │ ^^^^^^^^^\n" in shown
        seen.type("\n")
        seen.expect("edited")
        assert seen.wait() == 0
    assert call("read", GATE).data["gist"] == "It is shut."
    with Terminal(*MEMHTML, "edit", GATE, env={"EDITOR": "sed -i s/mark/i/g"}) as seen:
        seen.expect("Edit it again? [Y/n] ")
        seen.type("n\n")
        assert seen.wait() == 1
        assert "--file" in plain(seen.seen)
    assert len(drafts(store)) == 1


def test_an_interrupt_at_the_question_still_tells_where_the_text_is(store: Path) -> None:
    """Ctrl-C left the text in a folder that nobody was told of."""
    with Terminal(*MEMHTML, "edit", GATE, env={"EDITOR": "sed -i s/mark/i/g"}) as seen:
        seen.expect("Edit it again? [Y/n] ")
        seen.type("\x03")
        assert seen.wait() == 1
        assert f"--file {drafts(store)[0]}" in plain(seen.seen)
    flags = ("--type", "semantic", "--title", "Door", "--claim", "The door is red.")
    labels = ("--tag", "a", "--entity", "place:Door")
    with Terminal(*MEMHTML, "new", *flags, *labels, env={"EDITOR": "sed -i s/mark/i/g"}) as seen:
        seen.expect("ends it:\n> ")
        seen.type("\n")
        seen.expect("Write it? ")
        seen.type("e\n")
        seen.expect("Edit it again? [Y/n] ")
        seen.type("\x03")
        assert seen.wait() == 130
        assert "your text is kept in " in plain(seen.seen)


def test_a_memory_that_changed_meanwhile_is_a_conflict_and_the_text_is_kept(store: Path) -> None:
    other = f"{sys.executable} -m memhtml archive {GATE} --reason gone >/dev/null; sed -i s/06/05/"
    status, document = run("edit", GATE, editor=other)
    assert (status, document["code"]) == (1, "ERR_PATH_NOT_FOUND")
    assert "05:30" in drafts(store)[0].read_text("utf-8")
    there = call("unarchive", f"archive/2026/{GATE}")
    if there.status:  # the year is that of the clock
        (archived,) = store.glob(f"archive/*/{GATE}")
        assert call("unarchive", str(archived)).status == 0
    faster = (
        f"EDITOR='sed -i s/06:30/09:00/' {sys.executable} -m memhtml edit {GATE} >/dev/null; "
        "sed -i s/06:30/05:30/"
    )
    status, document = run("edit", GATE, editor=faster)
    assert (status, document["code"]) == (1, "ERR_WRITE_CONFLICT")
    assert call("read", GATE).data["gist"] == "It opens at 09:00."
    assert len(drafts(store)) == 2


def test_hand_edits_that_are_not_committed_are_left_alone(store: Path) -> None:
    place = store / GATE
    place.write_text(place.read_text("utf-8").replace("06:30", "06:45"), "utf-8")
    status, document = run("edit", GATE, editor="sed -i s/06/05/")
    assert (status, document["code"]) == (1, "ERR_DIRTY_TREE")
    assert "06:45" in place.read_text("utf-8")
    assert call("edit", "areas/none.html").json["code"] == "ERR_PATH_NOT_FOUND"


def test_an_edit_is_held_to_what_a_write_is_held_to(store: Path, tmp_path: Path) -> None:
    other = call("write", "--type=semantic", "--title=Bell", "--claim=The bell is loud.").data
    text = (store / GATE).read_text("utf-8")
    draft = tmp_path / "draft.html"
    for change, code in (
        (text.replace("It opens at 06:30.", "The bell is loud."), "ERR_DUPLICATE_CONTENT"),
        (text.replace("06:30", "AKIAIOSFODNN7EXAMPLQ"), "ERR_SECRET"),
        (
            text.replace("</head>", '<link rel="memhtml-supports" href="/areas/no.html"></head>'),
            "ERR_PATH_NOT_FOUND",
        ),
    ):
        draft.write_text(change, "utf-8")
        assert call("edit", GATE, "--file", str(draft)).json["code"] == code, change
    linked = text.replace(
        "</head>", f'<link rel="memhtml-supports" href="/{other["path"]}"></head>'
    )
    draft.write_text(linked, "utf-8")
    assert call("edit", GATE, "--file", "draft.html", cwd=tmp_path).status == 0
    stale = call("edit", GATE, "--file", str(draft), "--expect", "0" * 40)
    assert stale.json["code"] == "ERR_WRITE_CONFLICT"
    assert call("edit", GATE, "--expect", "0" * 40).json["code"] == "ERR_INVALID_FLAG"


@pytest.mark.usefixtures("store")
def test_a_memory_is_asked_for_shown_and_then_written() -> None:
    with Terminal(*MEMHTML, "new", "--type", "procedural", columns=70) as seen:
        for question, answer in (
            ("Title: ", "Open the gate"),
            ("The fact, in one sentence: ", "The gate is opened with the red key."),
            ("an empty line ends it:\n> ", "The key hangs by the door."),
            ("> ", ""),
            ("Tags, with commas (there are yard): ", "yard, keys"),
            ("with commas (there are place:Gate): ", "place:Gate"),
            ("Write it? [Y/n/e to edit] ", "y"),
        ):
            seen.expect(question)
            shown = plain(seen.seen)
            seen.forget()
            seen.type(f"{answer}\n")
        assert "perhaps known already" not in shown
        assert "The gate is opened with the red key. The key hangs by the door." in " ".join(
            shown.split()
        )
        assert seen.wait() == 0
        assert "written resources/" in plain(seen.seen)
    (hit, *_) = call("search", "red key").data["hits"]
    read = call("read", hit["path"]).data
    assert (read["tags"], read["entities"]) == (["yard", "keys"], ["place:Gate"])
    assert read["metas"]["memoryType"] == "procedural"


def test_what_is_known_is_shown_and_no_is_no(store: Path) -> None:
    flags = ("--type", "semantic", "--title", "Gate", "--tag", "yard", "--entity", "place:Gate")
    with Terminal(*MEMHTML, "new", *flags, "--claim", "It opens at 06:30.") as seen:
        seen.expect("perhaps known already:\n  It opens at 06:30.\n")
        seen.type("\n")
        seen.expect("known already, word for word")
        seen.expect("Write it? ")
        seen.type("n\n")
        assert seen.wait() == 130
    for keys in ("\x03", "\x04"):
        with Terminal(*MEMHTML, "new", *flags) as seen:
            seen.expect("in one sentence: ")
            seen.type(keys)
            assert seen.wait() == 130
            assert "Traceback" not in seen.seen
    assert len(subjects(store)) == 2


def test_a_new_memory_may_be_finished_in_the_editor(store: Path) -> None:
    env = {"EDITOR": 'sed -i "s/is red/is <strong>blue<\\/strong>/"'}
    flags = ("--type", "semantic", "--title", "Door", "--claim", "The door is red.")
    with Terminal(*MEMHTML, "new", *flags, "--tag", "a", "--entity", "place:Door", env=env) as seen:
        seen.expect("ends it:\n> ")
        seen.type("\n")
        seen.expect("Write it? ")
        seen.forget()
        seen.type("e\n")
        seen.expect("The door is blue.")
        seen.expect("Write it? ")
        seen.type("y\n")
        assert seen.wait() == 0
    (hit, *_) = call("search", "door").data["hits"]
    assert "<strong>blue</strong>" in call("read", hit["path"]).data["html"]
    assert drafts(store) == []


@pytest.mark.usefixtures("store")
def test_what_cannot_be_a_memory_is_told_before_it_is_written() -> None:
    flags = ("--title", "Door", "--claim", "The door is oiled.", "--tag", "a", "--entity", "b:C")
    with Terminal(*MEMHTML, "new", *flags) as seen:
        seen.expect("Type [semantic]: ")
        seen.type("banana\n")
        seen.expect("a number, or the beginning of a type")
        seen.type("10\n")
        seen.expect("ends it:\n> ")
        seen.type("\n")
        seen.expect("or nothing): ")
        seen.type("soon\n")
        seen.expect("Edit it? ")
        assert "due" in plain(seen.seen).rpartition("nothing): soon")[2]
        seen.type("n\n")
        assert seen.wait() == 130


@pytest.mark.usefixtures("store")
def test_new_is_for_people_only() -> None:
    refused = call("new", "--type", "semantic")
    assert (refused.status, refused.json["code"]) == (2, "ERR_MISSING_ARGUMENT")


def test_open_shows_a_memory_and_what_is_linked_to_it(store: Path, tmp_path: Path) -> None:
    bell = call("write", "--type=semantic", "--title=Bell", "--claim=The bell is loud.").data[
        "path"
    ]
    door = call("write", "--type=semantic", "--title=Door", "--claim=The door is red.").data["path"]
    call("link", bell, "supports", GATE)
    seen = tmp_path / "seen"
    browser = f"sh -c 'printf %%s \"$0\" > {seen}' %s"
    status, document = run("open", str(store / GATE), BROWSER=browser)
    assert status == 0
    data = document["data"]
    assert data["paths"] == [GATE, bell]
    page = Path(data["page"])
    assert data["url"].startswith(page.as_uri() + "#/areas%2F")
    text = page.read_text("utf-8")
    assert "It opens at 06:30." in text
    assert door not in text
    assert "default-src 'none'" in text
    assert subprocess.check_output(["git", "-C", str(store), "status", "--porcelain"]) == b""
    # What a browser prints is no part of the answer, which `run` reads as one document.
    assert run("open", GATE, BROWSER="echo %s")[1]["data"]["opened"]
    found = call("open", "loud bell", "--no-browser").data
    assert (found["opened"], found["paths"][0]) == (False, bell)
    assert "#" not in found["url"]


@pytest.mark.usefixtures("store")
def test_what_is_not_there_is_not_opened() -> None:
    for what in ("areas/inbox/none.html", "submarine ballast valves"):
        refused = call("open", what, "--no-browser")
        assert (refused.status, refused.json["code"]) == (1, "ERR_PATH_NOT_FOUND")


def test_a_browser_that_talks_says_nothing_into_the_answer_of_a_review(store: Path) -> None:
    assert run("sleep", "run", "--date", "2030-01-01")[0] == 0
    status, document = run("sleep", "review", "--open", BROWSER="echo %s")
    assert (status, document["type"]) == (0, "sleep.review")
    page = Path(document["data"]["page"])
    assert page.parent == store.parent / "drafts"
    assert "sleep/2030-01-01" in page.read_text("utf-8")
