"""``memhtml eval``: whether memories are found above their near-twins, and by their questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind
from memhtml.cli.envelope import Success

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.evals.gate import Discrimination, HardFamily, Judged
    from memhtml.search.answers import Answer

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    Command(
        name="eval",
        summary="Build a store from a seed, search it, and judge what is found.",
        description=(
            "Near-twins of memories (negated, renumbered, another variant) must not be found "
            "above them, and hard questions must be answered as often as they were when their "
            "floors were set. Your own store is not touched; see memhtml eval answers for that.\n\n"
            "Without --mode live, an encoder that is no model takes part, so every machine gets "
            "the same ranks."
        ),
        arguments=(
            Argument(
                name="gate",
                summary="which gate to run; there is one",
                required=False,
                choices=("discriminate",),
            ),
        ),
        flags=(
            Flag(
                name="mode",
                default="fake",
                choices=("fake", "live"),
                summary="live: with the model splade-tiny, which must have been added",
            ),
            Flag(
                name="seed",
                kind=Kind.INTEGER,
                metavar="N",
                default=20260802,
                minimum=0,
                summary="what the store is made from",
            ),
            Flag(name="now", metavar="day", summary="the day it is made for; today if absent"),
            Flag(
                name="size",
                kind=Kind.INTEGER,
                metavar="N",
                default=200,
                minimum=1,
                maximum=5000,
                summary="memories before their twins and older readings",
            ),
            Flag(
                name="probes",
                kind=Kind.INTEGER,
                metavar="N",
                default=36,
                minimum=1,
                maximum=1000,
                summary="memories that get near-twins",
            ),
            Flag(
                name="mrr-floor",
                kind=Kind.FLOAT,
                metavar="X",
                default=0.85,
                minimum=0,
                maximum=1,
                summary="least mean of 1/rank among the near-twins",
            ),
        ),
        response_types=("eval.discrimination",),
        errors=("ERR_GIT", "ERR_STORAGE"),
        exit_statuses=(
            (0, "the gate lets pass"),
            (1, "it does not, or could not be run"),
            (2, "the call is wrong"),
        ),
        examples=("memhtml eval", "memhtml eval --mode live --json"),
        is_about_store=False,
    ),
    Command(
        name="eval answers",
        summary="Ask every question that memories say they answer.",
        description=(
            "A memory says so by a facet named answers, one value a question. Each is asked, and "
            "the memory, or the one that took its place, has to be among the first hits."
        ),
        flags=(
            Flag(
                name="within",
                kind=Kind.INTEGER,
                metavar="N",
                default=5,
                minimum=1,
                maximum=40,
                summary="so many of the first hits count",
            ),
        ),
        response_types=("eval.answers",),
        errors=("ERR_NOT_A_STORE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE"),
        exit_statuses=(
            (0, "every question is answered"),
            (1, "one is not, or the store could not be searched"),
            (2, "the call is wrong"),
        ),
        examples=("memhtml eval answers",),
    ),
)


def run(call: Call) -> Success:
    """Run the gate, or ask the store's own questions."""
    return _gate(call) if call.command.name == "eval" else _answers(call)


def _gate(call: Call) -> Success:
    from memhtml.cli.encoders import DEFAULT_MODEL, cache_of  # noqa: PLC0415 - help needs none
    from memhtml.evals.gate import run_gate  # noqa: PLC0415 - as above
    from memhtml.model.errors import ModelUnavailable  # noqa: PLC0415 - as above

    now, floor = _now(call), call.optional_float("mrr-floor")
    assert floor is not None  # noqa: S101 - it has a default
    encoder = None
    if call.text("mode") == "live":
        from memhtml.providers.encoders.load import sparse_encoder  # noqa: PLC0415 - loads numpy

        try:
            encoder = sparse_encoder(DEFAULT_MODEL, cache_of(call))
        except ModelUnavailable as error:
            return _skipped(call, now, error)
    found = run_gate(
        now=now,
        encoder=encoder,
        seed=call.integer("seed"),
        size=call.integer("size"),
        probes=call.integer("probes"),
        mrr_floor=floor,
    )
    return Success(
        "eval.discrimination",
        _gate_json(found),
        lambda screen: "\n".join(_gate_lines(found, screen)) + "\n",
        exit_status=0 if found.passed else 1,
    )


def _now(call: Call) -> datetime:
    from datetime import UTC, datetime  # noqa: PLC0415 - help needs none

    from memhtml.model.instants import is_instant  # noqa: PLC0415 - as above

    day = call.optional_text("now")
    if day is None:
        return datetime.fromtimestamp(call.world.now(), UTC)
    if not is_instant(day):
        raise call.refuse("now", f"{day!r} is no day such as 2026-03-04")
    return datetime.fromisoformat(day[:10]).replace(tzinfo=UTC)


def _skipped(call: Call, now: datetime, error: Exception) -> Success:
    """Answer that nothing was judged, which is not the same as passing."""
    from memhtml.evals.gate import Discrimination  # noqa: PLC0415 - help needs none
    from memhtml.model.instants import stamp  # noqa: PLC0415 - as above

    floor, reason = call.optional_float("mrr-floor"), str(error)
    assert floor is not None  # noqa: S101 - it has a default
    nothing = Discrimination(
        mode="live",
        space="",
        results=(),
        hard=(),
        requested=call.integer("probes"),
        mrr_floor=floor,
        seed=call.integer("seed"),
        now=stamp(now),
        corpus_size=0,
        latencies_ms=(),
    )
    return Success(
        "eval.discrimination",
        {**_gate_json(nothing), "skipped": True, "skippedReason": reason},
        lambda screen: f"{screen.paint('skipped', 'yellow')}: {reason}\n",
        exit_status=1,
    )


def _gate_json(found: Discrimination) -> dict[str, Json]:
    return {
        "mode": found.mode,
        "space": found.space,
        "skipped": False,
        "skippedReason": None,
        "passed": found.passed,
        "faults": [*found.faults],
        "requested": found.requested,
        "probes": len(found.results),
        "discriminated": len(found.results) - found.inversions,
        "inversions": found.inversions,
        "mrr": round(found.mrr, 4),
        "corpusMrr": round(found.corpus_mrr, 4),
        "mrrFloor": found.mrr_floor,
        "degradedProbes": sum(one.degraded for one in found.results),
        "hard": [_family_json(family) for family in found.hard],
        "latencyMs": {
            "searches": len(found.latencies_ms),
            "median": round(found.latency(0.5), 2),
            "p95": round(found.latency(0.95), 2),
        },
        "seed": found.seed,
        "now": found.now,
        "corpusSize": found.corpus_size,
        "results": [_judged_json(one) for one in found.results],
    }


def _family_json(family: HardFamily) -> Json:
    return {
        "family": family.kind.value,
        "probes": len(family.ranks),
        "recallAt1": round(family.recall(1), 4),
        "recallAt5": round(family.recall(5), 4),
        "recallAt10": round(family.recall(10), 4),
        "mrr": round(family.mrr, 4),
        "recallAt5Floor": family.floor,
        "missed": [*family.missed],
    }


def _judged_json(one: Judged) -> Json:
    rank = one.discrimination_rank
    return {
        "query": one.query,
        "targetPath": one.path,
        "targetRank": one.rank,
        "discriminationRank": rank,
        "controlRanks": [
            {"path": c.path, "family": c.family.value, "rank": c.rank} for c in one.controls
        ],
        "discriminated": rank == 1,
        "reciprocalRank": round(1 / rank, 4),
        "corpusReciprocalRank": round(1 / one.rank, 4) if one.rank else 0.0,
        "degraded": one.degraded,
    }


def _gate_lines(found: Discrimination, screen: Screen) -> Iterator[str]:
    kept = len(found.results) - found.inversions
    yield (
        f"{kept} of {len(found.results)} memories are found above their near-twins; "
        f"mean reciprocal rank {found.mrr:.3f}, among all {found.corpus_size} files "
        f"{found.corpus_mrr:.3f}"
    )
    for one in found.results:
        if one.discrimination_rank > 1:
            yield f"  {screen.paint('below a twin', 'red')}: {one.query}"
    yield ""
    yield "hard questions      asked  recall@1  @5     @10    floor of @5"
    for family in found.hard:
        yield (
            f"  {family.kind.value:<18}{len(family.ranks):>5}  {family.recall(1):.3f}     "
            f"{family.recall(5):.3f}  {family.recall(10):.3f}  {family.floor:.2f}"
        )
    yield ""
    yield (
        f"a search took {found.latency(0.5):.1f} ms in the middle, {found.latency(0.95):.1f} ms "
        f"at the 95th of 100 ({len(found.latencies_ms)} searches)"
    )
    for fault in found.faults:
        yield screen.paint(fault, "red")
    yield screen.paint("passed", "green") if found.passed else screen.paint("failed", "red")


def _answers(call: Call) -> Success:
    from memhtml.cli.stores import open_store  # noqa: PLC0415 - help needs none
    from memhtml.search.answers import DEPTH, answer  # noqa: PLC0415 - as above

    within = call.integer("within")
    with open_store(call) as corpus:
        corpus.update()
        answers = [
            answer(question, lambda text: corpus.search(text, limit=DEPTH, scan=False))
            for question in corpus.questions()
        ]
    missed = [one for one in answers if not one.is_found(within)]
    return Success(
        "eval.answers",
        {
            "questions": len(answers),
            "answered": len(answers) - len(missed),
            "within": within,
            "passed": not missed,
            "missed": [_answer_json(one) for one in missed],
        },
        lambda screen: "\n".join(_answer_lines(answers, missed, screen)) + "\n",
        exit_status=1 if missed else 0,
    )


def _answer_json(one: Answer) -> Json:
    return {
        "question": one.question.text,
        "path": one.question.path,
        "askedBy": one.question.asked_by,
        "rank": one.rank,
    }


def _answer_lines(answers: list[Answer], missed: list[Answer], screen: Screen) -> Iterator[str]:
    from memhtml.cli.screen import plural, printable  # noqa: PLC0415 - only for people

    for one in missed:
        place = f"at {one.rank}" if one.rank else "not found"
        yield f"{screen.paint(place, 'red')}: {printable(one.question.text)}"
        yield screen.paint(f"  {printable(one.question.path)}", "dim")
    yield f"{len(answers) - len(missed)} of {plural(len(answers), 'question')} answered"
