from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from memhtml.index.database import open_index
from memhtml.index.indexer import update
from memhtml.model.errors import InvalidFlag
from memhtml.search.scope import Scope, make_scope
from memhtml.search.search import Hits, NoMatchReason, search
from memhtml.store.repo import Repo
from tests.index.stores import NOW, Store, memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memhtml.index.database import Index


def paths(answer: Hits) -> list[str]:
    return [hit.path for hit in answer.hits]


def shown(answer: Hits, at: int = 0) -> list[str]:
    snippet = answer.hits[at].snippet
    return [snippet.text[start:end] for start, end in snippet.matches]


def fill(store: Store, repo: Repo, index: Index, *claims: str) -> None:
    for number, claim in enumerate(claims):
        store.put(f"areas/{number}.html", memory(claim))
    store.commit()
    update(index, repo, now=NOW)


@contextmanager
def filled(root: Path, *claims: str) -> Iterator[Index]:
    """An index of *claims*, for tests that only ask."""
    store = Store(root)
    with Repo.open(str(root)) as repo, open_index(str(root)) as index:
        fill(store, repo, index, *claims)
        yield index


def test_a_hit_carries_what_a_caller_shows(store: Store, repo: Repo, index: Index) -> None:
    store.put(
        "areas/owl.html",
        memory("Owls hunt at night", title="Owl habits", entities=("bird:Owl", "place:Barn")),
    )
    store.put("areas/other.html", memory("Bats hang upside down"))
    head = store.commit()
    update(index, repo, now=NOW)
    answer = search(index, "owls hunting")
    (hit,) = answer.hits
    assert (hit.path, hit.title, hit.gist) == ("areas/owl.html", "Owl habits", "Owls hunt at night")
    assert (hit.memory_type, hit.confidence, hit.updated_at) == (
        "semantic",
        1.0,
        "2026-01-01T00:00:00Z",
    )
    assert hit.entities == ("bird:Owl", "place:Barn")
    assert (hit.arms, hit.superseded_by) == (("fts",), None)
    assert 0 < hit.score <= 1
    assert shown(answer) == ["Owls", "hunt"]
    assert (answer.no_match, answer.unmatched_terms) == (None, ())
    assert (answer.indexed_commit, answer.skipped_count) == (head, 0)
    assert (answer.degraded, answer.arms) == (True, ("fts",))


def test_any_word_finds_and_more_words_rank_higher(store: Store, repo: Repo, index: Index) -> None:
    fill(store, repo, index, "the oven is old", "the oven is hot", "ovens are hot and loud", "rain")
    assert paths(search(index, "hot oven"))[:2] == ["areas/1.html", "areas/2.html"]
    assert len(search(index, "hot oven").hits) == 3


def test_a_question_half_unknown_is_at_most_half_as_relevant(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index, "the oven is hot", "rain", "wind", "snow")
    known = search(index, "oven").hits[0].relevance
    half = search(index, "oven zeppelin")
    assert half.unmatched_terms == ("zeppelin",)
    assert half.hits[0].relevance <= known / 2


def test_equal_scores_come_in_order_of_path(store: Store, repo: Repo, index: Index) -> None:
    fill(store, repo, index, *["the oven is hot"] * 12)
    expected = sorted(f"areas/{number}.html" for number in range(12))
    assert paths(search(index, "oven", limit=12)) == expected
    assert paths(search(index, "oven", limit=5)) == expected[:5]


def test_title_claim_names_aliases_and_facets_are_searched_and_weigh_more_than_body(
    store: Store, repo: Repo, index: Index
) -> None:
    filler = "Nothing of note happened then."
    store.put("areas/body.html", memory(filler, body="zebra"))
    store.put("areas/title.html", memory(filler, title="zebra"))
    store.put("areas/claim.html", memory("zebra was noted then happened"))
    store.put("areas/tag.html", memory(filler, tags=("zebra",)))
    store.put("areas/entity.html", memory(filler, entities=("animal:Zebra",)))
    store.put("areas/alias.html", memory(filler, aliases=("zebra",)))
    store.put("areas/facet.html", memory(filler, facets=(("animal", "zebra"),)))
    store.commit()
    update(index, repo, now=NOW)
    found = paths(search(index, "zebra"))
    assert len(found) == 7
    assert found[-1] == "areas/body.html"


def test_diacritics_compatibility_forms_and_endings_do_not_hide(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index, "Le café crème est servi", "ﬁne ovens are ４２ years old", "Über Öfen")
    assert paths(search(index, "CAFE creme")) == ["areas/0.html"]
    assert shown(search(index, "CAFE creme")) == ["café", "crème"]
    assert shown(search(index, "fine oven 42")) == ["ﬁne", "ovens", "４２"]
    assert shown(search(index, "ofen uber")) == ["Über", "Öfen"]


def test_a_decomposed_accent_is_the_same_letter(store: Store, repo: Repo, index: Index) -> None:
    fill(store, repo, index, "the cafe\N{COMBINING ACUTE ACCENT} is open", "rain")
    answer = search(index, "café")
    assert shown(answer) == ["cafe\N{COMBINING ACUTE ACCENT}"]


UNSPACED = (
    "会議は東京都港区のサーバー室で開催",
    "新しい日程を送る",
    "내일 회의는 취소되었다",
    "ขนมปังในประเทศไทยอร่อย",
    "मुझे हिन्दी आती है",
    "Расписание поездов",
    "京の都は遠い",
)


@pytest.fixture(scope="module")
def unspaced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with filled(tmp_path_factory.mktemp("unspaced"), *UNSPACED) as index:
        yield index


@pytest.mark.parametrize(
    ("question", "expected", "marked"),
    [
        ("東京", 0, ["東京"]),
        ("港区", 0, ["港区"]),
        ("サーバー", 0, ["サーバー"]),
        ("室", 0, ["室"]),
        ("催", 0, ["催"]),
        ("会議はいつですか", 0, ["会議"]),
        ("日程", 1, ["日程"]),
        ("회의", 2, ["회의"]),
        ("ประเทศไทย", 3, ["ประเทศไทย"]),
        ("ไทย", 3, ["ไทย"]),
        ("हिन्दी", 4, ["हिन्दी"]),
        ("расписание", 5, ["Расписание"]),
    ],
)
def test_words_inside_unspaced_scripts_are_found_and_shown(
    unspaced: Index, question: str, expected: int, marked: list[str]
) -> None:
    answer = search(unspaced, question)
    assert paths(answer)[0] == f"areas/{expected}.html"
    assert shown(answer) == marked


def test_a_katakana_word_is_not_found_by_half_of_it(store: Store, repo: Repo, index: Index) -> None:
    fill(store, repo, index, "サービスを止める", "rain")
    answer = search(index, "サーバー")
    assert answer.no_match is not None
    assert answer.no_match.reason is NoMatchReason.NO_TERM_FOUND


# Field case S1, the search part.


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    claims = [f"Oven {n} bakes {n * 3} loaves an hour" for n in range(20)]
    claims += [f"Supplier {n} brings flour on day {n % 7}" for n in range(20)]
    claims += [f"Shift {n} has {n % 4 + 1} bakers at the bench" for n in range(19)]
    claims.append("The rye starter is fed at 05:40.")
    with filled(tmp_path_factory.mktemp("bakery"), *claims) as index:
        yield index


@pytest.mark.parametrize("question", ["qzxv bluform nonsense", "submarine ballast valves"])
def test_nothing_found_is_an_answer_with_its_reason(bakery: Index, question: str) -> None:
    answer = search(bakery, question)
    assert answer.hits == ()
    assert answer.no_match is not None
    assert answer.no_match.reason is NoMatchReason.NO_TERM_FOUND
    assert answer.no_match.message
    assert answer.unmatched_terms == tuple(question.split())
    assert not answer.scope_empty


@pytest.mark.parametrize("question", ["", "   ", '"', "*", "-", "\\", "\0", '""', "🥐"])
def test_a_question_without_words_finds_nothing_and_says_so(bakery: Index, question: str) -> None:
    answer = search(bakery, question)
    assert answer.no_match is not None
    assert answer.no_match.reason is NoMatchReason.NO_WORDS


@pytest.mark.parametrize("question", ["when do we feed the rye starter", "starter feeding"])
def test_a_plain_question_finds_its_fact_first(bakery: Index, question: str) -> None:
    assert search(bakery, question).hits[0].gist == "The rye starter is fed at 05:40."


# Field case S2.


def test_the_end_of_a_long_fact_is_found_and_shown(store: Store, repo: Repo, index: Index) -> None:
    sentences = [f"Sentence {n} speaks of bread." for n in range(1, 2001)]
    sentences[1989] = "Sentence 1990 speaks of the marzipan-hinge."
    body = " ".join(sentences)
    assert len(body) > 55_000
    store.put("areas/long.html", memory("A long report", body=body))
    store.put("areas/short.html", memory("A hinge of the oven door"))
    store.commit()
    update(index, repo, now=NOW)
    answer = search(index, "marzipan-hinge")
    assert paths(answer)[0] == "areas/long.html"
    assert shown(answer) == ["marzipan-hinge"]
    assert "1990" in answer.hits[0].snippet.text
    assert len(answer.hits[0].snippet.text) <= 302


# Field case S3.

FACTS = (
    "The engine is written in C++",
    "The plugin is written in C#",
    "Use .NET 9 on host web-07",
    "Error E-1042 means the tray is open",
    "See /srv/data/v2.1.3/readme.md or mail ops@example.org",
    'He typed "NEAR(a b)" AND NOT c*',
)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with filled(tmp_path_factory.mktemp("facts"), *FACTS) as index:
        yield index


@pytest.mark.parametrize(
    ("question", "expected", "marked"),
    [
        ("C++", 0, ["C++"]),
        ("C#", 1, ["C#"]),
        (".NET", 2, [".NET"]),
        ("web-07", 2, ["web-07"]),
        ("web07", 2, ["web", "07"]),
        ("E-1042", 3, ["E-1042"]),
        ("e1042", 3, ["1042"]),
        ("1042", 3, ["1042"]),
        ("v2.1.3", 4, ["v2.1.3"]),
        ("data/v2.1.3", 4, ["data/v2.1.3"]),
        ("/srv/data/v2.1.3/readme.md", 4, ["srv/data/v2.1.3/readme.md"]),
        ("readme", 4, ["readme"]),
        ("ops@example.org", 4, ["ops@example.org"]),
        ("NEAR(", 5, ["NEAR"]),
        ("AND", 5, ["AND"]),
    ],
)
def test_exact_tokens_find_their_fact_first(
    facts: Index, question: str, expected: int, marked: list[str]
) -> None:
    answer = search(facts, question)
    assert paths(answer)[0] == f"areas/{expected}.html"
    assert shown(answer) == marked


@pytest.mark.parametrize("question", ["C++", "C#", "E-1042", "E-1043", "bob@example.org", "v2.1.4"])
def test_exact_tokens_are_told_apart(facts: Index, question: str) -> None:
    assert all(question in hit.gist for hit in search(facts, question).hits)


@pytest.mark.parametrize(
    "question",
    [
        "a OR",
        "col:val",
        "title:engine",
        "NEAR(engine plugin)",
        "engine*",
        "^engine",
        "{title claim}: engine",
        "engine + plugin",
        "- engine",
        "'; DROP TABLE files; --",
        '"engine',
        '"" engine',
        "engine\0plugin",
        "\udcff engine",
        "x" * 20_000,
        "x " * 20_000,
        "c++" * 5_000,
        "東" * 20_000,
        '"' * 1001 + "engine",
        " ".join(f"word{n}" for n in range(5_000)),
    ],
)
def test_nothing_typed_is_syntax(facts: Index, question: str) -> None:
    answer = search(facts, question, abstain=False)
    assert (answer.no_match is None) == bool(answer.hits)
    if "engine" in question:
        assert paths(answer)[0] == "areas/0.html"


def test_quotes_demand_words_side_by_side_in_order(store: Store, repo: Repo, index: Index) -> None:
    fill(
        store,
        repo,
        index,
        "The tray of the oven",
        "The oven has a tray",
        "Error E-1042 means the tray is open",
        "東京都の港区",
    )
    assert paths(search(index, '"the oven"')) == ["areas/0.html", "areas/1.html"]
    assert paths(search(index, '"oven tray"')) == []
    assert paths(search(index, '"E-1042 means" tray')) == ["areas/2.html"]
    assert paths(search(index, '"the tray" "is open"')) == ["areas/2.html"]
    assert paths(search(index, '"京都の"')) == ["areas/3.html"]
    assert paths(search(index, '"tray is open" zeppelin')) == ["areas/2.html"]
    alone = search(index, '"tray is open"').hits[0].relevance
    assert search(index, '"tray is open" oven').hits[0].relevance < alone
    assert alone * 0.3 < search(index, '"tray is open" zeppelin').hits[0].relevance < alone
    # An odd number of quotes means nothing.
    assert len(search(index, '"oven tray').hits) == 3


def test_what_is_demanded_and_stands_in_two_places_only_is_not_found(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index, "red oven", "blue door")
    answer = search(index, '"red oven" "blue door"')
    assert answer.no_match is not None
    assert answer.no_match.reason is NoMatchReason.NO_TERM_FOUND


def test_sub_words_of_identifiers_are_found_and_shown(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, repo, index, "getUserName returns it", "set retry_count to 3", "a user came")
    assert shown(search(index, "user name")) == ["UserName"]
    assert paths(search(index, "getUserName"))[0] == "areas/0.html"
    assert shown(search(index, "retry count")) == ["retry_count"[:5], "count"]
    assert shown(search(index, "retry_count")) == ["retry_count"]


# Scope.


BARN = {
    "projects/barn/a.html": memory("owl one", tags=("night",), entities=("bird:Owl",)),
    "projects/mill/b.html": memory(
        "owl two", tags=("day", "mice"), facets=(("region", "eu"), ("size", "big"))
    ),
    "areas/c.html": memory(
        "owl three", memory_type="episodic", facets=(("region", "us"), ("size", "big"))
    ),
    "areas/sub/d.html": memory("owl four", memory_type="arc"),
    "areas/tasks/e.html": memory("owl five", memory_type="task"),
    "archive/2026/areas/f.html": memory("owl six"),
    "areas/sub-other.html": memory("owl seven"),
}


@pytest.fixture(scope="module")
def barn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    store = Store(tmp_path_factory.mktemp("barn"))
    for path, data in BARN.items():
        store.put(path, data)
    store.commit()
    root = str(store.root)
    with Repo.open(root) as repo, open_index(root) as index:
        update(index, repo, now=NOW)
        yield index


EVERYWHERE = {"one", "two", "three", "four", "seven"}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, EVERYWHERE),
        ({"include_archived": True}, EVERYWHERE | {"six"}),
        ({"types": ["task"]}, {"five"}),
        ({"types": ["task", "arc"]}, {"four", "five"}),
        ({"workspace": "barn"}, {"one"}),
        ({"tags": ["night", "mice"]}, {"one", "two"}),
        ({"entity": " BIRD:owl "}, {"one"}),
        ({"facets": ["region=eu"]}, {"two"}),
        ({"facets": ["region=eu", "region=us"]}, {"two", "three"}),
        ({"facets": ["region=eu", "region=us", "size=big"]}, {"two", "three"}),
        ({"facets": ["region=eu", "size=small"]}, set()),
        ({"path_prefix": "areas/sub"}, {"four"}),
        ({"path_prefix": "/areas/c.html"}, {"three"}),
        ({"path_prefix": "projects/"}, {"one", "two"}),
        ({"workspace": "barn", "tags": ["day"]}, set()),
    ],
)
def test_filters_narrow_and_never_widen(
    barn: Index, filters: dict[str, object], expected: set[str]
) -> None:
    answer = search(barn, "owl", make_scope(**filters))  # type: ignore[arg-type]
    assert {hit.gist.removeprefix("owl ") for hit in answer.hits} == expected
    assert answer.scope_empty == (not expected)


@pytest.mark.parametrize(
    "filters",
    [
        {"types": ["opinion"]},
        {"facets": ["region"]},
        {"facets": ["=eu"]},
        {"facets": ["region="]},
        {"entity": "owl"},
        {"entity": "bird:"},
        {"path_prefix": "elsewhere"},
        {"path_prefix": "areas/../projects"},
        {"workspace": " "},
        {"tags": [""]},
    ],
)
def test_a_filter_that_cannot_be_read_is_refused(filters: dict[str, object]) -> None:
    with pytest.raises(InvalidFlag):
        make_scope(**filters)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [0, -1, 501])
def test_a_limit_out_of_range_is_refused(barn: Index, limit: int) -> None:
    with pytest.raises(InvalidFlag):
        search(barn, "owl", limit=limit)


def test_a_match_outside_the_filters_is_told_from_none_at_all(barn: Index) -> None:
    scope = make_scope(workspace="barn")
    outside = search(barn, "seven", scope)
    assert outside.no_match is not None
    assert outside.no_match.reason is NoMatchReason.NOT_IN_SCOPE
    assert outside.unmatched_terms == ()
    nowhere = search(barn, "zeppelin", scope)
    assert nowhere.no_match is not None
    assert nowhere.no_match.reason is NoMatchReason.NO_TERM_FOUND
    assert not scope._replace(workspace=None).is_narrowed
    assert scope.is_narrowed
    assert not Scope(include_archived=True).is_narrowed


def test_an_empty_store_says_that_it_is_empty(store: Store, repo: Repo, index: Index) -> None:
    store.commit()
    update(index, repo, now=NOW)
    answer = search(index, "owl")
    assert answer.no_match is not None
    assert answer.no_match.reason is NoMatchReason.EMPTY_INDEX


def test_skipped_files_are_counted_in_every_answer(store: Store, repo: Repo, index: Index) -> None:
    store.put("areas/bad.html", "<p>no memory")
    fill(store, repo, index, "owl one")
    assert search(index, "owl").skipped_count == 1


def test_a_hit_names_the_newest_memory_that_replaces_it(
    store: Store, repo: Repo, index: Index
) -> None:
    old = "areas/old.html"
    store.put(old, memory("the oven runs at 200 degrees"))
    for name, created in (("b", "2026-02-02T00:00:00Z"), ("c", "2026-02-01T00:00:00Z")):
        store.put(
            f"areas/{name}.html",
            memory(f"it is {name}", created=created, links=(("supersedes", old),)),
        )
    store.commit()
    update(index, repo, now=NOW)
    assert search(index, "degrees").hits[0].superseded_by == "areas/b.html"
    # Links are not rewritten when their target is archived.
    store.move(old, f"archive/2026/{old}")
    store.commit()
    update(index, repo, now=NOW)
    (hit,) = search(index, "degrees", make_scope(include_archived=True)).hits
    assert (hit.path, hit.superseded_by) == (f"archive/2026/{old}", "areas/b.html")
    assert search(index, "degrees").hits == ()
