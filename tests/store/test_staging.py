from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memhtml.model.errors import StorageFailure
from memhtml.store.git import Git
from memhtml.store.staging import Staging
from memhtml.store.trees import Entry
from tests.store.sandbox import sha

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.store.sandbox import Sandbox

COUNT = 40


def staging(store: Sandbox, *, sha_bytes: int = 20) -> Staging:
    own = store.root / ".git"
    tmp = own / "memhtml" / "tmp"
    tmp.mkdir(parents=True, exist_ok=True)
    return Staging(str(own), str(tmp), Git(str(store.root)), sha_bytes=sha_bytes, wait_seconds=0.05)


def fill(store: Sandbox) -> list[str]:
    paths = [f"areas/{'x' * (n % 9)}{n}.html" for n in range(COUNT)] + ["naïve é.html"]
    for path in paths:
        store.write(path, path)
    store.git("add", "-A")
    return paths


def version(number: int) -> Callable[[Sandbox], object]:
    return lambda store: store.git("update-index", f"--index-version={number}")


def extended_flags(store: Sandbox) -> None:
    store.git("commit", "-qm", "x")
    store.git("update-index", "--skip-worktree", "areas/x1.html")
    store.write("later.html", "later")
    store.git("add", "--intent-to-add", "later.html")


def split(store: Sandbox) -> None:
    store.git("update-index", "--split-index")
    store.write("areas/after the split.html", "x")
    store.git("add", "-A")


def a_path_like_an_extension(store: Sandbox) -> None:
    store.write("areas/symlink", "x")
    store.git("add", "-A")


@pytest.mark.parametrize(
    "shape", [version(2), extended_flags, version(4), split, a_path_like_an_extension]
)
def test_entries_are_read_as_git_lists_them(
    store: Sandbox, shape: Callable[[Sandbox], object]
) -> None:
    fill(store)
    shape(store)
    listed = Git(str(store.root)).staged()
    assert len(listed) > COUNT
    asked = [*listed, "areas/not there.html", "areas"]
    reader = staging(store)
    assert reader.find(asked) == listed
    for path in asked:
        assert reader.find([path]) == ({path: listed[path]} if path in listed else {})


def test_an_unfinished_merge_shows_as_a_stage(store: Sandbox) -> None:
    store.write("a.html", "one\n")
    store.git("add", "-A")
    store.git("commit", "-qm", "base")
    for branch, text in (("left", "left\n"), ("right", "right\n")):
        store.git("switch", "-qc", branch, "main")
        store.write("a.html", text)
        store.git("commit", "-qam", branch)
    store.git("merge", "left", check=False)
    assert staging(store).find(["a.html"])["a.html"].stage > 0


@pytest.mark.parametrize("prefix", ["xxxxxx0/", "xxxxxxp/x/"])
def test_bytes_that_only_look_like_an_entry_do_not_mislead(store: Sandbox, prefix: str) -> None:
    # Where the flags of an entry for the shorter path would be, the longer one has "0/" or "p/":
    # the right length in the low bits, and in "p/" the mark of two more bytes of flags.
    name = "areas/" + "n" * 36 + ".html"
    assert len(name) == ord("/")
    for path in (name, prefix + name):
        store.write(path, path)
    store.git("add", "-A")
    raw = (store.root / ".git" / "index").read_bytes()
    reader = staging(store)
    assert len(reader._candidates(raw, name.encode())) == 2
    assert reader.find([name]) == {name: Git(str(store.root)).staged()[name]}


def test_a_broken_index_is_an_error_that_names_the_file(store: Sandbox) -> None:
    (store.root / ".git" / "index").write_bytes(b"rubbish and more")
    with pytest.raises(StorageFailure, match="is not a git index"):
        staging(store).find(["a.html"])


def test_writing_leaves_every_other_entry_as_it_was(store: Sandbox) -> None:
    fill(store)
    store.git("update-index", "--chmod=+x", "areas/0.html")
    before = Git(str(store.root)).staged()
    index = staging(store)
    index.hold()
    store.write("areas/new.html", "new")
    blob = store.git("hash-object", "-w", "areas/new.html").strip()
    assert blob == sha(b"new")
    index.put({"areas/new.html": Entry("100644", blob), "naïve é.html": None})
    assert index.find(["areas/new.html", "naïve é.html"]).keys() == {"areas/new.html"}
    index.flush()
    index.release()
    after = Git(str(store.root)).staged()
    assert after.pop("areas/new.html").sha == blob
    assert before.pop("naïve é.html")
    assert after == before


def test_many_entries_without_stat_data_are_refreshed_in_one_go(store: Sandbox) -> None:
    index = staging(store)
    index.hold()
    new = {}
    for n in range(300):
        store.write(f"areas/{n}.html", f"{n}")
        new[f"areas/{n}.html"] = Entry("100644", sha(b"%d" % n))
    index.put(new)
    index.flush()
    index.release()
    raw = (store.root / ".git" / "index").read_bytes()
    assert raw.count(b"\0" * 24 + b"\0\0\x81\xa4") == 0
    assert store.git("diff-files", "--name-only") == ""
