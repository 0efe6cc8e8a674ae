"""The LangGraph store, against LangGraph's own store in memory and in a running graph."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

import memhtml
from memhtml.adapters.langgraph import MemhtmlStore
from memhtml.model.errors import InvalidFlag, InvalidMemory, SecretFound

if TYPE_CHECKING:
    from memhtml import Corpus

USERS = ("users", "ada")
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]

labels = st.sampled_from(["users", "ada", "bob", "a b", "A", "ünï", "..", "*x"])
namespaces = st.lists(labels, min_size=1, max_size=3).map(tuple)
keys = st.sampled_from(["food", "Food", "drink", "a/b", "../x", "", "k" * 200])
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
values = st.dictionaries(st.sampled_from(["kind", "size", "x"]), json_values, max_size=3)
puts = st.builds(PutOp, namespaces, keys, st.none() | values)
filters: st.SearchStrategy[dict[str, Any] | None] = st.sampled_from(
    [None, {"kind": None}, {"size": {"$ne": 3}}, {"x": {}}, {"kind": True, "x": ""}]
)
conditions = st.builds(
    MatchCondition,
    st.sampled_from(["prefix", "suffix"]),
    st.lists(labels | st.just("*"), min_size=1, max_size=2).map(tuple),
)


@pytest.fixture
def store(corpus: Corpus) -> MemhtmlStore:
    return MemhtmlStore(corpus)


def told(result: Any) -> Any:
    """Return *result* without what the clock and the order decide."""
    if isinstance(result, list):
        return sorted((told(item) for item in result), key=repr)
    if result is None or isinstance(result, tuple):
        return result
    return (result.namespace, result.key, result.value)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    batches=st.lists(st.lists(puts, max_size=4), max_size=3),
    prefix=st.lists(labels, max_size=2).map(tuple),
    wanted=filters,
    matching=st.lists(conditions, max_size=2).map(tuple),
    depth=st.none() | st.integers(1, 3),
)
def test_it_answers_as_the_store_in_memory_does(  # noqa: PLR0917 - one for each strategy
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[list[PutOp]],
    prefix: tuple[str, ...],
    wanted: dict[str, Any] | None,
    matching: tuple[MatchCondition, ...],
    depth: int | None,
) -> None:
    root = tmp_path_factory.mktemp("store")
    memhtml.init(root)
    with memhtml.open(root, durability="none") as corpus:
        ours, theirs = MemhtmlStore(corpus), InMemoryStore()
        places = {(op.namespace, op.key) for batch in batches for op in batch}
        asked: list[Any] = [
            SearchOp(prefix, wanted, limit=1000),
            *(GetOp(namespace, key) for namespace, key in sorted(places)),
        ]
        for batch in batches:
            assert ours.batch(batch) == theirs.batch(batch)
            assert told(ours.batch(asked)) == told(theirs.batch(asked))
        # One that was emptied is still a namespace to the store in memory.
        alive = {item.namespace for item in theirs.search((), limit=1000)}
        for namespace in [known for known in theirs._data if known not in alive]:
            del theirs._data[namespace]
        names = ListNamespacesOp(matching, depth, limit=1000)
        assert ours.batch([names]) == theirs.batch([names])
        assert all(checked.is_valid for checked in corpus.check())


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"": ""},
        {"text": "a\r\nb\0c\ud800 </code></pre> &amp; \u2028"},
        {"n": 10**40, "f": 0.1, "z": -0.0, "deep": [[{"a": [None, True, 1, 1.0]}]]},
    ],
)
def test_a_value_comes_back_to_the_letter_after_the_store_was_closed(
    tmp_path: Path, value: dict[str, Any]
) -> None:
    memhtml.init(tmp_path / "s")
    with memhtml.open(tmp_path / "s") as corpus:
        MemhtmlStore(corpus).put(USERS, "k", value)
    with memhtml.open(tmp_path / "s") as corpus:
        item = MemhtmlStore(corpus).get(USERS, "k")
    assert item is not None
    assert repr(item.value) == repr(value)


@pytest.mark.parametrize(
    "value",
    [{1: "a"}, {"t": (1, 2)}, {"d": DEEP}, {"n": math.nan}, {"i": math.inf}, {"o": object()}],
)
def test_a_value_that_would_come_back_as_another_is_refused(
    store: MemhtmlStore, value: dict[str, Any]
) -> None:
    with pytest.raises(InvalidFlag):
        store.put(USERS, "k", value)
    assert store.search(()) == []


def test_a_batch_is_one_commit_and_reads_what_was_before_it(
    store: MemhtmlStore, corpus: Corpus
) -> None:
    store.put(USERS, "a", {"n": 1})
    before = corpus.history(next(iter(corpus)).path)[0].commit
    found, *_ = store.batch(
        [GetOp(USERS, "a"), PutOp(USERS, "a", {"n": 2}), PutOp(USERS, "b", {"n": 3})]
    )
    assert told(found)[2] == {"n": 1}
    commits = {corpus.history(memory.path)[0].commit for memory in corpus}
    assert len(commits) == 1
    assert before not in commits


def test_one_bad_value_leaves_the_whole_batch_undone(store: MemhtmlStore) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with pytest.raises(SecretFound):
        store.batch([PutOp(USERS, "a", {"n": 1}), PutOp(USERS, "b", {"token": token})])
    assert store.search(()) == []


def test_created_stays_and_updated_follows(store: MemhtmlStore) -> None:
    store.put(USERS, "a", {"n": 1})
    first = store.get(USERS, "a")
    store.put(USERS, "a", {"n": 2})
    second = store.get(USERS, "a")
    assert first is not None
    assert second is not None
    assert second.created_at == first.created_at
    assert second.updated_at >= first.updated_at
    assert second.created_at.tzinfo is not None


def test_a_query_ranks_within_its_namespace_and_filter(store: MemhtmlStore) -> None:
    store.put(USERS, "milk", {"text": "Ada takes oat milk in her coffee", "kind": "taste"})
    store.put(USERS, "bus", {"text": "Ada takes the bus to work", "kind": "habit"})
    store.put(("users", "bob"), "milk", {"text": "Bob takes cow milk", "kind": "taste"})
    store.put(("users", "adam"), "milk", {"text": "Adam takes goat milk", "kind": "taste"})
    found = store.search(USERS, query="which milk in coffee")
    assert found[0].key == "milk"
    assert {item.namespace for item in found} == {USERS}
    assert found[0].score is not None
    habits = store.search(("users",), query="what does ada take", filter={"kind": "habit"})
    assert [item.key for item in habits] == ["bus"]
    assert [i.key for i in store.search(USERS, query="takes", limit=1, offset=1)] != []
    assert store.search(USERS, query="zeppelin") == []


def test_an_item_that_is_not_indexed_is_kept_and_not_found(store: MemhtmlStore) -> None:
    store.put(USERS, "a", {"text": "a hidden kayak"}, index=False)
    store.put(USERS, "b", {"text": "a kayak", "more": "red"}, index=["text"])
    assert [item.key for item in store.search(USERS, query="kayak")] == ["b"]
    assert {item.key for item in store.search(USERS)} == {"a", "b"}


def test_a_deleted_item_is_gone_and_its_memory_in_the_archive(
    store: MemhtmlStore, corpus: Corpus
) -> None:
    store.put(USERS, "a", {"n": 1})
    store.delete(USERS, "a")
    store.delete(USERS, "a")
    assert store.get(USERS, "a") is None
    assert store.list_namespaces() == []
    assert len(list(corpus.memories(include_archived=True))) == 1
    store.put(USERS, "a", {"n": 2})
    assert store.search(USERS)[0].value == {"n": 2}


def test_a_value_broken_by_hand_is_an_error_and_no_empty_answer(
    store: MemhtmlStore, corpus: Corpus
) -> None:
    store.put(USERS, "a", {"n": 1})
    file = Path(corpus.root, next(iter(corpus)).path)
    file.write_text(file.read_text("utf-8").replace('"n": 1', '"n" 1'), "utf-8")
    with pytest.raises(InvalidMemory, match="does not hold a JSON object any more"):
        store.search(USERS)


def test_what_it_does_not_have_is_refused(store: MemhtmlStore) -> None:
    store.put(USERS, "a", {"n": 1})
    with pytest.raises(NotImplementedError):
        store.put(USERS, "b", {"n": 1}, ttl=5)
    with pytest.raises(InvalidFlag, match="not '\\$in'"):
        store.search(USERS, filter={"n": {"$in": [1]}})
    assert store.search(USERS, filter={"n": {"$gt": "text"}}) == []


def test_the_async_half_answers_the_same(store: MemhtmlStore) -> None:
    async def use() -> None:
        await store.aput(USERS, "a", {"text": "a kayak"})
        item = await store.aget(USERS, "a")
        assert item is not None
        assert item.value == {"text": "a kayak"}
        assert [i.key for i in await store.asearch(USERS, query="kayak")] == ["a"]
        assert await store.alist_namespaces(prefix=("users",)) == [USERS]
        await asyncio.gather(*(store.aput(USERS, f"k{n}", {"n": n}) for n in range(8)))
        assert len(await store.asearch(USERS, limit=100)) == 9
        await store.adelete(USERS, "a")
        assert await store.aget(USERS, "a") is None

    asyncio.run(use())


class State(TypedDict):
    said: str
    answer: str


def test_a_graph_remembers_from_one_run_to_the_next(store: MemhtmlStore) -> None:
    def remember(state: State, *, store: BaseStore) -> dict[str, str]:
        known = store.search(USERS, query=state["said"])
        store.put(USERS, f"turn-{len(store.search(USERS, limit=100))}", {"text": state["said"]})
        return {"answer": known[0].value["text"] if known else "nothing yet"}

    graph = StateGraph(State)
    graph.add_node("remember", remember)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", END)
    app = graph.compile(store=store)
    assert app.invoke(State(said="The kayak is red.", answer=""))["answer"] == "nothing yet"
    asked = State(said="What colour is the kayak?", answer="")
    assert app.invoke(asked)["answer"] == "The kayak is red."
