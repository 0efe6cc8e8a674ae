"""What other processes make ahead is what the planner would have made, or nothing."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from memhtml import workers
from memhtml.corpus import Corpus
from memhtml.model.changes import ArchiveRequest, Batch, LinkRequest
from memhtml.model.document import Facet, Link
from memhtml.model.errors import MissingArgument
from memhtml.model.instants import stamp
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.store import ahead
from memhtml.store.ahead import Order, making_ahead
from memhtml.store.batch import BatchOptions, plan_batch
from tests.index.stores import tables
from tests.store.dictview import DictView

if TYPE_CHECKING:
    from pathlib import Path

    from memhtml.model.changes import Request
    from memhtml.model.document import Document
    from memhtml.model.errors import MemhtmlError
    from memhtml.store.plan import Planned

NOW = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)
OWLS = Draft(title="Owls", memory_type=MemoryType.SEMANTIC, claim="Owls like east.")
LINKS = (Link("memhtml-supports", "/areas/goal.html"),)
TOKEN = "ghp_" + "a1B2" * 9


def requests() -> list[Request | MemhtmlError]:
    """Return some of everything that may happen to a draft on its way."""
    plain: list[Request | MemhtmlError] = [
        replace(OWLS, title=f"Owl {n}", claim=f"The owl {n} likes box {n % 7}.") for n in range(40)
    ]
    return [
        *plain[:10],
        replace(OWLS, claim=""),
        replace(OWLS, title="Key", claim=f"The key is {TOKEN}."),
        MissingArgument("title"),
        replace(OWLS, title="Code", paragraphs=("```\nprint(1)\n```",)),
        LinkRequest(src="@0", rel=Rel.SUPPORTS, dst="@1"),
        *plain[10:30],
        replace(OWLS, title="Linked", claim="Owls hear.", links=(Link("memhtml-supports", "/@3"),)),
        replace(
            OWLS,
            title="Broken",
            claim="Owls see.",
            links=(Link("memhtml-supports", "/areas/none.html"),),
        ),
        replace(OWLS, title="To do", memory_type=MemoryType.TASK, claim="Mend the box."),
        plain[3],
        ArchiveRequest(path="@2", reason="no longer so"),
        *plain[30:],
        replace(OWLS, title="Far", path="areas/../x.html"),
    ]


def planned(
    asked: list[Request | MemhtmlError], options: BatchOptions, *, with_children: bool
) -> Planned[Batch]:
    with making_ahead(asked, Order(stamp(NOW), options.allow_secret)) as made:
        assert (made is not None) is with_children
        return plan_batch(
            asked,
            DictView(),
            now=NOW,
            options=options,
            detect=lambda _code: "python",
            ahead=made,
        )


def told(plan: Planned[Batch]) -> list[object]:
    """Return all of a plan, with errors as what they say: no two of them are equal."""
    results = [
        (replace(r, error=None), r.error and (type(r.error), r.error.message, r.error.suggestions))
        for r in plan.result.results
    ]
    return [results, plan.steps, plan.subject, plan.trailers, plan.facts, plan.documents]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "AHEAD_FROM", 10)
    monkeypatch.setattr(ahead, "CHUNK", 4)
    monkeypatch.setattr(workers, "spare_processes", lambda: 2)


@pytest.mark.parametrize(
    "options",
    [
        BatchOptions(continue_on_error=True),
        BatchOptions(continue_on_error=True, last_wins=True),
        BatchOptions(continue_on_error=True, detect_conflicts=True, allow_secret=True),
        BatchOptions(),
    ],
)
def test_a_batch_made_by_several_processes_is_the_one_made_by_one(
    options: BatchOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = planned(requests(), options, with_children=False)
    assert len(alone.result.failed) >= 4
    monkeypatch.setattr(ahead, "AHEAD_FROM", 10)
    monkeypatch.setattr(ahead, "CHUNK", 4)
    monkeypatch.setattr(workers, "spare_processes", lambda: 2)
    assert told(planned(requests(), options, with_children=True)) == told(alone)


@pytest.mark.usefixtures("small")
def test_children_do_make_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    drafts = [replace(OWLS, title=f"Owl {n}") for n in range(40)]
    monkeypatch.setattr(ahead, "_made", _nothing)  # in this process only
    with making_ahead(drafts, Order(stamp(NOW), allow_secret=False, project=_project)) as made:
        assert made is not None
        found = [made(n) for n in range(40)]
    assert sum(one is not None for one in found) >= 8
    assert all(
        one.document == (f"Owl {n}", (one.fact.near_key, one.fact.frame_key))
        for n, one in enumerate(found)
        if one
    )


def _project(document: Document, keys: tuple[str | None, str | None]) -> object:
    return document.title, keys


def _nothing(*_args: object, **_options: object) -> None:
    return None


@pytest.mark.usefixtures("small")
def test_the_index_of_a_batch_made_ahead_is_the_one_a_rebuild_gives(tmp_path: Path) -> None:
    Corpus.init(tmp_path)
    linked = replace(OWLS, claim="Owls turn.", path="areas/all.html", links=LINKS)
    dated = replace(OWLS, title="Day", happened_at="2026-07-01", facets=(Facet("box", "7", 7.0),))
    with Corpus.open(tmp_path) as corpus:
        corpus.apply([replace(OWLS, title="Goal", path="areas/goal.html")])
        done = corpus.apply([*requests(), linked, dated], BatchOptions(continue_on_error=True))
        assert len(done.failed) == 5
        followed = tables(corpus._index)
        corpus.rebuild()
        assert tables(corpus._index) == followed
    assert len(followed["files"]) > 40


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "child",
    ["import sys; sys.exit(3)", "import sys; sys.stdin.buffer.read(10); print('no pickle')"],
)
def test_children_that_die_cost_no_memory(child: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_CHILD", child)
    done = planned(requests(), BatchOptions(continue_on_error=True), with_children=True)
    monkeypatch.setattr(ahead, "AHEAD_FROM", 1_000)
    alone = planned(requests(), BatchOptions(continue_on_error=True), with_children=False)
    assert told(done) == told(alone)


@pytest.mark.usefixtures("small")
def test_a_planner_that_fails_leaves_no_child_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    children = []
    start = subprocess.Popen

    def watched(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        children.append(start(*args, **options))
        return children[-1]

    monkeypatch.setattr(subprocess, "Popen", watched)
    with pytest.raises(ZeroDivisionError):
        _fail_while_making()
    assert [child.poll() is not None for child in children] == [True, True]


def _fail_while_making() -> None:
    with making_ahead([OWLS] * 40, Order(stamp(NOW), allow_secret=False)) as made:
        assert made is not None
        made(0)
        raise ZeroDivisionError
