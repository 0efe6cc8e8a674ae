"""Folders of Markdown notes: plain ones, Obsidian vaults, basic-memory, and our own export.

One note is one memory, and its front matter is the head. What the head has no place for becomes a
facet, so it can be searched. Links between notes become links between memories, once all notes
have been read. A basic-memory note states observations by category and relations by name: the
former are facets, the latter links of the nearest relation that we have.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.format.fences import closes_fence, fence_opening
from memhtml.format.markdown import Note, from_markdown
from memhtml.format.render import render_extras, render_figure
from memhtml.model.document import Facet
from memhtml.model.errors import MemhtmlError, UsageError
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType, Rel, Status, TaskStatus
from memhtml.model.whitespace import collapse, is_blank
from memhtml.transfer.drafts import instant_from, skipped
from memhtml.transfer.frontmatter import FrontMatter, split_front_matter
from memhtml.transfer.item import Item, Wish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from memhtml.format.markdown import Converted
    from memhtml.transfer.item import Options
    from memhtml.transfer.source import Source

__all__ = ["has_observations", "read_basic_memory", "read_notes"]

MAX_NOTE_BYTES = 2 * 2**20
MAX_STATED_CHARS = 2000
"""A longer line states no observation and no relation; it is prose."""

_observation_re = re.compile(r"\s*[-*+]\s+\[(?P<category>[^\[\]]{2,60})\]\s+(?P<text>\S.*)")
_relation_re = re.compile(
    r"\s*[-*+]\s+(?P<word>[^\[\]]*?)\s*\[\[(?P<target>[^\[\]]+)\]\]\s*(?:\(.*\))?\s*"
)
_heading_re = re.compile(r"#{1,6}\s+(?:observations|relations)\s*#*\s*", re.IGNORECASE)
_link_re = re.compile(r"(?P<rel>[a-z_]+)\s+\[\[(?P<target>[^\[\]]+)\]\]")
_inline_tag_re = re.compile(r"(?<![\w/#&])#([^\W\d][\w/-]*)")
_day_re = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

_WORDS: Mapping[str, Rel] = {
    **{rel.value: rel for rel in Rel},
    "related_to": Rel.RELATES_TO,
    "replaces": Rel.SUPERSEDES,
    "extends": Rel.SUPPORTS,
    "supported_by": Rel.RELATES_TO,
    "belongs_to": Rel.PART_OF,
    "causes": Rel.LEADS_TO,
    "results_in": Rel.LEADS_TO,
    "instance_of": Rel.EXAMPLE_OF,
    "contrasts_with": Rel.CONTRADICTS,
}
"""What relations are called elsewhere; any other word is kept in the text and relates."""

_SINCE = ("valid_from", "created", "created_at", "date")
_LABELS = frozenset(
    {"title", "tag", "tags", "alias", "aliases", "entity", "entities", "author", "links"}
    | {"permalink", "memhtml_path", "memhtml_status", "memhtml_updated"}
)
"""Keys whose texts the head has a place for, or that only say where the note is from."""


def read_notes(source: Source, options: Options) -> Iterator[Item]:
    """Yield each Markdown file of *source*, an Obsidian vault or any folder, as one memory."""
    return _read(source, options, observes=False)


def read_basic_memory(source: Source, options: Options) -> Iterator[Item]:
    """Yield each note of a basic-memory project, its observations as facets."""
    return _read(source, options, observes=True)


def has_observations(text: str) -> bool:
    r"""Whether *text* is a note of basic-memory.

    >>> has_observations("---\npermalink: tea\n---\n- [method] Pour slowly #tea")
    True
    """
    if re.search(r"^permalink:", text, re.MULTILINE) is None:
        return False
    lines = (line for line in text.split("\n") if len(line) <= MAX_STATED_CHARS)
    return any(map(_observation_re.fullmatch, lines)) or "[[" in text


def _read(source: Source, options: Options, *, observes: bool) -> Iterator[Item]:
    for name in source.named(".md", ".markdown"):
        try:
            yield _note(name, source.text(name, MAX_NOTE_BYTES), options, observes=observes)
        except MemhtmlError as error:
            if type(error) is UsageError:
                raise  # nothing can be read without a package
            yield Item(name, error=error)
    for name in source.links:
        if name.casefold().endswith((".md", ".markdown")):
            yield skipped(name, "it is a link to elsewhere, which is not followed")


class _Stated(NamedTuple):
    """What basic-memory's lines state, and the text without them."""

    body: str
    facets: tuple[Facet, ...] = ()
    tags: tuple[str, ...] = ()
    wishes: tuple[Wish, ...] = ()


def _note(name: str, text: str, options: Options, *, observes: bool) -> Item:
    front = split_front_matter(text)
    head = {key.strip().casefold().replace(" ", "_"): v for key, v in front.values.items()}
    stem = name.rpartition("/")[2].rpartition(".")[0]
    given = _first(head.get("title"))
    if _first(head.get("memhtml_status")) == Status.ARCHIVED:
        return skipped(name, "it is archived where it comes from", title=given or stem)
    stated = _stated(front.body) if observes else _Stated(front.body)
    lead = stated.facets[0].value if stated.facets else ""
    converted = from_markdown(
        stated.body,
        fallback_claim=lead or given or stem,
        take_title=True,
        wiki=True,
        detect=options.detect,
    )
    title = collapse(given or converted.title or stem)
    facets, notes = _facets(head)
    facets = (*stated.facets, *facets)
    if is_blank(stated.body) and not facets:
        return skipped(name, "it is empty", title=title)
    notes += [n._replace(line=n.line + front.lines) for n in converted.notes]
    if converted.title and collapse(converted.title) != title:
        notes.append(
            Note(
                front.lines + 1,
                "heading",
                f"{converted.title!r} is left out: the note has another title",
            )
        )
    parts = [converted.article_html, *render_extras(None, facets, ())]
    if front.fault:
        notes.append(Note(1, "front-matter", f"kept as code: {front.fault}"))
        parts.append(render_figure(front.raw.strip("\n"), "yaml"))
    draft = _draft(head, title, stem, options, tags=(*stated.tags, *converted.tags))
    draft = replace(draft, article_html="\n".join(filter(None, parts)))
    return Item(
        name,
        title,
        draft,
        notes=tuple(sorted(notes)),
        names=(
            _first(head.get("memhtml_path")).removesuffix(".html") or name.rpartition(".")[0],
            _first(head.get("permalink")),
            stem,
            title,
            *draft.aliases,
        ),
        wishes=(*_links(head), *stated.wishes, *_references(converted, stated, front)),
    )


def _draft(
    head: Mapping[str, Any], title: str, stem: str, options: Options, *, tags: tuple[str, ...]
) -> Draft:
    """Return the draft that the front matter states; a value of another kind states nothing."""
    kind = _word(MemoryType, head.get("type"))
    if kind is None:
        is_daily = _day_re.fullmatch(stem) is not None
        kind = options.memory_type or (MemoryType.EPISODIC if is_daily else MemoryType.SEMANTIC)
    is_task = kind is MemoryType.TASK
    since = next(filter(None, (instant_from(_first(head.get(key))) for key in _SINCE)), None)
    labels = filter(None, (tag.removeprefix("#") for tag in _labels(head, "tag", "tags")))
    return Draft(
        title=title,
        memory_type=kind,
        tags=tuple(dict.fromkeys((*labels, *tags, *options.tags))),
        aliases=tuple(dict.fromkeys(_texts(head.get("aliases")) + _texts(head.get("alias")))),
        entities=tuple(dict.fromkeys(_texts(head.get("entities")) + _texts(head.get("entity")))),
        importance=_importance(head.get("importance")),
        confidence=_confidence(head.get("confidence")),
        author=_first(head.get("author")) or None,
        valid_from=since or (stem if _day_re.fullmatch(stem) and instant_from(stem) else None),
        valid_until=instant_from(_first(head.get("valid_until"))),
        task_status=_word(TaskStatus, head.get("task_status")) if is_task else None,
        due_at=instant_from(_first(head.get("due"))) if is_task else None,
        workspace=options.workspace,
    )


def _facets(head: Mapping[str, Any]) -> tuple[tuple[Facet, ...], list[Note]]:
    """Return what the head has no place for, and where a value was too deep to be named."""
    facets: list[Facet] = []
    notes: list[Note] = []
    for key, value in head.items():
        reads = _READERS.get(key)
        is_read = key in _LABELS if reads is None else reads(value) is not None
        if is_read or not key:
            continue
        values = value if isinstance(value, list) else [value]
        for one in values:
            if isinstance(one, str):
                text = collapse(one)
            else:
                text = json.dumps(one, ensure_ascii=False)
                notes.append(Note(1, "front-matter", f"the value of {key[:40]!r} is kept as JSON"))
            if text:
                facets.append(Facet(key, text, None))
    return tuple(facets), notes


def _stated(body: str) -> _Stated:
    """Take the observations and relations out of *body*; blank lines keep the others' numbers."""
    kept: list[str] = []
    facets: list[Facet] = []
    tags: list[str] = []
    wishes: list[Wish] = []
    opening: str | None = None
    for number, line in enumerate(body.split("\n"), 1):
        if opening is not None:
            opening = None if closes_fence(line, opening) else opening
        elif (opening := fence_opening(line)) is None and len(line) <= MAX_STATED_CHARS:
            if found := _observation_re.fullmatch(line):
                facets.append(Facet(collapse(found["category"]), collapse(found["text"])))
                tags += _inline_tag_re.findall(found["text"])
                kept.append("")
                continue
            if (found := _relation_re.fullmatch(line)) and found["word"]:
                word = re.sub(r"[\s-]+", "_", found["word"].strip().casefold())
                wishes.append(Wish(_WORDS.get(word, Rel.RELATES_TO), found["target"], number))
                facets.append(Facet(found["word"].strip(), found["target"].partition("|")[0]))
                kept.append("")
                continue
            if _heading_re.fullmatch(line.strip()):
                kept.append("")
                continue
        kept.append(line)
    return _Stated("\n".join(kept), tuple(facets), tuple(tags), tuple(wishes))


def _links(head: Mapping[str, Any]) -> Iterator[Wish]:
    """Yield the links of a note that we exported: a relation and a path."""
    for text in _texts(head.get("links")):
        found = _link_re.fullmatch(text)
        rel = _WORDS.get(found["rel"]) if found else None
        if found and rel:
            yield Wish(rel, found["target"], 1)


def _references(converted: Converted, stated: _Stated, front: FrontMatter) -> Iterator[Wish]:
    known = {wish.target.casefold() for wish in stated.wishes}
    for reference in converted.references:
        if reference.target.casefold() not in known:
            known.add(reference.target.casefold())
            yield Wish(Rel.RELATES_TO, reference.target, reference.line + front.lines)


def _labels(head: Mapping[str, Any], *keys: str) -> Iterator[str]:
    for key in keys:
        value = head.get(key)
        # "tags: a, b" is two, as Obsidian reads it; an item of a list is one.
        texts = re.split(r"[,\s]+", value) if isinstance(value, str) else _texts(value)
        yield from filter(None, texts)


def _texts(value: Any) -> list[str]:  # noqa: ANN401 - YAML
    values = value if isinstance(value, list) else [value]
    return [collapse(one) for one in values if isinstance(one, str) and not is_blank(one)]


def _first(value: Any) -> str:  # noqa: ANN401 - YAML
    return next(iter(_texts(value)), "")


def _word(words: type[Any], value: Any) -> Any:  # noqa: ANN401 - a member, or None
    try:
        return words(_first(value))
    except ValueError:
        return None


def _importance(value: Any) -> int | None:  # noqa: ANN401 - YAML
    text = _first(value)
    return int(text) if re.fullmatch("[1-9]|10", text) else None


def _confidence(value: Any) -> float | None:  # noqa: ANN401 - YAML
    text = _first(value)
    return float(text) if re.fullmatch(r"0(?:\.[0-9]+)?|1(?:\.0+)?", text) else None


def _kind(value: Any) -> MemoryType | str | None:  # noqa: ANN401 - YAML
    """Return the type that *value* names; that of every note of basic-memory says nothing."""
    return "note" if value == "note" else _word(MemoryType, value)


def _instant(value: Any) -> str | None:  # noqa: ANN401 - YAML
    return instant_from(_first(value))


_READERS: Mapping[str, Callable[[Any], object]] = {
    "type": _kind,
    "importance": _importance,
    "confidence": _confidence,
    "valid_until": _instant,
    "due": _instant,
    "task_status": lambda value: _word(TaskStatus, value),
    **dict.fromkeys(_SINCE, _instant),
}
"""Keys with a place in the head, if their value can be read; else it becomes a facet."""
