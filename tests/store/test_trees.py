from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhtml.model.errors import WriteConflict
from memhtml.store.objects import object_sha
from memhtml.store.trees import Entry, Trees

if TYPE_CHECKING:
    from tests.store.sandbox import Sandbox

A, B = "a" * 40, "b" * 40
# "a" sorts before "a.html" as a file and after it as a folder, which is where sorting goes wrong.
SEGMENTS = st.sampled_from(["a", "a.html", "a-b", "a0", "é", "z"])
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)


class Memory:
    """Trees kept in memory."""

    def __init__(self) -> None:
        self.objects = {object_sha("tree", b""): b""}
        self.trees = Trees(self.objects.__getitem__)

    def write(self, content: bytes) -> str:
        sha = object_sha("tree", content)
        self.objects[sha] = content
        return sha

    def edit(self, root: str | None, edits: dict[str, Entry | None]) -> str:
        return self.trees.edit(root, edits, self.write)


def gits_tree(store: Sandbox, files: dict[str, str]) -> str:
    rows = "".join(f"100644 {sha}\t{path}\0" for path, sha in files.items())
    store.git("read-tree", "--empty")
    store.git("update-index", "-z", "--index-info", stdin=rows)
    return store.git("write-tree", "--missing-ok").strip()


def without_clashes(paths: set[str]) -> set[str]:
    """Drop every path that another one needs as a folder."""
    return {path for path in paths if not any(other.startswith(f"{path}/") for other in paths)}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.sets(PATHS, max_size=8), after=st.sets(PATHS, max_size=8))
def test_any_edit_gives_the_tree_that_git_would_write(
    store: Sandbox, before: set[str], after: set[str]
) -> None:
    old, new = without_clashes(before), without_clashes(after)
    memory = Memory()
    root = memory.edit(None, {path: Entry("100644", A) for path in old})
    edits: dict[str, Entry | None] = dict.fromkeys(old - new)
    edits.update({path: Entry("100644", B) for path in new})
    assert memory.edit(root, edits) == gits_tree(store, dict.fromkeys(new, B))
    # A second reader, without what the first keeps in memory, sees the same.
    fresh = Trees(memory.objects.__getitem__)
    root = memory.edit(root, edits)
    for path in old | new:
        found = fresh.find(root, path)
        expected = Entry("100644", B) if path in new else None
        assert found == expected or (found is not None and found.mode == "40000")


def test_only_the_trees_on_a_changed_path_are_written() -> None:
    memory = Memory()
    files = {f"{x}/{y}/f.html": Entry("100644", A) for x in "abc" for y in "abc"}
    root = memory.edit(None, dict(files))
    written: list[bytes] = []

    def write(content: bytes) -> str:
        written.append(content)
        return memory.write(content)

    memory.trees.edit(root, {"a/b/f.html": Entry("100644", B)}, write)
    assert len(written) == 3


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("areas/Owl.html", "areas/owl.html"),
        ("areas/owl.html", "areas/OWL.html"),
        ("Areas/x.html", "areas/y.html"),
        ("areas/caf\u00e9.html", "areas/cafe\u0301.html"),
        ("areas/x", "areas/x/y.html"),
        ("areas/x/y.html", "areas/x"),
    ],
)
def test_a_name_that_some_file_systems_could_not_keep_apart_is_refused(
    there: str, new: str
) -> None:
    memory = Memory()
    root = memory.edit(None, {there: Entry("100644", A)})
    with pytest.raises(WriteConflict) as refused:
        memory.edit(root, {new: Entry("100644", B)})
    assert new.startswith(refused.value.path)


def test_a_name_vacated_by_the_same_edit_is_free() -> None:
    memory = Memory()
    root = memory.edit(None, {"areas/Owl.html": Entry("100644", A)})
    renamed = memory.edit(root, {"areas/Owl.html": None, "areas/owl.html": Entry("100644", A)})
    assert memory.trees.names(renamed, "areas") == ["owl.html"]
    nested = memory.edit(root, {"areas/Owl.html": None, "areas/owl.html/x": Entry("100644", A)})
    assert memory.trees.find(nested, "areas/owl.html/x") == Entry("100644", A)


def test_removing_everything_leaves_gits_empty_tree() -> None:
    memory = Memory()
    root = memory.edit(None, {"a/b/c.html": Entry("100644", A)})
    empty = subprocess.run(
        ["git", "hash-object", "-t", "tree", "--stdin"], input=b"", capture_output=True, check=True
    )
    assert memory.edit(root, {"a/b/c.html": None}) == empty.stdout.decode().strip()
