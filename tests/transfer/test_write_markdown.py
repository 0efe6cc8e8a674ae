from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.calls import Result, call

if TYPE_CHECKING:
    from pathlib import Path

OVEN = """\
The deck oven needs **40 minutes** to heat. It stands in the back.

![plan](plan.png)

- top: 250 °C
- bottom: 230 °C
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    assert call("init", "--repo", str(root)).status == 0
    return root


def write(store: Path, *flags: str, stdin: bytes = b"", is_terminal: bool = False) -> Result:
    return call(
        *("write", "--repo", str(store), "--title", "Oven", "--type", "semantic", *flags),
        stdin=stdin,
        cwd=store.parent,
        is_terminal=is_terminal,
    )


def test_markdown_becomes_the_formats_own_elements_and_the_rest_is_told(store: Path) -> None:
    (store.parent / "oven.md").write_text(OVEN, encoding="utf-8")
    done = write(store, "--markdown", "--body", "@oven.md", "--facet", "minutes=40")
    (note,) = done.data["markdownNotes"]
    assert (note["line"], note["code"]) == (3, "image")
    read = call("read", "--repo", str(store), done.data["path"]).data
    assert read["gist"] == "The deck oven needs 40 minutes to heat."
    assert "<li>top: 250 °C</li>" in read["html"]
    assert read["facets"] == [{"name": "minutes", "value": "40", "number": 40.0}]


def test_a_person_is_told_what_had_no_place(store: Path) -> None:
    done = write(store, "--markdown", "--body", "-", stdin=OVEN.encode(), is_terminal=True)
    assert "Markdown line 3: images have no place" in done.out


def test_a_claim_that_is_stated_leads_the_markdown(store: Path) -> None:
    body = ("--body", "It takes *long*. Really.")
    done = write(store, "--markdown", "--claim", "Heat it early.", *body)
    read = call("read", "--repo", str(store), done.data["path"]).data
    assert read["html"].strip() == (
        "<p><mark>Heat it early.</mark></p>\n<p>It takes <em>long</em>. Really.</p>"
    )


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (("--markdown",), "ERR_MISSING_ARGUMENT"),
        (("--markdown", "--body", "x", "--article-html", "<p>x</p>"), "ERR_INVALID_FLAG"),
    ],
)
def test_markdown_without_a_body_or_beside_html_is_refused(
    store: Path, flags: tuple[str, ...], code: str
) -> None:
    done = write(store, *flags)
    assert (done.status, done.json["code"]) == (2, code)
