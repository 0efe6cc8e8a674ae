"""What spec/search.md §13 lists as weaknesses, each as the better behaviour."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memhtml.index.embed import embed
from memhtml.index.indexer import update
from memhtml.model.errors import InvalidFlag, PathNotFound
from memhtml.search.arms import lexical
from memhtml.search.graph import GraphEdge, find_route, neighbours
from memhtml.search.hits import NoMatchReason
from memhtml.search.pool import Pool
from memhtml.search.scope import make_scope, where
from memhtml.search.search import Means, search
from tests.index.stores import NOW, Store, memory
from tests.search.meanings import Meanings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memhtml.index.database import Index
    from memhtml.search.search import Hits
    from memhtml.store.repo import Repo


def fill(store: Store, repo: Repo, index: Index, files: Mapping[str, str]) -> None:
    for path, data in files.items():
        store.put(path, data)
    store.commit()
    update(index, repo, now=NOW)


def numbered(*claims: str) -> dict[str, str]:
    return {f"areas/{number}.html": memory(claim) for number, claim in enumerate(claims)}


def paths(answer: Hits) -> list[str]:
    return [hit.path for hit in answer.hits]


FILLER = [f"Shelf {n} holds flour of mill {n % 9}" for n in range(30)]


def test_what_nothing_matches_is_not_answered_with_the_newest(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.2"""
    fill(store, repo, index, numbered(*FILLER))
    answer = search(index, "zzzzqq nothing matches")
    assert answer.no_match is not None
    assert answer.no_match.reason is NoMatchReason.NO_TERM_FOUND


def test_a_word_in_common_is_no_answer_and_what_came_nearest_is_named(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.2"""
    fill(store, repo, index, numbered(*FILLER))
    question = "which shelf would a submarine captain admire most"
    answer = search(index, question)
    assert answer.no_match is not None
    assert answer.no_match.reason is NoMatchReason.NOT_RELEVANT
    assert 0 < len(answer.no_match.closest) <= 3
    assert len(search(index, question, abstain=False).hits) == 10


def test_the_score_is_no_rank_in_disguise_and_can_be_added_up(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.3"""
    fill(store, repo, index, numbered("bread of the stove", "bread and salt", *FILLER))
    embed(index, meanings := Meanings())
    answer = search(index, "oven bread", means=Means(queries=meanings, now=NOW))
    assert answer.arms == ("fts", "sparse")
    for place, hit in enumerate(answer.hits[:2], 1):
        shown = hit.explanation
        total = (sum(arm.share for arm in shown.arms) + shown.neighbour) * (
            1 + shown.recency + shown.salience
        )
        assert total == pytest.approx(shown.total)
        assert hit.score == pytest.approx(min(1.0, shown.total / 2.5))
        assert [arm.rank for arm in shown.arms if arm.arm == "sparse"] == [place]
        # The line for people is a sum that ends in the total.
        line = re.sub(r"[a-z]+", "", shown.arithmetic).replace("·", "*")
        sum_, _, end = line.partition("=")
        assert eval(sum_) == pytest.approx(float(end), abs=2e-3)  # noqa: S307 - ours


def test_recency_reorders_equals_and_lifts_nothing_that_does_not_match(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.4"""
    files = {
        "areas/a-old.html": memory("the oven is hot", created="2020-01-01T00:00:00Z"),
        "areas/b-new.html": memory("the oven is hot", created="2026-02-28T00:00:00Z"),
        "areas/c-newest.html": memory("rain falls", created="2026-02-28T12:00:00Z"),
        "areas/d-weak.html": memory(
            "an oven stands somewhere in a long sentence about rain and doors and other things",
            created="2026-02-28T12:00:00Z",
        ),
    }
    fill(store, repo, index, files)
    found = paths(search(index, "hot oven"))
    assert found == ["areas/b-new.html", "areas/a-old.html", "areas/d-weak.html"]


class _Used:
    def __init__(self, count: int, outcome: float) -> None:
        self.access_count = count
        self.outcome_score = outcome
        self.last_accessed_at: str | None = NOW


def test_use_reorders_equals_and_an_old_count_counts_for_little(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.4, §13.18"""
    fill(store, repo, index, numbered("hot oven", "hot oven", "hot oven", "rain"))
    long_ago = _Used(10_000, 0.0)
    long_ago.last_accessed_at = "2020-01-01T00:00:00Z"
    used = {
        "areas/1.html": long_ago,
        "areas/2.html": _Used(3, 1.0),
        "areas/3.html": _Used(1_000_000, 1.0),
    }

    def usage(asked: Sequence[str]) -> Mapping[str, _Used]:
        return {path: used[path] for path in asked if path in used}

    found = search(index, "hot oven", means=Means(usage=usage, now=NOW))
    assert paths(found) == ["areas/2.html", "areas/0.html", "areas/1.html"]
    assert found.hits[0].explanation.salience > 0.01
    assert found.hits[2].explanation.salience < 1e-6


def test_one_rare_word_more_changes_no_order(store: Store, repo: Repo, index: Index) -> None:
    """§13.5"""
    fill(store, repo, index, numbered("the hot oven", "oven", "hot", "a zeppelin", *FILLER))
    before = paths(search(index, "hot oven", abstain=False))
    after = paths(search(index, "hot oven zeppelin", abstain=False))
    assert [path for path in after if path in before] == before


def test_a_word_nobody_has_is_looked_for_as_a_beginning(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.5"""
    fill(store, repo, index, numbered("the configuration is read once", "rain", *FILLER))
    answer = search(index, "conf")
    assert paths(answer) == ["areas/0.html"]
    snippet = answer.hits[0].snippet
    assert [snippet.text[a:b] for a, b in snippet.matches] == ["conf"]
    # A word that somebody has is not.
    store.put("areas/conf.html", memory("conf is a folder"))
    store.commit()
    update(index, repo, now=NOW)
    assert paths(search(index, "conf")) == ["areas/conf.html"]


def test_the_depth_follows_the_limit_and_pages_reach_the_end(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.6"""
    count = 450
    fill(store, repo, index, numbered(*(f"the oven number {n}" for n in range(count))))
    assert len(search(index, "oven", limit=300).hits) == 300
    seen: list[str] = []
    answer = search(index, "oven", limit=40)
    while True:
        assert not answer.cursor_stale
        seen += paths(answer)
        if answer.next_cursor is None:
            break
        answer = search(index, "oven", limit=40, cursor=answer.next_cursor)
    assert len(seen) == count
    assert len(set(seen)) == count


def test_a_cursor_is_refused_for_another_question_and_tells_when_it_is_stale(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.6"""
    fill(store, repo, index, numbered(*(f"the oven number {n}" for n in range(20))))
    cursor = search(index, "oven", limit=5).next_cursor
    for question, given in (("number", cursor), ("oven", "5-5-zz"), ("oven", "")):
        with pytest.raises(InvalidFlag):
            search(index, question, cursor=given)
    with pytest.raises(InvalidFlag):
        search(index, "oven", make_scope(tags=["x"]), cursor=cursor)
    store.put("areas/more.html", memory("one more oven"))
    store.commit()
    update(index, repo, now="2026-03-02T00:00:00Z")
    assert search(index, "oven", limit=5, cursor=cursor).cursor_stale


def test_the_snippet_is_where_the_words_are(store: Store, repo: Repo, index: Index) -> None:
    """§13.7"""
    body = " ".join(f"Sentence {n} speaks of rain." for n in range(400))
    fill(store, repo, index, {"areas/a.html": memory("A report", body=f"{body} The kiln burst.")})
    (hit,) = search(index, "kiln").hits
    assert [hit.snippet.text[a:b] for a, b in hit.snippet.matches] == ["kiln"]


def test_what_is_only_meant_shows_the_text_that_means_it(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.7"""
    body = " ".join(f"Sentence {n} speaks of rain and wind." for n in range(200))
    files = {"areas/a.html": memory("A report", body=f"{body} A stove bakes baguettes by nine.")}
    fill(store, repo, index, files | numbered(*FILLER))
    embed(index, meanings := Meanings())
    answer = search(index, "furnace", means=Means(queries=meanings), abstain=False)
    assert paths(answer)[0] == "areas/a.html"
    assert answer.hits[0].arms == ("sparse",)
    assert "stove" in answer.hits[0].snippet.text or not answer.hits[0].snippet.text.startswith("A")


def test_without_vectors_the_same_said_twice_does_not_take_two_places(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.8"""
    twin = "the billing server of the north runs the nightly report at nine"
    other = "a report on billing is printed every second week in the office"
    fill(store, repo, index, numbered(twin, f"{twin} sharp", other, *FILLER))
    found = search(index, "billing report", limit=2, abstain=False)
    assert "areas/2.html" in paths(found)
    # Best first all the same: an unrelated one never comes between.
    assert set(paths(search(index, "billing report", limit=3, abstain=False))) == {
        "areas/0.html",
        "areas/1.html",
        "areas/2.html",
    }


def test_an_outcome_word_is_no_negation(store: Store, repo: Repo, index: Index) -> None:
    """§13.10: no word of a question turns a match into its opposite."""
    claims = ("deploy without downtime by draining first", "deploy fails on Friday", "rain")
    fill(store, repo, index, numbered(*claims))
    assert paths(search(index, "deploy without downtime"))[0] == "areas/0.html"
    assert paths(search(index, "deploy fails"))[0] == "areas/1.html"


def test_conflicts_are_shown_on_hits(store: Store, repo: Repo, index: Index) -> None:
    """§13.11"""
    files = {
        "areas/a.html": memory("The pool ceiling is 64"),
        "areas/b.html": memory("The pool ceiling is 80"),
        "areas/c.html": memory("Pools leak", links=(("contradicts", "areas/d.html"),)),
        "areas/d.html": memory("Pools never leak"),
        "archive/2026/areas/e.html": memory("The pool ceiling is 90"),
    }
    fill(store, repo, index, files)
    hits = {hit.path: hit for hit in search(index, "pool ceiling leak", abstain=False).hits}
    assert hits["areas/a.html"].conflicts_with == ("areas/b.html",)
    assert hits["areas/b.html"].conflicts_with == ("areas/a.html",)
    assert hits["areas/c.html"].contradicts == ("areas/d.html",)
    assert hits["areas/d.html"].contradicts == ("areas/c.html",)


def test_malformed_filters_are_errors(store: Store) -> None:
    """§13.13"""
    del store
    for filters in (
        {"types": ["nope"]},
        {"facets": ["duration>=long"]},
        {"facets": ["duration>=nan"]},
        {"facets": [">=3"]},
        {"not_facets": ["x"]},
        {"event_since": "yesterday"},
        {"as_of": "2026-3-4"},
        {"as_of": "2026-03-04 05:06:07Z"},
        {"as_of": "2026-03-04T05:06:07+02:00"},
        {"not_types": ["nope"]},
        {"authors": [" "]},
    ):
        with pytest.raises(InvalidFlag):
            make_scope(**filters)


def chain(store: Store, repo: Repo, index: Index) -> None:
    """Both a and b point at hub; b causes c; d stands alone."""
    files = {
        "areas/hub.html": memory("hub"),
        "areas/a.html": memory("a", links=(("part-of", "areas/hub.html"),)),
        "areas/b.html": memory(
            "b", links=(("part-of", "areas/hub.html"), ("leads-to", "areas/c.html"))
        ),
        "areas/c.html": memory("c"),
        "areas/d.html": memory("d"),
    }
    fill(store, repo, index, files)


def test_neighbours_of_nothing_are_an_error_and_siblings_are_two_hops_away(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.15"""
    chain(store, repo, index)
    with pytest.raises(PathNotFound):
        neighbours(index, "areas/none.html")
    near = neighbours(index, "areas/a.html", depth=2)
    assert [(node.path, node.hop, node.rel) for node in near.nodes] == [
        ("areas/hub.html", 1, "part_of"),
        ("areas/b.html", 2, "part_of"),
    ]
    assert near.edges == (
        GraphEdge("areas/a.html", "part_of", "areas/hub.html"),
        GraphEdge("areas/b.html", "part_of", "areas/hub.html"),
    )


def test_the_shortest_way_between_two_memories_is_found(
    store: Store, repo: Repo, index: Index
) -> None:
    """§13.15"""
    chain(store, repo, index)
    assert find_route(index, "areas/a.html", "areas/c.html") == (
        GraphEdge("areas/a.html", "part_of", "areas/hub.html"),
        GraphEdge("areas/b.html", "part_of", "areas/hub.html"),
        GraphEdge("areas/b.html", "leads_to", "areas/c.html"),
    )
    assert find_route(index, "areas/a.html", "areas/d.html") is None
    assert find_route(index, "areas/a.html", "areas/a.html") == ()


def test_a_stamp_of_curation_is_no_news(store: Store, repo: Repo, index: Index) -> None:
    """§13.16"""
    old = memory("the oven is hot", created="2020-01-01T00:00:00Z")
    fill(store, repo, index, {"areas/a.html": old, "areas/b.html": old})
    hashes = dict(index.connection.execute("SELECT path, content_hash FROM files"))
    stamped = old.replace(
        '<meta name="memhtml-updated" content="2020-01-01T00:00:00Z">',
        '<meta name="memhtml-updated" content="2026-02-28T00:00:00Z">\n'
        f'<meta name="memhtml-content-hash" content="{hashes["areas/b.html"]}">',
    )
    assert stamped != old
    fill(store, repo, index, {"areas/b.html": stamped})
    first, second = search(index, "hot oven", means=Means(now=NOW)).hits
    assert first.path == "areas/a.html"
    assert first.explanation.recency == second.explanation.recency


def test_a_search_imports_nothing_heavy() -> None:
    """§13.19"""
    code = "import sys, memhtml.search.search, memhtml.corpus; print(*sys.modules)"
    done = subprocess.run((sys.executable, "-c", code), check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "memhtml.search.ranking" in loaded
    for heavy in ("numpy", "turbohtml", "logging", "asyncio", "importlib.metadata", "pathlib"):
        assert heavy not in loaded


def test_neighbours_in_a_session_lend_a_share(store: Store, repo: Repo, index: Index) -> None:
    def turn(claim: str, minute: int, session: str = "s1") -> str:
        page = memory(claim, created=f"2026-01-01T00:{minute:02}:00Z")
        return page.replace(
            "</head>", f'<meta name="memhtml-session" content="{session}">\n</head>'
        )

    files = {
        "areas/a.html": turn("What do you bake in the blue kiln", 1),
        "areas/b.html": turn("Mostly plates", 2),
        "areas/c.html": turn("Nice weather", 3),
        "areas/d.html": turn("Another session altogether", 2, "s2"),
    }
    fill(store, repo, index, files)
    answer = search(index, "blue kiln")
    assert paths(answer) == ["areas/a.html", "areas/b.html"]
    assert answer.hits[1].arms == ("neighbour",)
    assert answer.hits[1].explanation.neighbour == pytest.approx(0.2)
    alone = search(index, "blue kiln", means=Means(with_neighbours=False))
    assert paths(alone) == ["areas/a.html"]
    outside = search(index, "blue kiln", make_scope(path_prefix="areas/a.html"))
    assert paths(outside) == ["areas/a.html"]


def test_depth_of_one_memory_is_no_depth_of_all(store: Store, repo: Repo, index: Index) -> None:
    """A narrow scope is filled however many better matches stand outside of it."""
    files = {f"areas/n{n}.html": memory(f"stove stove bread {n}") for n in range(60)}
    files["projects/p/x.html"] = memory("a furnace")
    fill(store, repo, index, files)
    embed(index, meanings := Meanings())
    scope = make_scope(workspace="p")
    answer = search(index, "oven", scope, limit=1, means=Means(queries=meanings), abstain=False)
    assert paths(answer) == ["projects/p/x.html"]


def test_another_space_is_no_space_and_the_answer_says_why(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index, numbered("the oven is hot", *FILLER))
    embed(index, Meanings())
    other = search(index, "stove", means=Means(queries=Meanings("other@1")))
    assert (other.degraded, other.arms, other.coverage) == (True, (), 0.0)
    assert other.degraded_reason
    with_own = search(index, "stove", means=Means(queries=Meanings()), abstain=False)
    assert (with_own.degraded, with_own.degraded_reason, with_own.coverage) == (False, None, 1.0)


def test_a_misspelt_word_is_answered_with_the_word_that_is_meant(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index, numbered("the elevators are repaired", "rain", *FILLER))
    answer = search(index, "elevatrs")
    assert answer.no_match is not None
    assert answer.spellings == (("elevatrs", ("elevators",)),)


def test_the_archive_is_named_when_only_it_has_the_answer(
    store: Store, repo: Repo, index: Index
) -> None:
    old = "archive/2026/areas/old.html"
    files = {
        old: memory("the zeppelin is inflated"),
        "areas/new.html": memory("it is sold", links=(("supersedes", "areas/old.html"),)),
    }
    fill(store, repo, index, files | numbered(*FILLER))
    answer = search(index, "zeppelin")
    assert answer.hits == ()
    assert [(match.path, match.superseded_by) for match in answer.archived] == [
        (old, "areas/new.html")
    ]


def test_the_archive_is_named_where_active_memories_only_share_a_word_or_mean_a_little(
    store: Store, repo: Repo, index: Index
) -> None:
    old, model = "archive/2026/areas/old.html", Meanings()
    files = {
        old: memory("the zeppelin hangar is closed on Friday"),
        "archive/2026/areas/other.html": memory("the zeppelin was grey"),
    }
    doors = numbered(*(f"the hangar of boat {number} has a door" for number in range(9)))
    fill(store, repo, index, files | doors)
    embed(index, model)
    answer = search(index, "which hangar of a zeppelin is closed", means=Means(queries=model))
    assert answer.no_match is not None
    assert answer.no_match.reason is NoMatchReason.NOT_RELEVANT
    assert [match.path for match in answer.archived] == [old]
    # What the archive does not answer either is no hint.
    assert not search(index, "who paid for the hangar", means=Means(queries=model)).archived


def test_words_alone_find_the_same_however_deep_the_arm(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index, numbered(*(f"oven number {n}" for n in range(30))))
    pool = Pool(index.connection, where(make_scope()))
    deep = list(lexical.find(pool, '"oven"', 30))
    assert len(deep) == 30
    assert list(lexical.find(pool, '"oven"', 7)) == deep[:7]
