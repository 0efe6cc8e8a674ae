"""``memhtml sleep``: curate a store on a branch, review the run, take it or leave it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store
from memhtml.model.errors import InvalidFlag, MemhtmlError, RunNotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from memhtml.answers.schema import Schema
    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen
    from memhtml.corpus import Corpus
    from memhtml.sleep.judge import BudgetedJudge
    from memhtml.sleep.merge import Merged, Verdict
    from memhtml.sleep.review import Review
    from memhtml.sleep.runner import Report, RunOptions

__all__ = ["COMMANDS", "run"]

_ERRORS = ("ERR_NOT_A_STORE", "ERR_BUSY", "ERR_GIT", "ERR_STORAGE")
_RUN_ERRORS = ("ERR_RUN_NOT_FOUND", "ERR_RUN_REFUSED", *_ERRORS)

_RUN = Argument(name="run", summary="its name, such as sleep/2026-08-02")
_LATEST = Argument(
    name="run", required=False, summary="its name; the newest that waits when absent"
)
_MODEL_FLAGS = (
    Flag(
        name="model",
        metavar="vendor:model",
        summary="the language model to ask; MEMHTML_LLM when absent, off for none",
    ),
    Flag(
        name="max-llm-calls",
        kind=Kind.INTEGER,
        minimum=0,
        metavar="n",
        summary="calls of the model in the whole run",
    ),
    Flag(
        name="max-llm-tokens",
        kind=Kind.INTEGER,
        minimum=0,
        metavar="n",
        summary="tokens in and out of the model in the whole run",
    ),
    Flag(
        name="trace-sessions",
        kind=Kind.INTEGER,
        minimum=0,
        maximum=32,
        metavar="n",
        summary="transcripts to consolidate at most; the store's setting when absent, or 10",
    ),
)

COMMANDS = (
    Command(
        name="sleep run",
        summary="Curate the store on a branch of its own, for you to review.",
        description=(
            "Duplicates are folded, names of one thing joined, stale memories archived, and what "
            "only a person can decide becomes a task. All of it happens in a working tree of its "
            "own, from what HEAD has: your checkout is not touched, and writing goes on meanwhile. "
            "Each phase is a commit that says why.\n\n"
            "It works without a language model. With one, named by --model or MEMHTML_LLM, some "
            "phases see more; MEMHTML_LLM_URL names an endpoint that speaks OpenAI's chat protocol."
        ),
        flags=(
            Flag(name="date", metavar="day", summary="the day of the run; today when absent"),
            Flag(
                name="phases",
                metavar="a,b",
                repeatable=True,
                summary="only these phases, in their own order",
            ),
            Flag(
                name="dry-run",
                kind=Kind.BOOLEAN,
                summary="show what it would do, to the last phase, and leave nothing behind",
            ),
            Flag(name="deep", kind=Kind.BOOLEAN, summary="look wider, which takes longer"),
            *_MODEL_FLAGS,
        ),
        response_types=("sleep.report",),
        errors=("ERR_MODEL_UNAVAILABLE", *_ERRORS),
        exit_statuses=(
            (0, "every phase succeeded"),
            (1, "a phase failed, or nothing could be done"),
            (2, "the call is wrong"),
        ),
        examples=("memhtml sleep run --dry-run", "memhtml sleep run"),
    ),
    Command(
        name="sleep resume",
        summary="Carry on with a run that was interrupted, or that failed, where it stopped.",
        arguments=(_RUN,),
        flags=_MODEL_FLAGS,
        response_types=("sleep.report",),
        errors=("ERR_MODEL_UNAVAILABLE", *_RUN_ERRORS),
        exit_statuses=(
            (0, "every phase has succeeded"),
            (1, "a phase failed, or nothing could be done"),
            (2, "the call is wrong"),
        ),
        examples=("memhtml sleep resume sleep/2026-08-02",),
    ),
    Command(
        name="sleep review",
        summary="Show what a run did, why, and what each memory said before and after.",
        arguments=(_LATEST,),
        flags=(
            Flag(
                name="html",
                noun=Noun.FILE,
                metavar="file",
                summary="also write it as one page; only a page of this kind is written over",
            ),
            Flag(name="open", kind=Kind.BOOLEAN, summary="show the page in a browser"),
            Flag(
                name="diff",
                kind=Kind.BOOLEAN,
                summary="every change of every file, not only what was decided",
            ),
        ),
        response_types=("sleep.review",),
        errors=_RUN_ERRORS,
        examples=("memhtml sleep review", "memhtml sleep review --open"),
    ),
    Command(
        name="sleep merge",
        summary="Bring a run into the store, whole or in part.",
        description=(
            "What was written since the run began is joined with it. Before anything moves, a gate "
            "asks for memories by their own words, before and after: a merge that would make one "
            "harder to find is refused."
        ),
        arguments=(_LATEST,),
        flags=(
            Flag(
                name="only",
                repeatable=True,
                metavar="phase|commit",
                summary="take only this; may be given several times",
            ),
            Flag(
                name="drop",
                repeatable=True,
                metavar="phase|commit",
                summary="leave this out; may be given several times",
            ),
            Flag(name="skip-gate", kind=Kind.BOOLEAN, summary="ask no gate"),
            Flag(name="keep-branch", kind=Kind.BOOLEAN, summary="keep the branch of the run"),
        ),
        response_types=("sleep.merge",),
        errors=("ERR_DIRTY_TREE", *_RUN_ERRORS),
        exit_statuses=(
            (0, "it is in the store, by this call or an earlier one"),
            (1, "it was refused, or could not be done"),
            (2, "the call is wrong"),
        ),
        examples=("memhtml sleep merge", "memhtml sleep merge --drop confidence-decay"),
    ),
    Command(
        name="sleep drop",
        summary="Throw a run away: its branch and its working tree.",
        arguments=(_RUN,),
        response_types=("sleep.dropped",),
        errors=_RUN_ERRORS,
        examples=("memhtml sleep drop sleep/2026-08-02",),
    ),
    Command(
        name="sleep undo",
        summary="Take a merged run back in one commit; what was written since stays.",
        arguments=(_RUN,),
        response_types=("sleep.undone",),
        errors=("ERR_DIRTY_TREE", *_RUN_ERRORS),
        examples=("memhtml sleep undo sleep/2026-08-02",),
    ),
    Command(
        name="sleep status",
        summary="List the runs that wait, and those that were merged.",
        response_types=("sleep.runs",),
        errors=_ERRORS,
        examples=("memhtml sleep status",),
    ),
    Command(
        name="sleep plan",
        summary="Count what a run would have to look at, and do none of it.",
        response_types=("sleep.plan",),
        errors=_ERRORS,
        examples=("memhtml sleep plan",),
    ),
)


def run(call: Call) -> Success:
    """Carry out one of the commands."""
    return _RUNS[call.command.name](call)


def _answer(
    kind: str,
    schema: Schema,
    data: dict[str, Any],
    text: Callable[[Screen], str],
    exit_status: int = 0,
) -> Success:
    from memhtml.answers.casing import in_camel  # noqa: PLC0415 - help needs none

    return Success(kind, in_camel(schema, data), text, exit_status)


# Running


def _run(call: Call) -> Success:
    from memhtml.sleep.runner import run as begin  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus, _bound(call) as judge:
        options = _options(call, corpus, judge)
        if not options.dry_run:
            _encode(call, corpus)
        report = begin(corpus, options)
    return _reported(report)


def _resume(call: Call) -> Success:
    from memhtml.sleep.runner import resume  # noqa: PLC0415 - help needs none

    with open_store(call) as corpus, _bound(call) as judge:
        report = resume(corpus, call.text("run"), _options(call, corpus, judge))
    return _reported(report)


def _options(call: Call, corpus: Corpus, judge: BudgetedJudge | None) -> RunOptions:
    from memhtml.sleep.runner import RunOptions  # noqa: PLC0415 - help needs none
    from memhtml.sleep.settings_file import read_settings  # noqa: PLC0415 - as above

    is_first = call.command.name == "sleep run"
    names = call.texts("phases") if is_first else ()
    settings, sessions = read_settings(corpus), call.optional_integer("trace-sessions")
    return RunOptions(
        day=call.optional_text("date") if is_first else None,
        phases=tuple(name.strip() for part in names for name in part.split(",") if name.strip()),
        deep=is_first and call.is_on("deep"),
        dry_run=is_first and call.is_on("dry-run"),
        settings=settings if sessions is None else settings._replace(trace_sessions=sessions),
        judge=judge,
        on_phase=_teller(call),
    )


@contextmanager
def _bound(call: Call) -> Iterator[BudgetedJudge | None]:
    """Yield the model that is to be asked, None for none."""
    judge = _judge(call)
    try:
        yield judge
    finally:
        if judge is not None:
            judge.close()


def _judge(call: Call) -> BudgetedJudge | None:
    from memhtml.providers.languagemodels import (  # noqa: PLC0415 - help needs none
        choose_model,
        open_model,
    )
    from memhtml.sleep.judge import Budget, BudgetedJudge  # noqa: PLC0415 - as above

    choice = choose_model(call.world.env, call.optional_text("model"))
    if choice is None:
        return None
    budget = Budget(call.optional_integer("max-llm-calls"), call.optional_integer("max-llm-tokens"))
    return BudgetedJudge(open_model(choice), budget)


def _teller(call: Call) -> Callable[[str], object]:
    """Return what tells a person on stderr which phase is at work."""

    def tell(phase: str) -> None:
        if call.world.is_watched:
            call.world.stderr.write(f"\r\x1b[2K{phase} …" if phase != "report" else "\r\x1b[2K")
            call.world.stderr.flush()

    return tell


def _encode(call: Call, corpus: Corpus) -> None:
    """Encode what is new by the model that the index has rows of, where it can be loaded."""
    from memhtml.cli.encoders import open_encoder  # noqa: PLC0415 - help needs none
    from memhtml.model.errors import ModelUnavailable  # noqa: PLC0415 - as above

    corpus.update()
    for space in corpus.coverage():
        if space.share < 1:
            try:
                corpus.embed(open_encoder(call, space.space.partition("@")[0]))
            except ModelUnavailable as error:
                # Then likeness rests on words, and the report says so.
                call.world.stderr.write(f"memhtml: {error.message}\n")


def _reported(report: Report) -> Success:
    from memhtml.answers import slept  # noqa: PLC0415 - help needs none

    def text(screen: Screen) -> str:
        from memhtml.cli.views.sleep import report_page  # noqa: PLC0415 - only for people

        return report_page(report, screen)

    return _answer(
        "sleep.report",
        slept.REPORT,
        slept.report(report),
        text=text,
        exit_status=1 if report.failed else 0,
    )


# Reviewing


def _review(call: Call) -> Success:
    from memhtml.answers import slept  # noqa: PLC0415 - help needs none
    from memhtml.sleep.review import review  # noqa: PLC0415 - as above

    with open_store(call) as corpus:
        found = review(corpus, _chosen(call, corpus))
        root = corpus.root
    page = _page(call, found, root)

    def text(screen: Screen) -> str:
        from memhtml.cli.views.sleep import review_text  # noqa: PLC0415 - only for people

        return review_text(found, screen, page=page, everything=call.is_on("diff"))

    return _answer("sleep.review", slept.REVIEW, slept.review(found, page), text=text)


def _page(call: Call, found: Review, root: str) -> str | None:
    """Write the page that *call* asks for, show it if it says so, and return where it is."""
    from pathlib import PurePath  # noqa: PLC0415 - only here

    from memhtml.cli.pagefiles import show_page, write_page  # noqa: PLC0415 - as above
    from memhtml.sleep.reviewpage import PAGE_MARK, review_page  # noqa: PLC0415 - as above

    if call.optional_text("html") is None and not call.is_on("open"):
        return None
    text = review_page(found, store=PurePath(root).name)
    place = write_page(call, text, mark=PAGE_MARK)
    if call.is_on("open"):
        return show_page(call, place, text, prefix="memhtml-review-")
    return place


def _chosen(call: Call, corpus: Corpus) -> str:
    """Return the run that *call* names, or the newest that waits."""
    from memhtml.sleep.runs import waiting_runs  # noqa: PLC0415 - help needs none

    name = call.optional_text("run")
    if name is not None:
        return name
    waiting = waiting_runs(corpus.repo)
    if not waiting:
        raise RunNotFound(None)
    return waiting[-1].run_id


# Deciding


def _merge(call: Call) -> Success:
    from memhtml.answers import slept  # noqa: PLC0415 - help needs none
    from memhtml.sleep.merge import MergeOptions, merge  # noqa: PLC0415 - as above

    only, left = call.texts("only"), call.texts("drop")
    if only and left:
        raise InvalidFlag(
            "--only and --drop exclude each other", suggestions=("memhtml help sleep merge",)
        )
    with open_store(call) as corpus:
        done = merge(
            corpus,
            _chosen(call, corpus),
            MergeOptions(
                only=only,
                leave_out=left,
                gate=None if call.is_on("skip-gate") else _gate,
                keep_branch=call.is_on("keep-branch"),
            ),
            on_merged=lambda merged: _after_merge(corpus, merged),
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.sleep import merged_text  # noqa: PLC0415 - only for people

        return merged_text(done, screen)

    return _answer("sleep.merge", slept.MERGED, slept.merged(done), text=text)


def _gate(corpus: Corpus, base: str, tip: str, after: Corpus) -> Verdict:
    """Ask for what the store knows, and for near-twins of what a store from a seed knows."""
    from memhtml.evals.gate import run_gate  # noqa: PLC0415 - only a merge needs them
    from memhtml.evals.merge import asker, probe_merge  # noqa: PLC0415 - as above
    from memhtml.sleep.merge import Verdict  # noqa: PLC0415 - as above

    found = probe_merge(corpus, base, tip, after=asker(after))
    worse = [
        f"{probe.query!r} found {probe.path} at {probe.rank_before}, and would find it "
        + (f"at {probe.rank_after}" if probe.rank_after else "no more")
        for probe in found.regressions
    ]
    twins = run_gate(now=corpus.now())
    return Verdict(len(found.probes) + len(twins.results), (*worse, *twins.faults))


def _after_merge(corpus: Corpus, done: Merged) -> None:
    """Bring in step what stands beside the memories: pages, and what is known of transcripts."""
    from memhtml.publish import publish_again  # noqa: PLC0415 - only a merge needs them
    from memhtml.sleep.marks import apply_marks  # noqa: PLC0415 - as above

    apply_marks(corpus, done.marks)
    publish_again(corpus)


def _drop(call: Call) -> Success:
    from memhtml.answers import slept  # noqa: PLC0415 - help needs none
    from memhtml.sleep.merge import drop  # noqa: PLC0415 - as above

    with open_store(call) as corpus:
        run = drop(corpus, call.text("run"))
    return _answer(
        "sleep.dropped",
        slept.DROPPED,
        slept.dropped(run),
        text=lambda screen: f"{screen.paint('dropped', 'yellow')} {run.run_id}\n",
    )


def _undo(call: Call) -> Success:
    from memhtml.answers import slept  # noqa: PLC0415 - help needs none
    from memhtml.publish import publish_again  # noqa: PLC0415 - as above
    from memhtml.sleep.merge import undo  # noqa: PLC0415 - as above

    with open_store(call) as corpus:
        done = undo(corpus, call.text("run"))
        try:
            publish_again(corpus)
        except MemhtmlError as error:
            # The run is taken back all the same, which is what the answer has to say.
            told = f"warning: the pages are as they were: {error.message}\n"
            call.world.stderr.write(told)

    def text(screen: Screen) -> str:
        from memhtml.cli.screen import plural  # noqa: PLC0415 - only for people

        what = f"took back {done.run_id}: {plural(len(done.paths), 'file')}"
        return (
            f"{screen.paint(what, 'green')}\n{screen.paint(f'commit {done.commit[:10]}', 'dim')}\n"
        )

    return _answer("sleep.undone", slept.UNDONE, slept.undone(done), text=text)


# Looking


def _status(call: Call) -> Success:
    from contextlib import closing  # noqa: PLC0415 - help needs none

    from memhtml.answers import slept  # noqa: PLC0415 - as above
    from memhtml.sleep.runs import Runs  # noqa: PLC0415 - as above

    with open_store(call) as corpus, closing(Runs(corpus.repo)) as runs:
        waiting, undone = runs.waiting(), runs.undone()
        merged = [run for run in runs.recorded() if run not in undone]

    def text(screen: Screen) -> str:
        from memhtml.cli.views.sleep import status_text  # noqa: PLC0415 - only for people

        return status_text(waiting, merged, undone, screen)

    return _answer("sleep.runs", slept.RUNS, slept.runs(waiting, merged, undone), text=text)


def _plan(call: Call) -> Success:
    from memhtml.answers import slept  # noqa: PLC0415 - help needs none
    from memhtml.sleep.marks import count_due_sessions  # noqa: PLC0415 - as above
    from memhtml.sleep.outlook import look_ahead  # noqa: PLC0415 - as above

    with open_store(call) as corpus:
        found = look_ahead(corpus, sessions_due=count_due_sessions(corpus))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.sleep import outlook_text  # noqa: PLC0415 - only for people

        return outlook_text(found, screen)

    return _answer("sleep.plan", slept.OUTLOOK, slept.outlook(found), text=text)


_RUNS = {
    "sleep run": _run,
    "sleep resume": _resume,
    "sleep review": _review,
    "sleep merge": _merge,
    "sleep drop": _drop,
    "sleep undo": _undo,
    "sleep status": _status,
    "sleep plan": _plan,
}
