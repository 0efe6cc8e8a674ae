"""Operations as JSON: one object, or one line of a stream, becomes one request.

The same words serve the command line's ``apply`` and every other door that takes operations. A
field we do not know is refused, for a misspelt one would be lost in silence. Everything wrong with
an operation is told at once, and a line that cannot be read becomes an error in its place, so the
answer has one result a line.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.format.prose import claim_from_prose, prose_tail
from memhtml.format.secrets import find_secrets
from memhtml.model.changes import (
    ArchiveRequest,
    Correction,
    LinkRequest,
    TaskStatusRequest,
)
from memhtml.model.document import Citation, Facet, Link
from memhtml.model.edges import href_of
from memhtml.model.errors import InvalidFlag, MemhtmlError
from memhtml.model.memory import Draft, split_tags
from memhtml.model.vocabulary import MemoryType, Rel, TaskStatus
from memhtml.model.whitespace import is_blank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import BinaryIO

    from memhtml.model.changes import Batch, OpResult, Request

__all__ = [
    "MAX_LINE_BYTES",
    "OPS",
    "OUTCOMES",
    "count_outcomes",
    "decode_op",
    "describe_batch",
    "read_ops",
]

MAX_LINE_BYTES = 8 * 1024 * 1024
"""A longer line is refused by its number. A memory file may not be larger either."""


_SHOWN_CHARS = 60


class _Field(NamedTuple):
    """A field of an operation: how it is read, and whether it must be there."""

    read: Callable[[Any], Any]
    required: bool = False
    to: str = ""
    """The attribute it fills where that is called otherwise."""


class _Wrong(Exception):
    """A value that cannot be read; the text says what would be right."""


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        raise _Wrong("a string")
    return value


def _filled(value: Any) -> str:  # noqa: ANN401 - JSON
    if not _text(value).strip():
        raise _Wrong("not blank")
    return str(value)


def _texts(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in values):
        raise _Wrong("a string or a list of strings")
    return tuple(values)


def _labels(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    labels = split_tags(_texts(value))
    # A value that names nothing comes back as it is, so that it is refused and not lost.
    if any(is_blank(label.replace(",", "")) for label in labels):
        raise _Wrong("more than commas and blanks")
    return labels


def _number(value: Any) -> float:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise _Wrong("a number") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Wrong("a number")
    return _finite(value)


def _finite(value: float) -> float:
    """Return *value* as a float; JSON may state integers that are none."""
    try:
        number = float(value)
    except OverflowError:
        raise _Wrong("a number of a size that can be stored") from None
    if not math.isfinite(number):
        raise _Wrong("a number")
    return number


def _whole(value: Any) -> int:  # noqa: ANN401 - JSON
    number = _number(value)
    if number != int(number):
        raise _Wrong("a whole number")
    return int(number)


def _switch(value: Any) -> bool:  # noqa: ANN401 - JSON
    if not isinstance(value, bool):
        raise _Wrong("true or false")
    return value


def _one_of(words: type[MemoryType | TaskStatus | Rel]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:  # noqa: ANN401 - JSON
        try:
            return words(_text(value))
        except ValueError:
            raise _Wrong(f"one of {', '.join(words)}") from None

    return read


def _facets(value: Any) -> tuple[Facet, ...]:  # noqa: ANN401 - JSON
    if not isinstance(value, dict):
        raise _Wrong("an object of names with their values")
    facets = []
    for name, stated in value.items():
        for item in stated if isinstance(stated, list) else [stated]:
            if isinstance(item, int | float) and not isinstance(item, bool):
                facets.append(Facet(name, json.dumps(item), _finite(item)))
            else:
                facets.append(Facet(name, _text(item)))
    return tuple(facets)


def _citations(value: Any) -> tuple[Citation, ...]:  # noqa: ANN401 - JSON
    return tuple(Citation(text) for text in _texts(value))


def _links(value: Any) -> tuple[Link, ...]:  # noqa: ANN401 - JSON
    if not isinstance(value, list):
        raise _Wrong('a list of {"rel", "dst"} objects')
    links = []
    for item in value:
        if not isinstance(item, dict) or set(item) != {"rel", "dst"}:
            raise _Wrong('a list of {"rel", "dst"} objects')
        links.append(Link(_one_of(Rel)(item["rel"]).token, href_of(_filled(item["dst"]))))
    return tuple(links)


_SAID = {
    "body": _Field(_filled),
    "article_html": _Field(_filled),
    "happened_at": _Field(_filled),
    "facets": _Field(_facets),
    "citations": _Field(_citations),
}
_ORIGIN = {
    "author": _Field(_filled),
    "agent": _Field(_filled, to="author"),
    "session_id": _Field(_text),
    "prompt_id": _Field(_text),
    "turn_uuid": _Field(_text),
}
_LABELLED = {
    "tag": _Field(_labels, to="tags"),
    "tags": _Field(_labels),
    "entity": _Field(_texts, to="entities"),
    "entities": _Field(_texts),
    "alias": _Field(_texts, to="aliases"),
    "aliases": _Field(_texts),
}
_WEIGHED = {
    "importance": _Field(_whole),
    "confidence": _Field(_number),
    "valid_from": _Field(_filled),
    "valid_until": _Field(_filled),
}
_PLACED = {
    "path": _Field(_text),
    "strict_path": _Field(_switch),
    "workspace": _Field(_text),
    "links": _Field(_links),
}
_DONE_BY = {
    "status": _Field(_one_of(TaskStatus), to="task_status"),
    "due": _Field(_filled, to="due_at"),
}

OPS: Mapping[str, Mapping[str, _Field]] = {
    "write": {
        "title": _Field(_filled, required=True),
        "type": _Field(_one_of(MemoryType), required=True, to="memory_type"),
        **_SAID,
        **_PLACED,
        **_LABELLED,
        **_WEIGHED,
        **_ORIGIN,
        **_DONE_BY,
    },
    "task": {
        "title": _Field(_filled, required=True),
        **_SAID,
        **_PLACED,
        **_LABELLED,
        **_WEIGHED,
        **_ORIGIN,
        **_DONE_BY,
    },
    "task_status": {
        "path": _Field(_filled, required=True),
        "status": _Field(_one_of(TaskStatus), required=True),
        "reason": _Field(_text),
    },
    "correct": {
        "target": _Field(_filled, required=True),
        "title": _Field(_filled),
        "type": _Field(_one_of(MemoryType), to="memory_type"),
        "reason": _Field(_text),
        "expect": _Field(_filled),
        **_SAID,
        **_LABELLED,
        **_WEIGHED,
        **_ORIGIN,
    },
    "archive": {
        "path": _Field(_filled, required=True),
        "reason": _Field(_filled, required=True),
    },
    "link": {
        "src": _Field(_filled, required=True),
        "rel": _Field(_one_of(Rel), required=True),
        "dst": _Field(_filled, required=True),
    },
}
"""The fields of each operation. A field that is null counts as absent."""


def read_ops(stream: BinaryIO) -> Iterator[Request | MemhtmlError]:
    """Yield the request of each line of *stream*, or what is wrong with it, skipping blank lines.

    Only LF ends a line, for other line breaks may stand inside a JSON string. A line of more than
    `MAX_LINE_BYTES` is refused without being held in memory.
    """
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 2):
        number += 1
        if len(line) > MAX_LINE_BYTES + 1 or (len(line) > MAX_LINE_BYTES and line[-1:] != b"\n"):
            while line and line[-1:] != b"\n":
                line = stream.readline(MAX_LINE_BYTES)
            yield InvalidFlag(f"line {number}: longer than {MAX_LINE_BYTES:,} bytes")
            continue
        if not line.strip():
            continue
        try:
            yield decode_op(_loads(line))
        except MemhtmlError as error:
            error.message = f"line {number}: {error.message}"
            error.args = (error.message,)
            yield error


def decode_op(value: Any, *, op: str | None = None) -> Request:  # noqa: ANN401 - JSON
    """Return the request that the JSON object *value* states; *op* is its kind if it names none.

    >>> decode_op({"op": "archive", "path": "@0", "reason": "moved"})
    ArchiveRequest(path='@0', reason='moved')

    Raises:
        InvalidFlag: Whatever is wrong with it, all of it.
    """
    if not isinstance(value, dict):
        raise InvalidFlag(f"an operation is a JSON object, not {type(value).__name__}")
    given = {name: item for name, item in value.items() if item is not None}
    op = given.pop("op", op)
    if not isinstance(op, str) or op not in OPS:
        raise InvalidFlag(f"'op' is one of {', '.join(OPS)}, not {_shown(op)}")
    values, wrong = _read_fields(given, OPS[op])
    wrong += _contradictions(op, given)
    if wrong:
        raise InvalidFlag(f"{op}: {'; '.join(wrong)}")
    return _request(op, values)


def _loads(line: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(line.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise InvalidFlag(f"not UTF-8 at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise InvalidFlag(f"not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise InvalidFlag("not JSON we read: nested too deeply") from None
    except ValueError as error:
        raise InvalidFlag(f"not JSON we read: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{twice!r} is stated twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _read_fields(
    given: Mapping[str, Any], fields: Mapping[str, _Field]
) -> tuple[dict[str, Any], list[str]]:
    values: dict[str, Any] = {}
    wrong: list[str] = []
    unknown = [_shown(name) for name in given if name not in fields][:10]
    if unknown:
        wrong.append(f"no field {', '.join(unknown)}; there are {', '.join(fields)}")
    missing = (name for name, field in fields.items() if field.required and name not in given)
    wrong += (f"{name!r} is missing" for name in missing)
    for name, field in fields.items():
        if name not in given:
            continue
        try:
            value = field.read(given[name])
        except _Wrong as error:
            wrong.append(f"{name!r} must be {error}")
            continue
        attribute = field.to or name
        known = values.get(attribute)
        # "tag" and "tags" add up, as do the other pairs of spellings.
        values[attribute] = (*known, *value) if isinstance(known, tuple) else value
    return values, wrong


def _shown(value: object) -> str:
    """Return *value* short enough for a message, and nothing of it that looks like a credential."""
    text = repr(value)
    if len(text) > _SHOWN_CHARS or find_secrets(text[:1000]):
        return f"{text[:12]}… ({type(value).__name__}, {len(text):,} characters)"
    return text


def _contradictions(op: str, given: Mapping[str, Any]) -> list[str]:
    if op not in {"write", "task", "correct"}:
        return []
    has_prose, has_markup = "body" in given, "article_html" in given
    if has_prose and has_markup:
        return ["'body' and 'article_html' exclude each other"]
    if op != "task" and not has_prose and not has_markup:
        return ["either 'body' or 'article_html' is missing"]
    if has_markup and (clash := [n for n in ("facets", "citations", "happened_at") if n in given]):
        return [f"{clash[0]!r} goes with 'body'; 'article_html' is the whole article"]
    return []


def _request(op: str, values: dict[str, Any]) -> Request:
    if op == "archive":
        return ArchiveRequest(**values)
    if op == "link":
        return LinkRequest(**values)
    if op == "task_status":
        return TaskStatusRequest(**values)
    body = values.pop("body", None)
    if body is not None:
        values |= {"claim": claim_from_prose(body), "paragraphs": prose_tail(body)}
    values.pop("strict_path", None)  # a path that cannot be used is refused in any case
    if op == "correct":
        return Correction(**values)
    if op == "task":
        values["memory_type"] = MemoryType.TASK
        if body is None and "article_html" not in values:
            values["claim"] = values["title"]
    return Draft(**values)


# The way back: what a batch did, as JSON.

OUTCOMES = ("written", "changed", "deduped", "failed", "skipped", "consolidated")
"""What an operation can come to."""


def describe_batch(batch: Batch) -> dict[str, Any]:
    """Return what became of each operation, how many came to what, and the one commit."""
    return {
        "results": [_result(result) for result in batch.results],
        "summary": count_outcomes(batch.results),
        "commit_sha": batch.commit,
        "near_duplicates_degraded": True,
    }


def count_outcomes(results: Iterable[OpResult]) -> dict[str, int]:
    """Return how many operations came to what; the parts add up to ``total``."""
    counts = dict.fromkeys(OUTCOMES, 0)
    for result in results:
        counts[_outcome(result)] += 1
    return {"total": sum(counts.values()), **counts}


def _outcome(result: OpResult) -> str:
    if result.error is not None:
        return "failed"
    if result.skipped:
        return "skipped"
    if result.consolidated_into is not None:
        return "consolidated"
    if result.deduped:
        return "deduped"
    return "written" if result.op in {"write", "task", "correct"} else "changed"


def _result(result: OpResult) -> dict[str, Any]:
    conflict = result.conflict
    return {
        "index": result.index,
        "op": result.op or None,
        "ok": result.ok,
        "path": result.path,
        "deduped": result.deduped,
        "existing_path": result.existing_path,
        "archived_path": result.archived_path,
        "code": result.error.code if result.error else None,
        "error": result.error.message if result.error else None,
        "skipped": result.skipped,
        "conflict": None if conflict is None else conflict._asdict(),
        "near_duplicates": [*result.near_duplicates],
        "consolidated_into": result.consolidated_into,
        "superseded_path": result.superseded_path,
    }
