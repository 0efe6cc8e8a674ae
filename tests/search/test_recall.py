"""The pack of quotes: budgets, folds, what was cut, and the fence around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhtml.format.parse import parse
from memhtml.index.database import Index, open_index
from memhtml.index.indexer import rebuild, update
from memhtml.model.errors import InvalidFlag
from memhtml.search.lead import paragraphs
from memhtml.search.recall import Pack, Unit, recall, size_of
from memhtml.search.search import search
from memhtml.store.repo import Repo
from tests.index.stores import NOW, Store, memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.model.document import Document

LONG = " ".join(f"Step {n} of the kiln firing takes care." for n in range(300))
FILES = {
    "areas/claim.html": memory(
        "The kiln is fired on Monday", entities=("thing:Kiln",), facets=(("degrees", "1200"),)
    ),
    "areas/long.html": memory("Kiln firing takes nine hours", body=LONG, entities=("site:Yard",)),
    "areas/third.html": memory("The kiln firing is noted down", entities=("thing:Kiln",)),
    "areas/fourth.html": memory("A kiln firing costs 90 euros", entities=("thing:Kiln",)),
    "areas/aside.html": memory("Kiln glaze is mixed by hand").replace(
        "</article>",
        "<p>Firing follows.</p><aside>secret aside</aside>"
        "<details><summary>Recipe of glaze</summary><p>secret fold</p></details></article>",
    ),
    "areas/story.html": memory("How the kiln firing came to be", memory_type="arc", body=LONG),
    "areas/rain.html": memory("Rain falls on the yard"),
}


class Yard:
    def __init__(self, root: str, index: Index) -> None:
        self.root = root
        self.index = index

    def read(self, path: str) -> Document | None:
        with open(f"{self.root}/{path}", "rb") as file:  # noqa: PTH123 - a scratch file
            return parse(file.read())

    def recall(self, question: str = "kiln firing", **options: Any) -> Pack:
        return recall(self.index, question, read=self.read, **options)


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    store = Store(tmp_path_factory.mktemp("yard"))
    for path, data in FILES.items():
        store.put(path, data)
    store.commit()
    root = str(store.root)
    with Repo.open(root) as repo, open_index(root) as index:
        update(index, repo, now=NOW)
        yield Yard(root, index)


def test_prose_is_quoted_and_not_the_claim_alone(yard: Yard) -> None:
    """§13.14"""
    quotes = {quote.path: quote for quote in yard.recall().memories.disclosed}
    assert quotes["areas/long.html"].body.startswith("Kiln firing takes nine hours\nStep 0 of")
    assert quotes["areas/claim.html"].body == "The kiln is fired on Monday\ndegrees: 1200"


def test_the_claim_is_quoted_once_and_nothing_beside_it_is_lost(
    store: Store, repo: Repo, index: Index
) -> None:
    texts = {
        "before": "<p><mark>The gate opens at 06:30.</mark> On Sundays it stays shut.</p>",
        "inside": "<p>In winter, <mark>the gate opens at 8</mark>, unless it snows.</p>",
        "again": "<p><mark>Gate hours</mark></p><p>Gate hours were voted on.</p>",
    }
    for name, text in texts.items():
        page = memory("CLAIM").replace("<p><mark>CLAIM</mark></p>", text)
        store.put(f"areas/{name}.html", page)
    store.commit()
    update(index, repo, now=NOW)
    yard = Yard(str(store.root), index)
    quoted = {quote.path[6:-5]: quote.body for quote in yard.recall("gate").memories.disclosed}
    assert quoted == {
        "before": "The gate opens at 06:30.\nOn Sundays it stays shut.",
        "inside": "the gate opens at 8\nIn winter, …, unless it snows.",
        "again": "Gate hours\nGate hours were voted on.",
    }


def test_what_was_spent_stands_beside_its_budget(yard: Yard) -> None:
    pack = yard.recall(budget=400)
    assert (pack.memories.budget, pack.arcs.budget) == (400, 225)
    spent = f"{pack.memories.spent} of 400 chars quoted; of arcs, {pack.arcs.spent} of 225"
    assert pack.spending == spent
    rain = yard.recall("rain")
    assert rain.spending == f"{rain.spent} of 16,000 chars quoted"


def test_folds_show_their_summary_and_asides_nothing(yard: Yard) -> None:
    (quote,) = [q for q in yard.recall().memories.disclosed if q.path == "areas/aside.html"]
    assert quote.body == "Kiln glaze is mixed by hand\nRecipe of glaze\nFiring follows."
    assert not quote.is_cut


def test_arcs_have_a_section_and_a_budget_of_their_own(yard: Yard) -> None:
    pack = yard.recall(budget=600, arc_budget=100)
    assert [quote.path for quote in pack.arcs.disclosed] == ["areas/story.html"]
    assert 0 < pack.arcs.spent <= 100
    assert "areas/story.html" not in {quote.path for quote in pack.memories.disclosed}
    assert pack.spent == pack.arcs.spent + pack.memories.spent


def test_what_is_about_one_thing_is_quoted_twice_and_then_named(yard: Yard) -> None:
    pack = yard.recall()
    about = [q for q in pack.memories.disclosed if "euros" in q.body or "kiln" in q.gist]
    named = [line for line in pack.memories.index_lines if line.reason == "entity"]
    assert len(named) == 1
    assert len(about) >= 2
    assert pack.truncated


@settings(max_examples=40)
@given(st.integers(0, 2000), st.sampled_from(Unit))
def test_no_budget_is_ever_overdrawn_and_nothing_is_lost(
    yard: Yard, budget: int, unit: Unit
) -> None:
    pack = yard.recall(budget=budget, arc_budget=budget, unit=unit)
    found = {hit.path for hit in search(yard.index, "kiln firing", limit=30).hits}
    for section in (pack.arcs, pack.memories):
        sizes = [size_of(quote.body, unit) for quote in section.disclosed]
        assert sum(sizes) == section.spent <= budget
        found -= {quote.path for quote in section.disclosed}
        found -= {line.path for line in section.index_lines}
        for quote in section.disclosed:
            whole = yard.read(quote.path)
            assert whole is not None
            assert quote.is_cut or list(paragraphs(whole.article_html))[-1] in quote.body
    assert found == set()


def test_a_fence_bears_a_word_that_no_memory_has(yard: Yard) -> None:
    text = yard.recall().text("a1b2c3d4")
    assert text.splitlines()[1] == "<memories a1b2c3d4>"
    assert text.endswith("</memories a1b2c3d4>")
    assert text.count("a1b2c3d4") == 2
    assert "[areas/claim.html (semantic, updated 2026-01-01T00:00:00Z, confidence 1.00)]" in text
    for word in ("kiln", ""):
        with pytest.raises(ValueError, match="fence"):
            yard.recall().text(word)


def test_an_empty_pack_says_why(yard: Yard) -> None:
    pack = yard.recall("zeppelin hangar")
    assert pack.no_match is not None
    assert (pack.spent, pack.truncated) == (0, False)


@pytest.mark.parametrize("options", [{"budget": -1}, {"arc_budget": -1}, {"limit": 0}])
def test_budgets_and_limits_out_of_range_are_refused(yard: Yard, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidFlag):
        yard.recall(**options)


def test_the_end_of_a_long_fact_survives_a_rebuild_and_recall_says_what_it_cut(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Field case S2."""
    sentences = [f"Sentence {n} speaks of bread." for n in range(1, 2001)]
    sentences[1989] = "Sentence 1990 speaks of the marzipan-hinge."
    store = Store(tmp_path_factory.mktemp("long"))
    store.put("areas/long.html", memory("A long report", body=" ".join(sentences)))
    store.put("areas/short.html", memory("A hinge of the oven door"))
    store.commit()
    root = str(store.root)
    with Repo.open(root) as repo, open_index(root) as index:
        update(index, repo, now=NOW)
        for _ in range(2):
            assert search(index, "marzipan-hinge").hits[0].path == "areas/long.html"
            pack = Yard(root, index).recall("marzipan-hinge", budget=2000)
            assert pack.memories.disclosed[0].is_cut
            assert pack.truncated
            assert pack.spent <= 2000
            rebuild(index, repo, now=NOW)
        sizes: list[Any] = index.connection.execute(
            "SELECT end_char - start_char FROM chunks"
        ).fetchall()
        assert len(sizes) > 20
        assert all(size <= index.chunk_chars for (size,) in sizes)
