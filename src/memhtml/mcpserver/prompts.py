"""Prompts: ready-made requests that a person picks, filled from the store."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from memhtml.answers.fence import fenced
from memhtml.model.errors import InvalidFlag
from memhtml.model.instants import is_instant, stamp
from memhtml.model.paths import original_path
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.search.scope import make_scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memhtml.corpus import Corpus
    from memhtml.index.lookup import ListedFile

__all__ = ["PROMPTS", "PROMPT_NAMED", "Argument", "Prompt", "fill"]

_MOST_LINES = 50


class Argument(NamedTuple):
    """Something a prompt is filled with."""

    name: str
    about: str
    required: bool = False


class Prompt(NamedTuple):
    """One prompt."""

    name: str
    title: str
    about: str
    arguments: tuple[Argument, ...]
    text: Callable[[Corpus, Mapping[str, str]], str]


def fill(prompt: Prompt, corpus: Corpus, arguments: Mapping[str, str]) -> str:
    """Return the request that *prompt* makes with *arguments*.

    Raises:
        InvalidFlag: A required one is missing or blank, or there is no such argument.
    """
    known = [argument.name for argument in prompt.arguments]
    given = {name: value for name, value in arguments.items() if value.strip()}
    wrong = [f"there is no argument {name!r}" for name in arguments if name not in known]
    wrong += [
        f"{argument.name!r} is missing"
        for argument in prompt.arguments
        if argument.required and argument.name not in given
    ]
    if wrong:
        raise InvalidFlag(f"{prompt.name}: {'; '.join(wrong)}")
    return prompt.text(corpus, given)


def _remember(_: Corpus, given: Mapping[str, str]) -> str:
    labels = [f"{label}: {given[label]}" for label in ("entity", "tag") if label in given]
    return "\n".join(["Remember this:", "", given["fact"], "", *labels, _HOW_TO_REMEMBER])


_HOW_TO_REMEMBER = (
    "First memory_search for what is known of it. If a memory says something that this "
    "makes untrue, memory_correct that one; if one says the same, leave it. Otherwise "
    "memory_write it: the fact in the first sentence, one fact a memory, and several "
    "facts in one memory_write_batch. Tell me which memory it is now."
)


def _recall_for_task(corpus: Corpus, given: Mapping[str, str]) -> str:
    scope = make_scope(tags=(given["tag"],) if "tag" in given else (), entity=given.get("entity"))
    pack = corpus.recall(given["task"], scope)
    known = "The memories have nothing on it." if pack.no_match else pack.text(secrets.token_hex(8))
    return (
        f"My task:\n\n{given['task']}\n\n{known}\n\nBefore you begin, memory_read those that "
        "matter and memory_search for what is still missing. Say which memories you rely on, "
        "and where two of them disagree."
    )


def _review_conflicts(corpus: Corpus, given: Mapping[str, str]) -> str:
    active = _active(corpus)
    by_path = {file.path: file for file in active}
    if "tag" in given:
        active = [file for file in active if given["tag"] in file.tags]
    pairs = [
        f"- {file.path}: {file.claim}\n  against {other}: {by_path[other].claim}"
        for file in active
        for rel, other in file.links
        if rel == Rel.CONTRADICTS and other in by_path
    ]
    if not pairs:
        return (
            "No memory is marked as contradicting another. Pick the topics we worked on last, "
            "memory_search each, and tell me where two memories cannot both be true."
        )
    return (
        f"These memories contradict each other:\n\n{_quoted(pairs)}\n\nFor each pair, "
        "memory_read both and memory_history the older one, tell me which is true now and why, "
        "and, once I agree, memory_correct or memory_archive the other."
    )


def _daily_brief(corpus: Corpus, given: Mapping[str, str]) -> str:
    since = given.get("since") or stamp(corpus.now() - timedelta(days=1))
    if not is_instant(since):
        raise InvalidFlag(f"daily-brief: 'since' must be a date such as 2026-12-01, not {since!r}")
    active = _active(corpus)
    news = [_line(file) for file in active if not _is_task(file) and file.updated_at >= since]
    tasks = [_line(file) for file in active if _is_task(file)]
    parts = [
        f"Memories written or changed since {since}:\n\n{_quoted(news)}" if news else "",
        f"Open tasks:\n\n{_quoted(tasks)}" if tasks else "",
    ]
    told = "\n\n".join(filter(None, parts)) or f"Nothing was remembered since {since}."
    return (
        f"{told}\n\nGive me a brief of today: what is new, what it changes for the open tasks, "
        "and what I should decide. memory_read whatever you need to be exact."
    )


PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        name="remember",
        title="Remember something",
        about="Have a fact remembered, without repeating or contradicting what is known.",
        arguments=(
            Argument("fact", "What to remember.", required=True),
            Argument("entity", "Whom or what it is about, as type:name."),
            Argument("tag", "Its topic."),
        ),
        text=_remember,
    ),
    Prompt(
        name="recall-for-task",
        title="Recall for a task",
        about="Begin a task with what the memories know of it.",
        arguments=(
            Argument("task", "What is to be done.", required=True),
            Argument("entity", "Only memories about this one, as type:name."),
            Argument("tag", "Only memories with this tag."),
        ),
        text=_recall_for_task,
    ),
    Prompt(
        name="review-conflicts",
        title="Review conflicts",
        about="Go through memories that contradict each other.",
        arguments=(Argument("tag", "Only memories with this tag."),),
        text=_review_conflicts,
    ),
    Prompt(
        name="daily-brief",
        title="Daily brief",
        about="What was remembered lately, and the open tasks.",
        arguments=(Argument("since", "A date such as 2026-12-01; a day ago if absent."),),
        text=_daily_brief,
    ),
)

PROMPT_NAMED: Mapping[str, Prompt] = {prompt.name: prompt for prompt in PROMPTS}


def _active(corpus: Corpus) -> list[ListedFile]:
    corpus.update()
    return [file for file in corpus.listing() if original_path(file.path) is None]


def _is_task(file: ListedFile) -> bool:
    return file.memory_type == MemoryType.TASK


def _line(file: ListedFile) -> str:
    return f"- {file.title} ({file.path}): {file.claim}"


def _quoted(lines: Iterable[str]) -> str:
    shown = [*lines]
    left_out = len(shown) - _MOST_LINES
    more = [f"(and {left_out} more)"] if left_out > 0 else []
    return fenced("\n".join([*shown[:_MOST_LINES], *more]))
