"""Every code a checker may give, in one table.

`docs/codes.md` and ``memhtml check --list-codes`` are held equal to it, and each `Diagnostic`
takes its severity and wording from here. The order is the order in which findings are reported:
violations as format-behaviour §8 has them, then warnings, then notes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.metas import REPEATABLE
from memhtml.model.diagnostics import Diagnostic, Severity
from memhtml.model.vocabulary import MemoryType, Rel, Status, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import StrEnum

    from memhtml.model.diagnostics import Span

__all__ = ["CODES", "Code", "diagnostic"]


class Code(NamedTuple):
    """One kind of finding."""

    name: str
    severity: Severity
    summary: str
    """What is wrong, in general."""
    fault: str
    """What is wrong in this file: a template over the finding's ``info``."""
    mend: str
    """What to do about it; a template too."""


def diagnostic(name: str, span: Span, /, **info: str | int | None) -> Diagnostic:
    """Return the finding *name* at *span*; its message says what is wrong and what to do.

    >>> from memhtml.model.diagnostics import Span
    >>> print(diagnostic("title-count", Span(0, 0, 1, 1, 1, 1), count=2))
    1:1: title-count violation: the file has 2 title elements: keep exactly one, in the head
    """
    code = _BY_NAME[name]
    shown = {key: _shown(value) for key, value in info.items()}
    message = f"{code.fault}: {code.mend}".format_map(shown)
    return Diagnostic(name, code.severity, message, span, info)


def _shown(value: str | int | None) -> str:
    """Return *value* fit for one line of a terminal: nothing unprintable, not long."""
    if value is None:
        return "none"
    if isinstance(value, int):
        return str(value)
    text = value if len(value) <= _LONGEST_SHOWN else value[: _LONGEST_SHOWN - 1] + "…"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


_LONGEST_SHOWN = 60


def _words(values: Iterable[StrEnum]) -> str:
    return ", ".join(values)


_RELS = ", ".join(rel.token for rel in Rel)
_REPEATABLE = ", ".join(sorted(REPEATABLE))
_WHEN = "write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ, in UTC"

V, W, N = Severity.VIOLATION, Severity.WARNING, Severity.NOTE

CODES: tuple[Code, ...] = (
    Code(
        "file-too-large",
        V,
        "The file is larger than a memory may be and was not read.",
        "the file has {size} bytes, and a memory may have {limit}",
        "split it into memories of one fact each",
    ),
    Code(
        "title-count",
        V,
        "The file has no title, or several.",
        "the file has {count} title elements",
        "keep exactly one, in the head",
    ),
    Code(
        "title-empty",
        V,
        "The title has no text.",
        "the title is empty",
        "name the memory in a few words",
    ),
    Code(
        "meta-required-missing",
        V,
        "A required meta is absent.",
        "the head does not state {name}",
        'add <meta name="{name}" content="…"> to it',
    ),
    Code(
        "meta-unknown",
        V,
        "A memhtml- meta has a name the format does not know.",
        "{name} is not a meta of this format",
        "correct its name or remove it",
    ),
    Code(
        "meta-repeated",
        V,
        "A meta that may be stated once is stated several times.",
        "{name} is stated {count} times",
        f"keep one, for only {_REPEATABLE} may repeat",
    ),
    Code(
        "article-count",
        V,
        "The file has no article, or several.",
        "the file has {count} article elements",
        "put the whole memory into exactly one",
    ),
    Code(
        "mark-missing",
        V,
        "The article has no claim.",
        "the article has no mark",
        "wrap the claim in <mark>, in the first paragraph or list item",
    ),
    Code(
        "mark-count",
        V,
        "The article has several claims.",
        "the article has {count} mark elements",
        "keep the one around the claim, and write another memory for another claim",
    ),
    Code(
        "mark-empty",
        V,
        "The claim has no words.",
        "the mark has no text outside of code",
        "state the claim in words, for <code> and <pre> are left out of it",
    ),
    Code(
        "mark-in-aside",
        V,
        "The claim stands in a caveat.",
        "the mark is inside an aside",
        "move it to the first paragraph or list item, outside of any aside",
    ),
    Code(
        "mark-in-details",
        V,
        "The claim is hidden behind a fold.",
        "the mark is inside a details element",
        "move it to the first paragraph or list item, outside of any fold",
    ),
    Code(
        "mark-no-block",
        V,
        "The claim is in no paragraph or list item, for there is none.",
        "the article has no paragraph and no list item",
        "wrap the mark in <p>",
    ),
    Code(
        "mark-not-first",
        V,
        "The claim does not lead the article.",
        "the mark is not inside the first {block} of the article",
        "move the claim to the front",
    ),
    Code(
        "time-datetime-missing",
        V,
        "A time does not say when in a form that sorts.",
        'the time element around "{text}" has no datetime attribute',
        f"add one and {_WHEN}",
    ),
    Code(
        "time-datetime-invalid",
        V,
        "The datetime of a time element is not in a form that sorts, or is no date.",
        'datetime="{value}" is no time of this format',
        _WHEN,
    ),
    Code(
        "element-forbidden",
        V,
        "A memory holds a script or a style sheet.",
        "the file has a {element} element",
        "remove it, for a memory has neither behaviour nor looks",
    ),
    Code(
        "attr-presentation",
        V,
        "An element has a class or style attribute.",
        "the {element} element has a {attr} attribute",
        "remove it, for presentation belongs to a style sheet outside",
    ),
    Code(
        "attr-handler",
        V,
        "An element has an event handler.",
        "the {element} element has a {attr} handler",
        "remove it, for a memory has no behaviour",
    ),
    Code(
        "link-rel-unknown",
        V,
        "A link states a relation the format does not know.",
        'rel="{rel}" is no relation of this format',
        f"use one of {_RELS}",
    ),
    Code(
        "link-href-missing",
        V,
        "A link leads nowhere.",
        "the {rel} link has no href",
        "name the other memory from the root, as in /areas/inbox/other.html",
    ),
    Code(
        "link-href-not-root-relative",
        V,
        "A link is not stated from the root, so moving the file would break it.",
        'href="{href}" of the {rel} link is not a path from the root',
        "start it with one slash and leave out empty, . and .. segments",
    ),
    Code(
        "type-unknown",
        V,
        "The type is none the format knows.",
        '"{value}" is no type of memory',
        f"use one of {_words(MemoryType)}",
    ),
    Code(
        "status-unknown",
        V,
        "The status is none the format knows.",
        '"{value}" is no status',
        f"use one of {_words(Status)}",
    ),
    Code(
        "task-status-on-non-task",
        V,
        "A memory that is no task states a task status.",
        "memhtml-task-status stands on a memory of type {type}",
        "remove it, or make the memory a task",
    ),
    Code(
        "task-status-unknown",
        V,
        "The task status is none the format knows.",
        '"{value}" is no task status',
        f"use one of {_words(TaskStatus)}",
    ),
    Code(
        "task-status-missing",
        V,
        "A task does not say where it stands.",
        "the task has no memhtml-task-status",
        f"add one of {_words(TaskStatus)}",
    ),
    Code(
        "meta-datetime-invalid",
        V,
        "A meta that must be a time is not in a form that sorts, or is no date.",
        '{name} is "{value}", which is no time of this format',
        _WHEN,
    ),
    Code(
        "article-markup-escapes",
        V,
        "The markup given for an article does not stay inside it.",
        "the article's markup {fault}",
        "close every element, comment and attribute inside the markup, and leave out </article>",
    ),
    Code(
        "head-missing",
        V,
        "A file that is to be edited spells out no head.",
        "the file has no <head> to put anything in",
        "write <head> and </head> around its title",
    ),
    Code(
        "draft-text-invalid",
        V,
        "A text to be written holds a character that HTML in UTF-8 cannot carry.",
        "{field} holds {value}, which no memory file can carry",
        "remove it",
    ),
    Code(
        "draft-text-blank",
        V,
        "A field to be written is given and says nothing.",
        "{field} is blank",
        "say something or leave it out",
    ),
    Code(
        "draft-number-invalid",
        V,
        "A number to be written is none, or is out of range.",
        "{field} is {value}, and must be {range}",
        "correct it or leave it out",
    ),
    Code(
        "draft-field-unused",
        V,
        "A field was given that has no place in the memory, so it would be lost.",
        "{field} would be lost, for {why}",
        "leave it out",
    ),
    Code(
        "data-lang-invalid",
        W,
        "A data-lang is not one word that can name a language.",
        'data-lang="{value}" is not the name of a language',
        "use one word of ASCII letters, digits and _ + # . - that starts with a letter or digit",
    ),
    Code(
        "element-figure-only",
        W,
        "A div or span stands outside of any figure.",
        "a {element} stands outside of any figure",
        "use an element that says what it means, or wrap the sample in <figure>",
    ),
    Code(
        "element-unknown",
        W,
        "An element is not in the vocabulary, so nothing will be made of it.",
        "{element} is not an element of this format",
        "use one that is, though the text inside stays searchable as it is",
    ),
    Code(
        "unsafe-element",
        W,
        "An element would load, run or redirect something when shown.",
        "a {element} element loads, runs or redirects something when shown",
        "remove it",
    ),
    Code(
        "unsafe-url",
        W,
        "A URL would run code when followed, or send the reader elsewhere.",
        "the {attr} attribute of a {element} element runs code or sends the reader elsewhere",
        "use a path from the root or a web address",
    ),
    Code(
        "due-not-task",
        W,
        "A memory that is no task states a deadline, which nothing will read.",
        "memhtml-due stands on a memory of type {type} and is not read",
        "remove it, make the memory a task, or say memhtml-valid-until",
    ),
    Code(
        "head-repeated",
        W,
        "The head is opened more than once, and readers differ about what that means.",
        "the file has {count} head tags",
        "keep the first and move what follows the others into it",
    ),
    Code(
        "processing-instruction",
        W,
        "The file has processing instructions, and readers differ about what they are.",
        "the file has {count} processing instructions",
        "remove them, for HTML has none",
    ),
    Code(
        "encoding-invalid",
        W,
        "The file is not all UTF-8.",
        "{count} stretches of the file are not UTF-8 and were read as U+FFFD",
        "save it as UTF-8",
    ),
    Code(
        "conflict-markers",
        W,
        "A merge of git's that nobody finished stands in the file.",
        "the file has git's conflict markers in {count} places",
        "keep one of the versions, and remove the lines of <<<<<<<, ======= and >>>>>>>",
    ),
    Code(
        "number-dropped",
        N,
        "A numeric meta is no number or is out of range, and was read as absent.",
        '{name} is "{value}", which was read as absent',
        "state a whole or decimal number in its range, or leave the meta out",
    ),
    Code(
        "text-dropped",
        N,
        "Elements nest so much that the texts of some were left out.",
        "the texts of some nested elements were left out, past {limit} characters in all",
        "nest less",
    ),
)

_BY_NAME = {code.name: code for code in CODES}
