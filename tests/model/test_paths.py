from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memhtml.model.errors import InvalidMemory, InvalidPath
from memhtml.model.paths import (
    DIRECTORY_ENTRIES,
    MAX_PATH_UNITS,
    PathRule,
    archive_path,
    archive_year,
    bucket_of,
    derived_path,
    directory_with_room,
    memory_path,
    new_memory_path,
    normalize_path,
    original_path,
    path_fault,
    path_key,
    place,
    workspace_of,
    writable_fault,
)
from memhtml.model.vocabulary import Bucket, MemoryType

AT = datetime(2026, 8, 2, 14, 3, 11, tzinfo=UTC)
NAMES = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="/"))
PARTS = NAMES.filter(lambda name: name not in {"", ".", ".."})


@st.composite
def memory_paths(draw: st.DrawFn) -> str:
    parts = [draw(st.sampled_from(Bucket)), *draw(st.lists(PARTS, max_size=3)), draw(PARTS)]
    return memory_path("/".join(parts) + ".html")


@given(memory_paths(), st.integers(0, 99999))
def test_the_original_of_an_archived_path_is_the_path(path: str, year: int) -> None:
    archived = archive_path(path, year)
    assert original_path(archived) == path
    assert archive_year(archived) == year
    assert path_fault(archived) is None


@given(memory_paths())
def test_an_archived_path_can_be_archived_again_and_comes_back_layer_by_layer(path: str) -> None:
    twice = archive_path(archive_path(path, 2025), 2026)
    once = original_path(twice)
    assert once == archive_path(path, 2025)
    assert original_path(once) == path


@given(st.text(alphabet="ab./\\ "))
def test_normalising_twice_changes_nothing(path: str) -> None:
    normal = normalize_path(path)
    assert normalize_path(normal) == normal
    assert not normal.startswith("/")
    assert "//" not in normal


@given(st.text(alphabet="areashtml./é \\", max_size=40))
def test_what_is_writable_is_readable(path: str) -> None:
    if writable_fault(path) is None:
        assert path_fault(path) is None
        assert new_memory_path(path) == memory_path(path) == normalize_path(path)


@pytest.mark.parametrize("path", ["../../etc/hosts", "/etc/hosts", "x.html", "", "notes/x.html"])
def test_a_path_outside_the_buckets_is_refused_with_its_rule(path: str) -> None:
    with pytest.raises(InvalidPath) as raised:
        new_memory_path(path)
    assert raised.value.rule == PathRule.BUCKET
    assert raised.value.path == path


def test_an_invalid_path_is_an_invalid_memory_to_callers() -> None:
    with pytest.raises(InvalidMemory, match=r"does not end in \.html") as raised:
        memory_path("areas/x.htm")
    assert raised.value.code == "ERR_INVALID_MEMORY"


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("areas/../areas/x.html", PathRule.SEGMENT),
        ("areas/index.html", PathRule.GENERATED),
        ("areas/Index.html", PathRule.GENERATED),
        ("archive/2026/areas/x.html", PathRule.ARCHIVE),
        ("areas/a:b.html", PathRule.CHARACTER),
        ("areas/a*b?.html", PathRule.CHARACTER),
        ("areas/a\\b.html", PathRule.CHARACTER),
        ("areas/a#b.html", PathRule.CHARACTER),
        ("areas/a\nb.html", PathRule.CHARACTER),
        ("areas/a\udcffb.html", PathRule.CHARACTER),
        ("areas/team./x.html", PathRule.ENDING),
        ("areas/team /x.html", PathRule.ENDING),
        ("areas/aux.html", PathRule.DEVICE),
        ("areas/COM1/x.html", PathRule.DEVICE),
        ("areas/.GIT/x.html", PathRule.GIT),
        ("areas/git~1/x.html", PathRule.GIT),
        ("areas/" + "x" * MAX_PATH_UNITS + ".html", PathRule.LENGTH),
    ],
)
def test_a_name_that_some_system_cannot_hold_is_not_written(path: str, rule: PathRule) -> None:
    fault = writable_fault(path)
    assert fault is not None
    assert fault.rule is rule
    assert fault.reason


@pytest.mark.parametrize(
    "path",
    [
        "archive/2026/areas/x.html",
        "areas/a:b.html",
        "areas/aux.html",
        "areas/team./x.html",
        "areas/Index.html",
        "areas/" + "x" * 300 + ".html",
    ],
)
def test_a_name_we_would_not_write_is_still_read(path: str) -> None:
    assert path_fault(path) is None
    assert memory_path(path) == path


@pytest.mark.parametrize("path", ["areas/index.html", "projects/p/index.html"])
def test_a_generated_listing_is_no_memory(path: str) -> None:
    fault = path_fault(path)
    assert fault is not None
    assert fault.rule is PathRule.GENERATED


def test_length_counts_utf_16_units() -> None:
    owl = "\N{OWL}"
    fits = "areas/" + owl * ((MAX_PATH_UNITS - 11) // 2) + ".html"
    assert writable_fault(fits) is None
    assert writable_fault(fits.replace(owl, owl * 2, 1)) is not None


def test_paths_equal_but_for_case_or_composition_share_a_key() -> None:
    keys = {path_key(p) for p in ("areas/CAFÉ.html", "areas/café.html", "areas/cafe\u0301.html")}
    assert len(keys) == 1
    assert path_key("areas/cafe.html") not in keys


@pytest.mark.parametrize("memory_type", MemoryType)
def test_every_type_has_a_place_that_can_be_written(memory_type: MemoryType) -> None:
    path = derived_path(place(memory_type), "Owl boxes", memory_type, at=AT)
    assert writable_fault(path) is None


@given(
    st.sampled_from(MemoryType),
    st.none() | st.text(max_size=20),
    st.lists(st.text(max_size=10), max_size=3),
    st.text(max_size=100),
    st.integers(1, 1000),
)
def test_every_derived_path_can_be_written(
    memory_type: MemoryType, workspace: str | None, tags: list[str], title: str, ordinal: int
) -> None:
    directory = place(memory_type, workspace=workspace, entities=["person:Ada"], tags=tags)
    full = {directory: DIRECTORY_ENTRIES}
    room = directory_with_room(directory, at=AT, entries=lambda name: full.get(name, 0))
    path = derived_path(room, title, memory_type, at=AT, ordinal=ordinal)
    assert writable_fault(path) is None


@pytest.mark.parametrize("memory_type", [MemoryType.TASK, MemoryType.EPISODIC])
def test_the_longest_derived_path_and_its_archived_twin_fit(memory_type: MemoryType) -> None:
    long = "w" * 400
    directory = place(memory_type, workspace=long) + "/2026-08-99"
    path = derived_path(directory, long, memory_type, at=AT)
    assert writable_fault(path) is None
    assert len(archive_path(path, 2026)) < MAX_PATH_UNITS + 14


@pytest.mark.parametrize("workspace", ["", " ", "\u3000\n"])
def test_a_blank_workspace_is_none(workspace: str) -> None:
    assert place(MemoryType.EPISODIC, workspace=workspace) == "areas/inbox"
    assert place(MemoryType.TASK, workspace=workspace) == "areas/inbox/tasks"


@pytest.mark.parametrize("title", ["Index", "index.html", "INDEX"])
def test_a_title_cannot_take_the_name_of_a_listing(title: str) -> None:
    path = derived_path("areas/inbox", title, MemoryType.SEMANTIC, at=AT)
    assert path_fault(path) is None


def test_titles_that_differ_in_case_only_get_names_that_differ_without_case() -> None:
    taken: set[str] = set()
    for title in ("Release plan", "release-plan", "RELEASE PLAN"):
        tries = (
            derived_path("areas/inbox", title, MemoryType.SEMANTIC, at=AT, ordinal=ordinal)
            for ordinal in range(1, 10)
        )
        taken.add(path_key(next(path for path in tries if path_key(path) not in taken)))
    assert len(taken) == 3


def test_directories_stay_under_the_cap_however_many_memories_come() -> None:
    counts: Counter[str] = Counter()
    for _ in range(3 * DIRECTORY_ENTRIES + 1):
        directory = directory_with_room("areas/inbox", at=AT, entries=counts.__getitem__)
        counts[directory] += 1
    assert counts == {
        "areas/inbox": DIRECTORY_ENTRIES,
        "areas/inbox/2026-08": DIRECTORY_ENTRIES,
        "areas/inbox/2026-08-2": DIRECTORY_ENTRIES,
        "areas/inbox/2026-08-3": 1,
    }


def test_people_stay_in_one_directory() -> None:
    assert directory_with_room("resources/people", at=AT, entries=lambda _: 10_000) == (
        "resources/people"
    )


def test_a_negative_year_archives_nothing() -> None:
    with pytest.raises(ValueError, match="-1"):
        archive_path("areas/x.html", -1)


def test_what_is_no_memory_path_cannot_be_archived() -> None:
    with pytest.raises(InvalidPath):
        archive_path("../x.html", 2026)


@given(st.text(alphabet="aprojects/.html", max_size=30))
def test_every_path_has_an_answer_from_every_question(path: str) -> None:
    assert bucket_of(path) in {None, *Bucket}
    assert workspace_of(path) is None or normalize_path(path).startswith("projects/")
    assert (original_path(path) is None) == (archive_year(path) is None)


@pytest.mark.parametrize("rule", PathRule)
def test_a_rule_has_a_stable_name(rule: PathRule) -> None:
    assert re.fullmatch(r"path-[a-z]+", rule)
