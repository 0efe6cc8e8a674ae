"""What tests of sleep start from: a store with a year behind it, and phases made for a test."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memhtml.corpus import Corpus
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.sleep.judge import BudgetedJudge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pydantic_ai.models import Model

    from memhtml.sleep.judge import Budget
    from memhtml.sleep.phase import Context, Outcome

THEN = datetime(2025, 8, 1, 9, 30, tzinfo=UTC)
NOW = datetime(2026, 8, 2, 22, 15, tzinfo=UTC)

CLAIMS = (
    ("Barn owls", "Barn owls nest in the north barn."),
    ("Gate", "The gate opens at 06:30."),
    ("Feed", "The feed is delivered on Tuesdays."),
)


@dataclass(frozen=True, slots=True)
class TestPhase:
    """A phase that does what a test says."""

    __test__ = False

    name: str
    does: Callable[[Context], Outcome]
    needs: tuple[str, ...] = ()

    @property
    def NAME(self) -> str:  # noqa: N802 - as modules call it
        return self.name

    @property
    def NEEDS(self) -> tuple[str, ...]:  # noqa: N802 - as above
        return self.needs

    def run(self, context: Context) -> Outcome:
        return self.does(context)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A store with three memories of a year ago."""
    top = tmp_path / "store"
    Corpus.init(top, clock=lambda: THEN)
    moments = iter(THEN + timedelta(minutes=n) for n in range(1, 1000))
    with Corpus.open(top, clock=lambda: next(moments)) as corpus:
        for title, claim in CLAIMS:
            corpus.write(Draft(title=title, memory_type=MemoryType.SEMANTIC, claim=claim))
    return top


@pytest.fixture
def corpus(root: Path) -> Iterator[Corpus]:
    with Corpus.open(root, clock=lambda: NOW) as corpus:
        yield corpus


@pytest.fixture(autouse=True)
def closed_judges(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close every judge that a test made: an open loop would be a warning in some later test."""
    made: list[BudgetedJudge] = []
    begin = BudgetedJudge.__init__

    def remember(self: BudgetedJudge, model: Model, budget: Budget | None = None) -> None:
        begin(self, model, budget)
        made.append(self)

    monkeypatch.setattr(BudgetedJudge, "__init__", remember)
    yield
    for judge in made:
        judge.close()
