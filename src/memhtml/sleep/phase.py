"""What a phase of sleep is: a function from what the store says to proposals.

A phase changes nothing. It reads its `Context` and returns an `Outcome`: proposals, each of which
the runner makes one commit on the run's branch, and findings, which are for a person to decide and
become tasks. Every step of a proposal comes with a decision that says in a plain sentence what was
done and on what evidence, for that is what a review shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from memhtml.index.usage import Usage
    from memhtml.sleep.likeness import Likeness
    from memhtml.sleep.population import Population
    from memhtml.sleep.settings import Settings
    from memhtml.store.plan import Step, View
    from memhtml.traces.contract import Limits
    from memhtml.traces.sessions import Session

__all__ = [
    "Context",
    "Decision",
    "Evidence",
    "Finding",
    "Investigator",
    "Judge",
    "Offered",
    "Outcome",
    "Phase",
    "Proposal",
    "TraceSource",
]

T = TypeVar("T")

Evidence = tuple[tuple[str, str | float], ...]
"""What a decision rests on, each with its name: a similarity, a quote, the rule that applied."""


class Decision(NamedTuple):
    """One thing a proposal does, as a review tells it."""

    kind: str
    """A word a phase uses throughout, such as ``merged``, ``archived``, ``linked``."""
    path: str
    """The memory it is done to, as it was called before."""
    why: str
    """A whole sentence for a person."""
    other: str | None = None
    """The memory it was merged into, linked to, or moved to."""
    evidence: Evidence = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change of the tree that becomes one commit, all or none."""

    subject: str
    """What the commit says after ``memhtml(sleep(<phase>)): ``."""
    steps: tuple[Step, ...]
    decisions: tuple[Decision, ...]


class Finding(NamedTuple):
    """Something only a person can decide; the runner opens a task for it, within its budget."""

    detector: str
    """Name of the phase that noticed."""
    key: str
    """What was noticed, in a form that is the same every night; its hash names the task."""
    claim: str
    """The task in a sentence that begins with confirm, resolve, review or decide."""
    paths: tuple[str, ...]
    """The memories concerned."""
    quotes: tuple[tuple[str, str], ...] = ()
    """Path and words that stand there verbatim."""
    measured: Evidence = ()
    due: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a phase found out."""

    proposals: tuple[Proposal, ...] = ()
    findings: tuple[Finding, ...] = ()
    marks: tuple[Mapping[str, str], ...] = ()
    """What takes effect outside the tree once the run is merged; each names its ``kind``."""
    judged_all: bool = True
    """Whether everything was looked at, so that a finding not seen again is settled."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Names in camelCase, as the report shows them."""
    detail: str | None = None
    """What a person should know that no count says, such as that no model is bound."""


class Offered(NamedTuple):
    """How a model's answer is read: the keys under which members were offered."""

    members: Mapping[str, int]
    """The offered keys, each with the position of its member."""

    def find(self, key: str) -> int | None:
        """Return the position of the member *key* means; None for a key that was never offered.

        Models like to repeat a key with a word before it, such as ``label_m3``.
        """
        return self.members.get(key.strip().rpartition("_")[2])


class Judge(Protocol):
    """A language model, asked for structured answers within the budget of the whole run."""

    @property
    def name(self) -> str:
        """The model, as the report names it."""

    def ask(self, task: str, members: Sequence[str], answer: type[T]) -> tuple[T, Offered]:
        """Return what the model says of *members*, as an *answer*: a dataclass of plain fields.

        *task* says what to decide. Each member goes in as data under an opaque key, ``m1`` to
        ``mn``, so no text of a memory can pass for an instruction.

        Raises:
            ModelUnavailable: It could not answer, or not in that form; the caller skips the batch.
            BudgetSpent: The run's calls or tokens are used up; ask no more.
        """


@runtime_checkable
class Investigator(Judge, Protocol):
    """A judge that can also look things up by itself before it answers."""

    def investigate(
        self,
        task: str,
        tools: Sequence[Callable[..., object]],
        answer: type[T],
        limits: Limits,
    ) -> T:
        """Return what the model says after it used *tools* as it saw fit, as an *answer*.

        A tool is a function of plain arguments, with a docstring that tells the model its use; what
        it returns is data to the model. All of it stays within *limits* and the run's budget.

        Raises:
            ModelUnavailable: It could not answer in that form, or not within *limits*.
            BudgetSpent: The run's calls or tokens are used up; ask no more.
        """


class TraceSource(Protocol):
    """The transcripts of agents that the store knows of."""

    @property
    def failures(self) -> Sequence[tuple[str, str]]:
        """Transcripts that could not be looked at when `due` was asked, and why."""

    def due(self, now: datetime, limit: int) -> Sequence[Session]:
        """Return at most *limit* sessions that nobody consolidated as they are, latest first."""

    def earlier(self, sessions: Sequence[Session]) -> Sequence[Session]:
        """Return sessions of the same projects that were consolidated before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a phase may know."""

    run_id: str
    now: datetime
    """The one instant of the run: every stamp and every age uses it."""
    population: Population
    """The memories as the phases before left them."""
    view: View
    """The tree of the run, for planners; fold several of them through an `Overlay`."""
    usage: Mapping[str, Usage]
    """How memories are used, by path; those never used are left out."""
    likeness: Likeness
    settings: Settings
    judge: Judge | None = None
    """None: no model is bound, and the deterministic core is all there is."""
    deep: bool = False
    """Whether the caller asked for a wider look, which takes longer."""
    traces: TraceSource | None = None
    """None: no transcript was ever indexed for the store."""


class Phase(Protocol):
    """One kind of curation; a module can be one."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of the module
        """What it is called."""

    @property
    def NEEDS(self) -> tuple[str, ...]:  # noqa: N802 - as above
        """Phases that must not have failed."""

    def run(self, context: Context) -> Outcome:
        """Return what should be done; change nothing."""
