"""Texts of other systems come back to the letter, and lead nowhere but their own folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memhtml
from memhtml.adapters.shelf import Key, Note, Shelf
from memhtml.model.errors import InvalidMemory, SecretFound, WriteConflict

if TYPE_CHECKING:
    from pathlib import Path

    from memhtml import Corpus

HARD = [
    "",
    " ",
    "\n",
    "\n\n leading and trailing \n\n",
    "a\r\nb\rc\n",
    "tab\tvt\x0bff\x0cnel\x85ls\u2028nbsp\u00a0",
    "</code></pre></figure><script>alert(1)</script>",
    "&amp; &#13; &lt;b&gt; &notin;",
    "<!-- <mark>not the claim</mark> -->",
    "```\nfence\n```",
    "nul \0 and a lone \ud800 surrogate",
    "\ufeffbom \ufffe\uffff",
    "<h1>An article of its own</h1>",
    "日本語 ق עברית 👩‍👩‍👧",
    '"json-string"',
]


def note(key: Key, text: str) -> Note:
    return Note(key, text, title=key.name or "unnamed")


@pytest.mark.parametrize("text", HARD)
def test_a_text_comes_back_to_the_letter(corpus: Corpus, text: str) -> None:
    shelf, key = Shelf(corpus, "areas/shelf"), Key(("a",), "b")
    shelf.change([note(key, text)])
    found = shelf.find(key)
    assert found is not None
    assert found.text == text
    assert [checked.is_valid for checked in corpus.check()] == [True]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text(max_size=6), max_size=3).map(tuple),
    st.text(max_size=6),
    st.text(st.characters(), max_size=40),
)
def test_any_text_under_any_key_comes_back(
    corpus: Corpus, folder: tuple[str, ...], name: str, text: str
) -> None:
    shelf, key = Shelf(corpus, "areas/shelf"), Key(folder, name)
    shelf.change([note(key, text)])
    found = shelf.find(key)
    assert found is not None
    assert (found.key, found.text) == (key, text)
    assert found.path.startswith("areas/shelf/")


@pytest.mark.parametrize(
    "key",
    [
        Key(("..", ".."), "../../etc/passwd"),
        Key(("/",), "/"),
        Key((".git",), "config"),
        Key(("CON",), "aux"),
        Key(("a" * 3000,), "b" * 3000),
        Key((), ""),
    ],
)
def test_a_key_leads_nowhere_but_below_the_folder(corpus: Corpus, key: Key, tmp_path: Path) -> None:
    shelf = Shelf(corpus, "areas/shelf")
    shelf.change([note(key, "x")])
    path = shelf.path_of(key)
    assert path.startswith("areas/shelf/")
    assert ".." not in path
    assert (tmp_path / "store" / path).is_file()
    assert len(path) < 200


def test_keys_that_look_alike_are_kept_apart(corpus: Corpus) -> None:
    keys = [
        Key(("a", "b"), "c"),
        Key(("a b",), "c"),
        Key(("a",), "b c"),
        Key(("A", "b"), "c"),
        Key(("a", "b"), "C"),
        Key(("a", "b"), "c "),
        Key(("a", "b", ""), "c"),
    ]
    shelf = Shelf(corpus, "areas/shelf")
    shelf.change([note(key, repr(key)) for key in keys])
    assert {entry.key: entry.text for entry in shelf.entries()} == {k: repr(k) for k in keys}


def test_other_memories_are_none_of_its_texts(corpus: Corpus) -> None:
    shelf = Shelf(corpus, "areas/shelf")
    corpus.write(memhtml.Draft(title="A", claim="A is.", memory_type=memhtml.MemoryType.SEMANTIC))
    corpus.write(
        memhtml.Draft(
            title="B",
            claim="B is.",
            memory_type=memhtml.MemoryType.SEMANTIC,
            path="areas/shelf/by-hand.html",
        )
    )
    shelf.change([note(Key((), "k"), "text")])
    assert [entry.key.name for entry in shelf.entries()] == ["k"]


def test_a_text_edited_by_hand_is_read_as_it_is_now(corpus: Corpus, tmp_path: Path) -> None:
    shelf, key = Shelf(corpus, "areas/shelf"), Key((), "k")
    shelf.change([note(key, "one")])
    file = tmp_path / "store" / shelf.path_of(key)
    file.write_text(file.read_text("utf-8").replace(">one<", "> <b>two</b> <"), "utf-8")
    found = shelf.find(key)
    assert found is not None
    assert found.text == " two "


@pytest.mark.parametrize(("old", "new"), [('"a\\r"', '"a'), ("pre>", "p>")])
def test_a_text_that_was_broken_by_hand_is_an_error_and_no_absence(
    corpus: Corpus, tmp_path: Path, old: str, new: str
) -> None:
    shelf, key = Shelf(corpus, "areas/shelf"), Key((), "k")
    shelf.change([note(key, "a\r")])
    file = tmp_path / "store" / shelf.path_of(key)
    broken = file.read_text("utf-8").replace(old, new)
    assert broken != file.read_text("utf-8")
    file.write_text(broken, "utf-8")
    with pytest.raises(InvalidMemory, match="does not hold its text any more"):
        shelf.find(key)


def test_every_other_door_finds_what_is_kept(corpus: Corpus) -> None:
    shelf = Shelf(corpus, "areas/shelf")
    shelf.change([note(Key(("notes",), "coffee.md"), "# Coffee\n\nAda takes oat milk.\n")])
    (hit,) = corpus.search("which milk does ada take").hits
    assert hit.gist == "Ada takes oat milk."
    assert "oat milk" in hit.snippet.text


def test_equal_texts_are_apart_and_pinned_so_that_curation_leaves_them(corpus: Corpus) -> None:
    # Two users with one setting have two settings: "memhtml sleep" must not fold them.
    shelf = Shelf(corpus, "areas/shelf")
    shelf.change([note(Key((user,), "theme"), "dark") for user in ("ada", "Ada", "bob")])
    documents = [memory.document for memory in corpus]
    assert len({document.content_hash for document in documents}) == 3
    assert len({facet.value for d in documents for facet in d.facets}) == 3
    assert all("pinned" in document.head.tags for document in documents)


def test_no_credential_and_no_unread_version_gets_through(corpus: Corpus) -> None:
    shelf, key = Shelf(corpus, "areas/shelf"), Key((), "k")
    with pytest.raises(SecretFound):
        shelf.change([note(key, "token = ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")])
    shelf.change([note(key, "one")])
    with pytest.raises(WriteConflict):
        shelf.change([note(key, "two")], expect={key: "0" * 40})
