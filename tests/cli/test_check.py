from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest

from memhtml.checkfiles import mend
from memhtml.cli.views.findings import excerpt
from memhtml.format.checks import CODES
from memhtml.format.parse import FILE_CAP, parse
from memhtml.model.diagnostics import Span
from tests.cli.calls import Result, call

if TYPE_CHECKING:
    from collections.abc import Mapping

GOOD = b"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Gate</title>
<meta name="memhtml-type" content="semantic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-01-02T03:04:05Z">
<meta name="memhtml-updated" content="2026-01-02T03:04:05Z">
</head>
<body>
<article>
<p><mark>The gate opens at 06:30.</mark></p>
</article>
</body>
</html>
"""
WITHOUT_CLAIM = GOOD.replace(b"<mark>", b"").replace(b"</mark>", b"")
ODD = GOOD.replace(b"</mark>", b"</mark> <b>early</b>")
HASH = parse(GOOD).content_hash.encode()


def with_hash(value: bytes) -> bytes:
    meta = b'<meta name="memhtml-content-hash" content="' + value + b'">\n'
    return GOOD.replace(b"</head>", meta + b"</head>")


def check(
    folder: Path,
    *argv: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    is_terminal: bool = False,
    has_colour: bool = False,
) -> Result:
    return call(
        "check",
        *argv,
        cwd=folder,
        stdin=stdin,
        env=env,
        is_terminal=is_terminal,
        has_colour=has_colour,
    )


def git(folder: Path, *args: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


def checked(result: Result) -> list[str]:
    return sorted(file["path"] for file in result.data["files"])


def test_a_clean_file_exits_0_and_a_violation_1(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(GOOD)
    clean = check(tmp_path, "a.html")
    assert (clean.status, clean.data["ok"], clean.data["filesChecked"]) == (0, True, 1)
    (tmp_path / "b.html").write_bytes(WITHOUT_CLAIM)
    faulty = check(tmp_path)
    assert (faulty.status, faulty.data["ok"], faulty.data["violations"]) == (1, False, 1)
    finding = faulty.data["files"][0]["diagnostics"][0]
    assert finding["code"] == "mark-missing"
    assert finding["severity"] == "violation"
    assert set(finding) == {
        "code",
        "severity",
        "message",
        "line",
        "column",
        "endLine",
        "endColumn",
        "start",
        "end",
        "info",
    }


def test_warnings_fail_only_under_strict(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(ODD)
    assert check(tmp_path).status == 0
    assert check(tmp_path).data["warnings"] == 1
    assert check(tmp_path, "--strict").status == 1


def test_what_cannot_be_read_exits_2_and_hides_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(WITHOUT_CLAIM)
    result = check(tmp_path, "gone.html", "a.html")
    assert result.status == 2
    assert [p["path"] for p in result.data["unreadable"]] == ["gone.html"]
    assert result.data["violations"] == 1
    text = check(tmp_path, "gone.html", "a.html", "--text").out
    assert "gone.html: not checked: No such file or directory" in text


def test_people_get_place_code_severity_message_source_line_and_caret(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(GOOD.replace(b'"semantic"', b'"semantc"'))
    lines = check(tmp_path, is_terminal=True).out.splitlines()
    assert lines[0].startswith('a.html:6:27: type-unknown violation "semantc" is no type of memory')
    assert lines[1] == '  6 │ <meta name="memhtml-type" content="semantc">'
    assert lines[2] == "    │ " + " " * 26 + "^" * len('content="semantc"')
    assert lines[-1] == "1 violation in 1 of 1 file"


def test_colours_are_used_only_where_the_world_has_them(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(WITHOUT_CLAIM)
    assert "\x1b[" not in check(tmp_path, is_terminal=True).out
    coloured = check(tmp_path, is_terminal=True, has_colour=True).out
    assert "\x1b[1;31mviolation\x1b[0m" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert plain == check(tmp_path, is_terminal=True).out


def test_a_file_cannot_steer_the_terminal(tmp_path: Path) -> None:
    evil = GOOD.replace(b"<p><mark>", b'<p class="\x1b]0;owned\x07\x9b31m"><mark>')
    (tmp_path / "a\x1b[2J.html").write_bytes(evil)
    out = check(tmp_path, "--text").out
    assert "class" in out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)


def span_of(data: bytes, word: bytes) -> Span:
    start = data.index(word)
    return Span(start, start + len(word), 1, 1, 1, 1)


def test_a_caret_stands_under_the_fault_after_tabs_and_wide_letters() -> None:
    data = "x\r\n\t日本語 <b>fett</b>\r\ny".encode()
    assert excerpt(data, span_of(data, b"<b>"), 60) == ("    日本語 <b>fett</b>", 11, 3)


def test_a_long_line_is_cut_to_what_stands_around_the_fault() -> None:
    data = b"a" * 5000 + b"<b>" + b"c" * 5000
    shown = excerpt(data, span_of(data, b"<b>"), 60)
    assert shown is not None
    line, column, length = shown
    assert len(line) == 60
    assert line[column : column + length] == "<b>"
    assert (line[0], line[-1]) == ("…", "…")


def test_a_line_that_is_cut_among_wide_letters_keeps_its_caret() -> None:
    data = ("語" * 300 + "<b>" + "語" * 300).encode()
    shown = excerpt(data, span_of(data, b"<b>"), 41)
    assert shown is not None
    line, column, length = shown
    before, _, after = line.partition("<b>")
    assert (column, length) == (1 + 2 * (len(before) - 1), 3)
    assert column + 3 + 2 * (len(after) - 1) + 1 <= 41


def test_a_fault_of_several_lines_is_underlined_to_the_end_of_its_first() -> None:
    data = b"<p\nclass=x>"
    assert excerpt(data, Span(0, len(data), 1, 1, 2, 9), 60) == ("<p", 0, 2)


def test_a_place_where_something_is_absent_has_one_caret_and_a_blank_line_shows_nothing() -> None:
    data = b"ab\n\ncd"
    assert excerpt(data, Span(2, 2, 1, 3, 1, 3), 60) == ("ab", 2, 1)
    assert excerpt(data, Span(3, 3, 2, 1, 2, 1), 60) is None


@pytest.mark.parametrize("shift", range(4))
def test_a_character_is_not_torn_where_a_long_line_is_cut(shift: int) -> None:
    owls = "\U0001f989" * 400
    data = f"{owls}{'x' * shift}<b>{'x' * shift}{owls}".encode()

    shown = excerpt(data, span_of(data, b"<b>"), 60)

    assert shown is not None
    assert set(shown[0]) - {"x"} == {"…", "\U0001f989", "<", "b", ">"}


def test_showing_a_place_costs_the_same_on_a_line_of_megabytes() -> None:
    def seconds(line: bytes) -> float:
        middle = len(line) // 2
        start = time.process_time()
        for _ in range(100):
            excerpt(line, Span(middle, middle + 3, 1, 1, 1, 4), 60)
        return time.process_time() - start

    assert seconds(b"<b>" * 2_000_000) < 20 * seconds(b"<b>" * 200)


def test_standard_input_is_checked_under_its_own_name(tmp_path: Path) -> None:
    result = check(tmp_path, "-", stdin=WITHOUT_CLAIM)
    assert result.status == 1
    assert checked(result) == ["<stdin>"]
    assert check(tmp_path, "-", "--fix", stdin=GOOD).status == 2


def test_a_folder_is_walked_without_what_git_ignores(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("build/\n*.tmp.html\n")
    for name in (
        "a.html",
        "deep/er/b.html",
        "build/c.html",
        "d.tmp.html",
        "naïve 日本.html",
        "index.html",
        "deep/index.html",
        ".hidden/e.html",
        "deep/.hidden/f.html",
        "notes.txt",
        "g.HTM",
        "x.html/inside.html",
        "gone.html",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(WITHOUT_CLAIM)
    git(tmp_path, "add", "a.html", "gone.html")
    (tmp_path / "gone.html").unlink()
    assert checked(check(tmp_path)) == [
        "a.html",
        "deep/er/b.html",
        "naïve 日本.html",
        "x.html/inside.html",
    ]
    assert checked(check(tmp_path, "deep", "deep/er/b.html", "./deep")) == ["deep/er/b.html"]
    # Whoever names an ignored folder or file means it.
    assert checked(check(tmp_path, "build")) == ["build/c.html"]
    assert checked(check(tmp_path, "d.tmp.html")) == ["d.tmp.html"]


def test_a_repository_inside_the_folder_is_walked_by_its_own_rules(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / ".gitignore").write_text("skip.html\n")
    (inner / "skip.html").write_bytes(WITHOUT_CLAIM)
    (inner / "keep.html").write_bytes(WITHOUT_CLAIM)
    assert checked(check(tmp_path)) == ["inner/keep.html"]


def test_variables_of_a_running_hook_do_not_redirect_the_walk(tmp_path: Path) -> None:
    other = tmp_path / "other"
    here = tmp_path / "here"
    for folder in (other, here):
        folder.mkdir()
        git(folder, "init", "-q")
    (here / "a.html").write_bytes(WITHOUT_CLAIM)
    result = check(here, env={"GIT_DIR": str(other / ".git"), "GIT_INDEX_FILE": "nowhere"})
    assert checked(result) == ["a.html"]


def test_outside_a_repository_every_file_but_hidden_ones_is_found(tmp_path: Path) -> None:
    for name in (
        "a.html",
        "sub/b.html",
        ".memhtml/c.html",
        "README.html",
        "sub/README.html",
        "s/README.html",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(WITHOUT_CLAIM)
    (tmp_path / "s/.memhtml").mkdir()
    # A store's own page is no memory; in any other folder the name means nothing.
    assert checked(check(tmp_path)) == ["a.html", "sub/README.html", "sub/b.html"]


def test_published_pages_are_no_memories_wherever_the_check_begins(tmp_path: Path) -> None:
    root = ["--repo", str(tmp_path)]
    assert call("init", *root).status == 0
    told = ("--type", "semantic", "--title", "Owl", "--claim", "Owls moult.", "--tag", "owl")
    assert call("write", *told, *root).status == 0
    assert call("publish", *root).status == 0
    pages = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("browse/**/*.html")]
    assert "browse/tags/owl.html" in pages

    result = check(tmp_path)

    assert (result.status, result.data["filesChecked"]) == (0, 1)
    assert check(tmp_path / "browse").data["filesChecked"] == 0
    elsewhere = tmp_path / "areas/browse/x.html"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(GOOD)
    assert check(tmp_path).data["filesChecked"] == 2
    hooks = (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text("utf-8")
    for excluded in re.findall("exclude: (.+)", hooks):
        assert all(re.search(excluded, path) for path in pages)
        assert not re.search(excluded, "areas/browse/x.html")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_symbolic_link_is_reported_and_not_followed_unless_it_is_named(tmp_path: Path) -> None:
    target = tmp_path / "outside"
    target.write_bytes(WITHOUT_CLAIM)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link.html").symlink_to(target)
    result = check(folder)
    assert result.data["filesChecked"] == 0
    assert [p["path"] for p in result.data["skipped"]] == ["link.html"]
    assert result.status == 0
    assert checked(check(folder, "link.html")) == ["link.html"]


def test_broken_files_that_someone_dropped_in_are_each_named_with_a_reason(tmp_path: Path) -> None:
    files = {
        "bytes.html": b"\xff\xfe\x00",
        "empty.html": b"",
        "script.html": GOOD.replace(b"</article>", b"<script>x</script><p onerror=y></article>"),
        "no-mark.html": WITHOUT_CLAIM,
        "two.html": GOOD.replace(b"</body>", b"<article></article></body>"),
        "crlf-bom.html": b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n"),
        "good.html": GOOD,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    result = check(tmp_path)
    assert result.data["filesChecked"] == len(files)
    assert checked(result) == sorted(files.keys() - {"crlf-bom.html", "good.html"})
    codes = {f["path"]: {d["code"] for d in f["diagnostics"]} for f in result.data["files"]}
    assert {"element-forbidden", "attr-handler"} <= codes["script.html"]
    assert "article-count" in codes["two.html"]


def test_a_file_over_the_cap_is_one_finding_with_its_true_size(tmp_path: Path) -> None:
    with (tmp_path / "big.html").open("wb") as file:
        file.truncate(3 * FILE_CAP)
    diagnostics = check(tmp_path, "--fix").data["files"][0]["diagnostics"]
    assert [d["code"] for d in diagnostics] == ["file-too-large"]
    assert str(3 * FILE_CAP) in diagnostics[0]["message"]
    assert (tmp_path / "big.html").stat().st_size == 3 * FILE_CAP


def test_fix_mends_what_cannot_lose_meaning_and_leaves_every_other_byte(tmp_path: Path) -> None:
    data = (
        with_hash(b"sha256:" + b"0" * 64)
        .replace(b'"2026-01-02T03:04:05Z"', b'"2026-01-02 03:04:05+02:00"', 1)
        .replace(b"</mark>", b"</mark> <time  DateTime=2026-03-01T00:30-0130 >then</time>")
        .removesuffix(b"\n")
    )
    path = tmp_path / "a.html"
    path.write_bytes(data)
    path.chmod(0o640)
    result = check(tmp_path, "--fix")
    assert [fix["code"] for fix in result.data["files"][0]["fixes"]] == [
        "datetime",
        "datetime",
        "content-hash",
        "newline",
    ]
    assert (result.status, result.data["fixed"], result.data["violations"]) == (0, 4, 0)
    mended = path.read_bytes()
    assert mended == (
        data.replace(b"2026-01-02 03:04:05+02:00", b"2026-01-02T01:04:05Z")
        .replace(b"2026-03-01T00:30-0130", b"2026-03-01T02:00:00Z")
        .replace(b"sha256:" + b"0" * 64, parse(data).content_hash.encode())
        + b"\n"
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]
    assert check(tmp_path, "--fix").data["fixed"] == 0


def test_diff_without_fix_shows_and_changes_nothing(tmp_path: Path) -> None:
    data = with_hash(b"sha256:" + b"0" * 64)
    (tmp_path / "a.html").write_bytes(data)
    result = check(tmp_path, "--diff")
    assert result.data["fixable"] == 1
    diff = result.data["files"][0]["diff"].splitlines()
    assert diff[:2] == ["--- a/a.html", "+++ b/a.html"]
    assert [line for line in diff[2:] if line[0] in "+-"] == [
        f'-<meta name="memhtml-content-hash" content="sha256:{"0" * 64}">',
        f'+<meta name="memhtml-content-hash" content="{HASH.decode()}">',
    ]
    assert (tmp_path / "a.html").read_bytes() == data
    text = check(tmp_path, "--diff", "--text").out
    assert "+++ b/a.html" in text
    assert "--fix would make 1 repair" in text


@pytest.mark.parametrize(
    "written",
    [
        "2026-01-02T03:04:05",  # nobody's zone
        "2026-01-02 03:04",
        "2026-01-02T03:04:05.250Z",  # a quarter second would be lost
        "2026-02-30T03:04:05+01:00",  # no such day
        "2026-01-02T03:04:05+24:00",
        "last tuesday",
        "2026-01-02T03:04:05&#43;01:00",  # spelled in a way we do not rewrite
    ],
)
def test_a_time_that_names_no_single_instant_is_left_to_its_author(written: str) -> None:
    data = GOOD.replace(b"2026-01-02T03:04:05Z", written.encode(), 1)
    assert mend(data).data == data
    assert "meta-datetime-invalid" in {d.code for d in parse(data).diagnostics}


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2026-01-02 03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02t03:04:05.000z", "2026-01-02T03:04:05Z"),
        ("2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00Z"),
        ("2026-01-02 03:04 +0530", "2026-01-01T21:34:00Z"),
        ("2016-12-31T23:59:60+00:00", "2016-12-31T23:59:60Z"),
    ],
)
def test_a_time_that_names_one_instant_is_mended_to_its_utc_form(
    written: str, instant: str
) -> None:
    data = GOOD.replace(b"2026-01-02T03:04:05Z", written.encode(), 1)
    assert mend(data).data == GOOD.replace(b"2026-01-02T03:04:05Z", instant.encode(), 1)


def test_a_newline_that_would_become_a_word_of_the_article_is_not_added() -> None:
    data = GOOD[: GOOD.index(b"</article>")] + b"<pre>left open"
    assert mend(data).data == data


def test_the_added_newline_is_of_the_kind_the_file_has() -> None:
    data = GOOD.replace(b"\n", b"\r\n")
    assert mend(data[:-2]).data == data


def test_a_file_that_is_no_memory_is_never_mended() -> None:
    assert mend(b"<p>a page of another kind").fixes == ()


def test_a_hash_of_two_articles_is_not_stated_for_one() -> None:
    data = with_hash(b"sha256:" + b"0" * 64).replace(b"</body>", b"<article></article></body>")
    assert mend(data).fixes == ()


def test_a_file_that_cannot_be_written_is_reported_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(GOOD[:-1])

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    result = check(tmp_path, "--fix")
    assert result.status == 2
    assert result.data["unreadable"] == [{"path": "a.html", "reason": "Permission denied"}]
    assert path.read_bytes() == GOOD[:-1]
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_mending_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "real.html").write_bytes(GOOD[:-1])
    (tmp_path / "link.html").symlink_to("real.html")
    assert check(tmp_path, "--fix", "link.html").data["fixed"] == 1
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_bytes() == GOOD


def test_sarif_validates_against_the_published_schema(tmp_path: Path) -> None:
    # From the npm package @microsoft/jest-sarif 1.0.0-beta.0 (MIT).
    schema = json.loads(Path(__file__).with_name("sarif-2.1.0-rtm.5.json").read_text("utf-8"))
    (tmp_path / "naïve #1.html").write_bytes(
        b"\xef\xbb\xbf" + WITHOUT_CLAIM.replace(b"semantic", b"x").replace(b"<p>", b"<b>a</b><p>")
    )
    result = check(tmp_path, "--format", "sarif", ".", "gone.html")
    log = json.loads(result.out)
    jsonschema.Draft4Validator(schema).validate(log)
    run = log["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [code.name for code in CODES]
    assert {r["ruleId"] for r in run["results"]} == {
        "mark-missing",
        "type-unknown",
        "element-unknown",
    }
    for found in run["results"]:
        assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == found["ruleId"]
        place = found["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "na%C3%AFve%20%231.html"
    type_unknown = next(r for r in run["results"] if r["ruleId"] == "type-unknown")
    region = type_unknown["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"]) == (6, 27)
    data = (tmp_path / "naïve #1.html").read_bytes()
    start = region["byteOffset"]
    assert data[start : start + region["byteLength"]] == b'content="x"'
    assert run["invocations"][0]["executionSuccessful"] is False
    assert result.status == 2


def test_github_commands_escape_what_would_end_them(tmp_path: Path) -> None:
    name = "a,b%.html"
    (tmp_path / name).write_bytes(GOOD.replace(b'"semantic"', b'"50%"'))
    result = check(tmp_path, "--format", "github")
    assert result.out.startswith(
        "::error file=a%2Cb%25.html,line=6,endLine=6,col=27,endColumn=40,title=type-unknown::"
        '"50%25" is no type of memory'
    )
    assert result.out.count("\n") == 1


def test_forms_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    assert check(tmp_path, "--format", "sarif", "--json").status == 2
    assert check(tmp_path, "--format", "json", "--text").status == 2
    assert check(tmp_path, "--format", "text").out == "0 files checked\n"
    assert check(tmp_path, "--format", "json", is_terminal=True).json["type"] == "check.report"


def test_list_codes_lists_them_all() -> None:
    result = call("check", "--list-codes")
    assert result.json["type"] == "check.codes"
    assert [row["code"] for row in result.data["codes"]] == [code.name for code in CODES]
    text = call("check", "--list-codes", "--text").out
    assert all(code.name in text for code in CODES)


def test_a_name_that_is_not_utf8_is_reported_in_valid_json(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.html")
    try:
        (tmp_path / name).write_bytes(WITHOUT_CLAIM)
    except OSError:
        pytest.skip("this file system has only UTF-8 names")
    result = check(tmp_path)
    assert checked(result) == [name]
    assert "\\udce9" in result.out
