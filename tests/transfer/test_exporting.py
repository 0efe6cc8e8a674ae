from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from memhtml.format.elements import FORBIDDEN, UNSAFE, VOCABULARY
from memhtml.format.markdown import from_markdown
from memhtml.format.text import canonical_text
from memhtml.format.to_markdown import to_markdown
from memhtml.model.changes import ArchiveRequest
from memhtml.model.document import Facet
from memhtml.model.errors import InvalidFlag
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.transfer.exporting import export
from memhtml.transfer.importing import import_source
from memhtml.transfer.item import Outcome
from memhtml.transfer.page import page_end, page_start
from tests.transfer.stores import bring, files, make_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.corpus import Corpus

HEAD = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
    '<meta name="memhtml-type" content="semantic">\n<meta name="memhtml-status" content="active">\n'
    '<meta name="memhtml-created" content="2026-01-01T00:00:00Z">\n'
    '<meta name="memhtml-updated" content="2026-01-01T00:00:00Z">\n</head>\n<body>\n'
)
EVIL = "</script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>"


def by_hand(title: str, article: str) -> bytes:
    page = HEAD.format(title=title) + f"<article>\n{article}\n</article>\n</body>\n</html>\n"
    return page.encode()


def write_by_hand(corpus: Corpus, path: str, data: bytes) -> None:
    place = Path(corpus.root, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with make_store(tmp_path_factory.mktemp("full") / "bakery") as corpus:
        kept = {"memory_type": MemoryType.SEMANTIC, "tags": ("ovens", "Owl care")}
        corpus.apply(
            [
                Draft(
                    title="Crème oven",
                    claim="The deck oven heats in 40 minutes.",
                    paragraphs=("It stands in the back.", "```py\nheat()\n```"),
                    facets=(Facet("minutes", "40", 40.0),),
                    entities=("device:oven",),
                    **kept,  # type: ignore[arg-type]
                ),
                Draft(title="Old", memory_type=MemoryType.EPISODIC, claim="Gone by now."),
                Draft(title="Tell Ada", memory_type=MemoryType.TASK, claim="Ada knows."),
                Draft(title=EVIL, memory_type=MemoryType.SEMANTIC, claim=f"Say {EVIL} aloud."),
                ArchiveRequest(path="@1", reason="old"),
            ]
        )
        same = by_hand("Twin", "<p><mark>Two files say this.</mark></p>")
        write_by_hand(corpus, "areas/twins/a.html", same)
        write_by_hand(corpus, "areas/twins/Was da?.html", same)
        odd = by_hand("Odd", "<p><mark>Caf\u00e9</mark> <b>bold</b></p>\r\n<p>b</p>")
        write_by_hand(corpus, "areas/odd.html", b"\xef\xbb\xbf" + odd.replace(b"\xc3\xa9", b"\xe9"))
        write_by_hand(corpus, "areas/broken.html", b"<p>no memory")
        yield corpus


@pytest.mark.parametrize("format_", ["jsonl", "html"])
def test_what_is_exported_comes_back_byte_for_byte(
    corpus: Corpus, tmp_path: Path, format_: str
) -> None:
    out = tmp_path / f"all.{format_}"
    report = export(corpus, str(out), format_=format_)
    expected = files(corpus)
    assert (report.memories, report.archived) == (len(expected), 1)
    assert [path for path, _ in report.left_out] == ["areas/broken.html"]
    with make_store(tmp_path / "new") as new:
        brought = bring(new, out)
        assert brought.count(Outcome.WRITTEN) == len(expected)
        assert files(new) == expected
        assert new.status().dirty == ()
        again = bring(new, out)
        assert again.count(Outcome.DEDUPED) == len(expected)


_words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
_texts = st.lists(
    st.tuples(_words, _words, st.sampled_from(["\n", "\r\n", "\r"])), min_size=20, max_size=40
)


# Two stores an example are dear, so there are few examples of many memories, and none is shrunk.
@settings(max_examples=3, phases=[Phase.explicit, Phase.generate])
@given(_texts)
def test_any_memory_comes_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("law")
    with make_store(folder / "old") as old, make_store(folder / "new") as new:
        for number, (title, text, newline) in enumerate(texts):
            escaped = text.replace("&", "&amp;").replace("<", "&lt;")
            page = by_hand(f"T{title.replace('<', '&lt;')}", f"<p><mark>A</mark> {escaped}</p>")
            data = page.replace(b"\n", newline.encode())
            write_by_hand(old, f"areas/x/{number}.html", data)
        old.update()
        expected = files(old)
        export(old, str(folder / "all.jsonl"), format_="jsonl")
        report = import_source(new, str(folder / "all.jsonl"))
        assert report.count(Outcome.WRITTEN) == len(expected) == len(texts)
        assert files(new) == expected


def test_an_export_that_was_cut_off_or_changed_is_noticed(corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    export(corpus, str(out), format_="jsonl")
    lines = out.read_text("utf-8").split("\n")
    changed = lines[1].replace("</html>", "</html> ")
    Path(tmp_path, "cut.jsonl").write_text("\n".join([lines[0], changed, *lines[2:4]]), "utf-8")
    with make_store(tmp_path / "new") as new:
        report = bring(new, tmp_path / "cut.jsonl")
        reasons = [result.reason for result in report.results if result.outcome is Outcome.FAILED]
        assert reasons == [
            "its bytes are not those that were exported: the hash differs",
            "it ends early: 3 memories are in it, and its end tells of None",
        ]
        assert report.count(Outcome.WRITTEN) == 2


def test_a_place_that_is_taken_fails_alone_and_what_is_said_already_is_known(
    corpus: Corpus, tmp_path: Path
) -> None:
    out = tmp_path / "all.jsonl"
    export(corpus, str(out), format_="jsonl")
    with make_store(tmp_path / "new") as new:
        new.write(Draft(title="x", memory_type=MemoryType.SEMANTIC, claim="Two files say this."))
        other = by_hand("Other", "<p><mark>Something else.</mark></p>")
        write_by_hand(new, "areas/odd.html", other)
        report = bring(new, out)
        told = {result.title: (result.outcome.value, result.path) for result in report.results}
        assert told["Odd"] == ("failed", None)
        assert told["Twin"] == ("deduped", "areas/inbox/x.html")
        assert Path(new.root, "areas/odd.html").read_bytes() == other


@pytest.mark.parametrize(
    ("path", "code"),
    [("../../x.html", "ERR_INVALID_MEMORY"), ("areas/.git/x.html", "ERR_INVALID_MEMORY")],
)
def test_a_line_cannot_write_outside_of_the_buckets(tmp_path: Path, path: str, code: str) -> None:
    memory = {
        "type": "memory",
        "path": path,
        "html": by_hand("x", "<p><mark>x</mark></p>").decode(),
    }
    lines = [{"format": "memhtml-export", "version": 1}, memory, {"type": "end", "memories": 1}]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    with make_store(tmp_path / "new") as new:
        (result,) = bring(new, tmp_path / "x.jsonl").results
        assert (result.outcome, result.code) == (Outcome.FAILED, code)


def test_the_archive_can_be_left_out(corpus: Corpus, tmp_path: Path) -> None:
    report = export(corpus, str(tmp_path / "a.jsonl"), format_="jsonl", active_only=True)
    assert (report.memories, report.archived) == (len(files(corpus)) - 1, 0)


def test_nothing_is_written_over_unless_it_is_forced(corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidFlag, match="already"):
        export(corpus, str(out), format_="jsonl")
    assert out.read_text("utf-8") == "mine"
    export(corpus, str(out), format_="jsonl", force=True)
    assert json.loads(out.read_text("utf-8").split("\n")[0])["format"] == "memhtml-export"
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]
    with pytest.raises(InvalidFlag, match="already"):
        export(corpus, str(tmp_path), format_="md")


def test_notes_have_what_note_takers_read_and_come_back_as_memories(
    corpus: Corpus, tmp_path: Path
) -> None:
    out = tmp_path / "notes"
    report = export(corpus, str(out), format_="md")
    names = [path.relative_to(out).as_posix() for path in sorted(out.rglob("*.md"))]
    assert len(names) == report.memories
    oven = out.joinpath("resources/ovens/creme-oven.md").read_text("utf-8")
    assert oven.startswith('---\ntitle: "Cr\\u00e8me oven"\ntype: "semantic"\n')
    assert "The deck oven heats in 40 minutes. It stands in the back.\n\n```py\nheat()" in oven
    assert "- minutes: 40" in oven
    with make_store(tmp_path / "new") as new:
        brought = bring(new, out)
        assert brought.count(Outcome.FAILED) == 0
        assert [r.reason for r in brought.results if r.outcome is Outcome.SKIPPED] == [
            "it is archived where it comes from"
        ]
        found = {result.title: result.path for result in brought.results}
        memory = new.read(found["Crème oven"] or "")
        assert memory.document.head.tags == ("ovens", "Owl care")
        assert memory.document.head.entities == ("device:oven",)
        assert memory.document.claim == "The deck oven heats in 40 minutes."
        assert new.read(found[EVIL] or "").document.claim == f"Say {EVIL} aloud."


@settings(max_examples=60)
@given(st.lists(st.text("ab *_`[]()#>|~-+.1!&<\\\n", max_size=12), max_size=5))
def test_an_article_as_markdown_says_the_same_words(parts: list[str]) -> None:
    html = from_markdown("\n\n".join(parts), fallback_claim="x").article_html
    again = from_markdown(to_markdown(html)).article_html
    said = canonical_text(again.encode()).translate(dict.fromkeys(map(ord, "\u201c\u201d")))
    assert said.split() == canonical_text(html.encode()).split()


# The page


def test_the_page_lets_only_its_own_script_and_style_run() -> None:
    page = page_start(title="<x>", exported_at="now") + page_end()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"(?:src|href)=", page.replace("-src", ""))
    assert "<title>Memories of &lt;x&gt;</title>" in page


def test_the_page_shows_the_vocabulary_and_nothing_else() -> None:
    script = page_end()
    listed = re.search(r'new Set\(\(("[^;]*?)\)\.split', script)
    assert listed is not None
    shown = set(" ".join(re.findall('"([^"]*)"', listed[1])).split())
    assert shown == VOCABULARY - {"html", "head", "body", "title", "meta", "link"}
    assert not shown & (FORBIDDEN | UNSAFE)


def test_no_memory_can_end_the_data_of_the_page(corpus: Corpus, tmp_path: Path) -> None:
    export(corpus, str(tmp_path / "a.html"), format_="html")
    page = (tmp_path / "a.html").read_text("utf-8")
    assert len(re.findall("</script>", page)) == 2
    assert page.count("<script") == 2


CHROMIUM = shutil.which("chromium")


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to look with")
def test_the_page_finds_and_shows_in_a_browser_and_obeys_no_memory(
    corpus: Corpus, tmp_path: Path
) -> None:
    export(corpus, str(tmp_path / "a.html"), format_="html")
    evil = next(path for path, data in files(corpus).items() if b"aloud" in data)
    found = look(tmp_path, "a.html#?q=DECK%20creme")
    assert ">Crème oven</a>" in found
    assert "1 memory of" in found
    assert "The <mark>deck</mark> oven heats" in found
    shown = look(tmp_path, "a.html#/" + evil.replace("/", "%2F"))
    assert "<title>Memories of bakery</title>" in shown
    assert "&lt;img src=x onerror" in shown.partition('id="page"')[2]
    assert "<img" not in re.sub(r"<script.*?</script>", "", shown, flags=re.DOTALL)


def look(folder: Path, page: str) -> str:
    done = subprocess.run(
        [
            str(CHROMIUM),
            *"--headless --no-sandbox --disable-gpu --disable-quic --no-first-run".split(),
            *"--disable-background-networking --disable-component-update --disable-sync".split(),
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            (folder / page.partition("#")[0]).as_uri() + "#" + page.partition("#")[2],
        ],
        capture_output=True,
        timeout=120,
        check=True,
    )
    return done.stdout.decode()
