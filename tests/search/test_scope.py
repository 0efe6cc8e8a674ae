"""Filters against the real index."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import pytest

from memhtml.index.database import Index, open_index
from memhtml.index.indexer import update
from memhtml.search.hits import NoMatchReason
from memhtml.search.lists import list_memories
from memhtml.search.scope import make_scope
from memhtml.search.search import search
from memhtml.store.repo import Repo
from tests.index.stores import NOW, Store, memory

if TYPE_CHECKING:
    from collections.abc import Iterator


def with_metas(page: str, **metas: str) -> str:
    lines = "".join(
        f'<meta name="memhtml-{name.replace("_", "-")}" content="{html.escape(value)}">\n'
        for name, value in metas.items()
    )
    return page.replace("</head>", f"{lines}</head>")


def lasting(minutes: int, claim: str) -> str:
    facet = f'<dl><dt>duration</dt><dd><data value="{minutes}">{minutes} min</data></dd></dl>'
    return memory(claim).replace("</article>", f"{facet}\n</article>")


def happened(day: str, claim: str) -> str:
    page = memory(claim, created="2026-02-01T00:00:00Z")
    return page.replace("</article>", f'<p>On <time datetime="{day}">{day}</time>.</p></article>')


FILES = {
    "projects/barn/short.html": lasting(30, "owl short"),
    "projects/barn/long.html": lasting(120, "owl long"),
    "areas/longer.html": lasting(500, "owl longer"),
    "areas/words.html": memory("owl words", facets=(("duration", "forever"),)),
    "areas/tagged.html": memory("owl tagged", tags=("a", "b"), entities=("bird:Owl", "place:Barn")),
    "areas/half.html": memory("owl half", tags=("a",), entities=("bird:Owl",)),
    "areas/claude.html": with_metas(memory("owl claude"), author="Claude"),
    "areas/oezil.html": with_metas(memory("owl oezil"), author="ÖZIL Ann"),
    "areas/may.html": happened("2025-05-04", "owl may"),
    "areas/june.html": happened("2025-06-05T10:00:00Z", "owl june"),
    "areas/valid.html": with_metas(
        memory("owl valid"), valid_from="2024-01-01", valid_until="2024-06-01"
    ),
    "archive/2026/areas/gone.html": with_metas(
        memory("owl gone", created="2024-02-01T00:00:00Z"), valid_until="2024-03-01T00:00:00Z"
    ),
}
ALL = {path.rpartition("/")[2].removesuffix(".html") for path in FILES} - {"gone"}


@pytest.fixture(scope="module")
def owls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    store = Store(tmp_path_factory.mktemp("owls"))
    for path, data in FILES.items():
        store.put(path, data)
    store.commit()
    root = str(store.root)
    with Repo.open(root) as repo, open_index(root) as index:
        update(index, repo, now=NOW)
        yield index


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"facets": ["duration>=120"]}, {"long", "longer"}),
        ({"facets": ["duration > 120"]}, {"longer"}),
        ({"facets": ["duration<120"]}, {"short"}),
        ({"facets": ["duration>=30", "duration<=120"]}, {"short", "long"}),
        ({"facets": ["duration=forever"]}, {"words"}),
        ({"tags": ["a", "b"]}, {"tagged", "half"}),
        ({"all_tags": ["a", "b"]}, {"tagged"}),
        ({"entities": ["bird:owl", "place:BARN"]}, {"tagged"}),
        ({"authors": ["claude"]}, {"claude"}),
        ({"authors": ["özil ann", "nobody"]}, {"oezil"}),
        ({"authors": ["nobody"]}, set()),
        ({"event_since": "2025-05-04", "event_until": "2025-05-04"}, {"may"}),
        ({"event_since": "2025-06-05", "event_until": "2025-06-05"}, {"june"}),
        ({"event_until": "2025-06-05T09:59:59Z"}, {"may"}),
        ({"updated_since": "2026-02-01"}, {"may", "june"}),
        ({"updated_until": "2026-01-01"}, ALL - {"may", "june"}),
        ({"not_tags": ["b"]}, ALL - {"tagged"}),
        ({"not_entities": ["bird:owl"]}, ALL - {"tagged", "half"}),
        ({"not_workspaces": ["barn"]}, ALL - {"short", "long"}),
        ({"not_authors": ["CLAUDE"]}, ALL - {"claude"}),
        ({"not_facets": ["duration>=120"]}, ALL - {"long", "longer"}),
        ({"not_facets": ["duration>=500", "duration=forever"]}, ALL - {"longer", "words"}),
        ({"not_path_prefixes": ["projects", "areas/may.html"]}, ALL - {"short", "long", "may"}),
        ({"not_types": ["semantic"]}, set()),
        ({"include_archived": True}, ALL | {"gone"}),
        ({"only_archived": True}, {"gone"}),
        ({"as_of": "2024-02-15T00:00:00Z"}, {"valid", "gone"}),
        ({"as_of": "2024-03-01T00:00:00Z"}, {"valid"}),
        ({"as_of": "2024-06-01"}, set()),
        ({"as_of": "2025-12-31"}, {"may", "june"}),
    ],
)
def test_filters_narrow_search_and_lists_alike(
    owls: Index, filters: dict[str, Any], expected: set[str]
) -> None:
    scope = make_scope(**filters)
    answer = search(owls, "owl", scope, limit=50)
    assert {hit.gist.removeprefix("owl ") for hit in answer.hits} == expected
    listed = list_memories(owls, scope)
    assert {file.gist.removeprefix("owl ") for file in listed.files} == expected
    if not expected:
        assert answer.no_match is not None
        assert answer.no_match.reason is NoMatchReason.SCOPE_EMPTY
        assert answer.scope_empty
