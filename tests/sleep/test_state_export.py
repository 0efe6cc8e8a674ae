"""The committed copy of usage is written when it says something else."""

from __future__ import annotations

from memhtml.format.usage import USAGE_PATH
from memhtml.index.sidecar import imported
from memhtml.index.usage import Usage
from memhtml.sleep.phases import state_export
from tests.sleep.trees import Tree, days_ago

READ = Usage(access_count=3, last_accessed_at=days_ago(1), updated_at=days_ago(1))


def test_the_copy_is_written_once_and_then_left_alone() -> None:
    tree = Tree()
    tree.write("areas/a.html", "One.")
    context = tree.context(usage={"areas/a.html": READ})
    (proposal,) = state_export.run(context).proposals
    tree.apply(proposal)
    assert [path for path, _ in imported(tree.files[USAGE_PATH])] == ["areas/a.html"]
    assert not state_export.run(tree.context(usage={"areas/a.html": READ})).proposals


def test_a_store_that_was_never_used_gets_no_copy() -> None:
    tree = Tree()
    tree.write("areas/a.html", "One.")
    assert not state_export.run(tree.context()).proposals


def test_what_the_run_archived_keeps_its_usage() -> None:
    tree = Tree()
    tree.write("areas/a.html", "One.")
    tree.apply(*state_export.run(tree.context(usage={"areas/a.html": READ})).proposals)
    place = "archive/2026/areas/a.html"
    tree.set(place, tree.files["areas/a.html"])
    tree.set("areas/a.html", None)
    tree.apply(*state_export.run(tree.context()).proposals)
    rows = dict(imported(tree.files[USAGE_PATH]))
    assert (list(rows), rows[place].access_count) == ([place], 3)
