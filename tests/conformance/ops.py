"""Each operation of the vectors as a call of our public functions.

An adapter only renames and rearranges: it takes the ``in`` of a vector and returns what ours says
in the shape of its ``out``. Imports stand inside the adapters, so that one area that cannot be
imported costs its own vectors only.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import atexit
import os
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memhtml.model.diagnostics import Diagnostic
    from memhtml.model.document import Document, Link
    from memhtml.providers.languages import HighlightJs

Given: TypeAlias = dict[str, Any]
Outcome: TypeAlias = dict[str, Any]

OUR_CODES = frozenset(
    {
        "due-not-task",
        "head-repeated",
        "processing-instruction",
        "encoding-invalid",
        "conflict-markers",
        "unsafe-element",
        "unsafe-url",
        "file-too-large",
    }
)
"""Findings that the shared rules do not have; `docs/compat.md` says so."""


def slugify(given: Given) -> Outcome:
    from memhtml.model.slugs import slugify

    return {"slug": slugify(given["title"])}


def is_slug(given: Given) -> Outcome:
    from memhtml.model.slugs import is_slug

    return {"valid": is_slug(given["value"])}


def collision(given: Given) -> Outcome:
    from memhtml.model.slugs import with_ordinal

    return {"slug": with_ordinal(given["slug"], given["ordinal"])}


def filename(given: Given) -> Outcome:
    from memhtml.model.slugs import filename

    dated_at = datetime.fromisoformat(given["at"]) if given["episodic"] else None
    return {"filename": filename(given["slug"], dated_at=dated_at)}


def has_date_prefix(given: Given) -> Outcome:
    from memhtml.model.slugs import has_date_prefix

    return {"value": has_date_prefix(given["filename"])}


def normalize_path(given: Given) -> Outcome:
    from memhtml.model.paths import normalize_path

    return {"path": normalize_path(given["path"])}


def para_bucket(given: Given) -> Outcome:
    from memhtml.model.paths import bucket_of

    return {"bucket": bucket_of(given["path"])}


def path_violation(given: Given) -> Outcome:
    from memhtml.model.paths import path_fault

    fault = path_fault(given["path"])
    if fault is None:
        return {"violation": None, "valid": True}
    segment = {} if fault.segment is None else {"segment": fault.segment}
    return {"violation": {"code": fault.rule, **segment}, "valid": False}


def placement(given: Given) -> Outcome:
    explicit = _usable(given)
    return {"directory": explicit.rpartition("/")[0] if explicit else _place(given)}


def memory_path(given: Given) -> Outcome:
    from memhtml.model.paths import derived_path
    from memhtml.model.vocabulary import MemoryType

    explicit = _usable(given)
    if explicit:
        return {"path": explicit}
    at = datetime.fromisoformat(given["at"])
    kind = MemoryType(given["type"])
    return {"path": derived_path(_place(given), given["title"], kind, at=at)}


def _usable(given: Given) -> str | None:
    # Ours refuses an unusable explicit path; the vectors ask where the memory went instead.
    from memhtml.model.paths import memory_path, path_fault

    path = given.get("path")
    return None if path is None or path_fault(path) else memory_path(path)


def _place(given: Given) -> str:
    from memhtml.model.paths import place
    from memhtml.model.vocabulary import MemoryType

    return place(
        MemoryType(given["type"]),
        workspace=given.get("workspace"),
        entities=given.get("entities", ()),
        tags=given.get("tags", ()),
    )


def archive_path(given: Given) -> Outcome:
    from memhtml.model.paths import archive_path

    return {"path": archive_path(given["path"], int(given["year"]))}


def original_path(given: Given) -> Outcome:
    from memhtml.model.paths import original_path

    return {"path": original_path(given["path"])}


def archive_year(given: Given) -> Outcome:
    from memhtml.model.paths import archive_year

    year = archive_year(given["path"])
    return {"year": year, "archived": year is not None}


def workspace_of(given: Given) -> Outcome:
    from memhtml.model.paths import workspace_of

    return {"workspace": workspace_of(given["path"])}


def rel_class(given: Given) -> Outcome:
    from memhtml.model.edges import rel_class

    return {"class": rel_class(given["rel"])}


def rels_for_class(given: Given) -> Outcome:
    from memhtml.model.edges import rels_in
    from memhtml.model.vocabulary import RelClass

    return {"rels": list(rels_in(RelClass(given["class"])))}


def rel_token(given: Given) -> Outcome:
    from memhtml.model.vocabulary import Rel

    return {"token": Rel(given["rel"]).token}


def rel_for_token(given: Given) -> Outcome:
    from memhtml.model.edges import rel_for_token

    return {"rel": rel_for_token(given["token"])}


def root_relative_href(given: Given) -> Outcome:
    from memhtml.model.edges import is_root_relative

    return {"valid": is_root_relative(given["href"])}


def well_formed_edge(given: Given) -> Outcome:
    from memhtml.model.edges import Edge, Provenance, is_well_formed
    from memhtml.model.vocabulary import Rel, RelClass

    edge = Edge(
        src=given["src"],
        rel=Rel(given["rel"]),
        dst=given["dst"],
        rel_class=RelClass(given["class"]),
        provenance=Provenance(given["provenance"]),
        derived=given["derived"],
    )
    return {"valid": is_well_formed(edge)}


def link_endpoints(given: Given) -> Outcome:
    from memhtml.model.edges import link_refusal
    from memhtml.model.vocabulary import Rel

    refusal = link_refusal(
        Rel(given["rel"]),
        src="areas/a.html",
        dst="/areas//a.html" if given.get("self") else "areas/b.html",
        src_type=given["src_type"],
        dst_type=given["dst_type"],
    )
    if refusal is None:
        return {"allowed": True, "code": None}
    return {"allowed": False, "code": refusal.rule, "offender": refusal.offender}


def parse_entity(given: Given) -> Outcome:
    from memhtml.model.entities import parse_entity

    entity = parse_entity(given["entity"])
    return {"entity": None if entity is None else entity._asdict()}


def normalize_entity(given: Given) -> Outcome:
    from memhtml.model.entities import normalize_entity

    return {"entity": normalize_entity(given["entity"])}


def normalize_entity_name(given: Given) -> Outcome:
    from memhtml.model.entities import normalize_entity_name

    return {"name": normalize_entity_name(given["name"])}


def is_person_entity(given: Given) -> Outcome:
    from memhtml.model.entities import is_person

    return {"value": is_person(given["entity"])}


def is_datetime(given: Given) -> Outcome:
    from memhtml.model.instants import is_instant

    return {"valid": is_instant(given["value"])}


def is_content_hash(given: Given) -> Outcome:
    from memhtml.model.instants import is_content_hash

    return {"valid": is_content_hash(given["value"])}


def fence_block(given: Given) -> Outcome:
    from memhtml.format.fences import fence_block

    block = fence_block(given["text"])
    return {"block": None if block is None else block._asdict()}


def fence_opening(given: Given) -> Outcome:
    from memhtml.format.fences import fence_opening

    return {"opening": fence_opening(given["line"])}


def closes_fence(given: Given) -> Outcome:
    from memhtml.format.fences import closes_fence

    return {"closes": closes_fence(given["line"], given["opening"])}


def lang_token(given: Given) -> Outcome:
    from memhtml.format.fences import is_lang_token

    return {"valid": is_lang_token(given["value"])}


def detect_score(given: Given) -> Outcome:
    from memhtml.format.language_names import detect_score

    score = detect_score(
        given["top"],
        given["top_relevance"],
        given.get("second"),
        given.get("second_relevance", 0),
        code=given["code"],
    )
    return {"lang": score.language, "confidence": score.confidence, "stamp": score.stamp}


def detect(given: Given) -> Outcome:
    from memhtml.format.language_names import is_too_long

    code = given["code"]
    engine = _highlighter()
    score = engine.score(code)
    raw = None if is_too_long(code) else engine.rank(code)._asdict()
    return {
        "lang": score.language,
        "confidence": score.confidence,
        "stamp": score.stamp,
        "raw": raw,
    }


@cache
def _highlighter() -> HighlightJs:
    from memhtml.providers.languages import highlighter

    engine = highlighter(Path(os.environ["MEMHTML_HIGHLIGHTJS"]))
    atexit.register(engine.close)
    return engine


def normalize_lang(given: Given) -> Outcome:
    from memhtml.format.language_names import normalize_lang

    return {"lang": normalize_lang(given["raw"])}


def claim_from_prose(given: Given) -> Outcome:
    from memhtml.format.prose import claim_from_prose

    return {"claim": claim_from_prose(given["prose"])}


def prose_tail(given: Given) -> Outcome:
    from memhtml.format.prose import prose_tail

    return {"paragraphs": list(prose_tail(given["prose"]))}


def check(given: Given) -> Outcome:
    from memhtml.format.parse import parse

    document = parse(given["html"].encode())
    return {
        "violations": _findings(document.violations),
        "warnings": _findings(document.warnings),
    }


def parse(given: Given) -> Outcome:
    from memhtml.format.parse import parse

    document = parse(given["html"].encode())
    if not document.is_valid:
        return {"ok": False, "violations": _findings(document.violations)}
    return {"ok": True, "doc": _document(document)}


def entity_rows(given: Given) -> Outcome:
    from memhtml.format.parse import parse
    from memhtml.model.entities import entity_rows

    document = parse(given["html"].encode())
    return {"ok": document.is_valid, "rows": [list(row) for row in entity_rows(document)]}


def projection(given: Given) -> Outcome:
    from memhtml.format.parse import parse
    from memhtml.format.projection import disclosure_text, search_text, word_count

    document = parse(given["html"].encode())
    return {
        "ok": document.is_valid,
        "fts_text": search_text(document),
        "disclosure_text": disclosure_text(document),
        "word_count": word_count(document),
    }


def render(given: Given) -> Outcome:
    from memhtml.format.parse import parse
    from memhtml.format.render import render_template
    from memhtml.model.memory import Draft
    from memhtml.model.vocabulary import MemoryType

    draft = Draft(
        title=given["title"],
        memory_type=MemoryType(given["type"]),
        claim=given.get("claim", ""),
        paragraphs=tuple(given.get("body", ())),
        article_html=given.get("article_html"),
        tags=tuple(given.get("tags", ())),
        entities=tuple(given.get("entities", ())),
        aliases=tuple(given.get("aliases", ())),
        links=_links(given),
        confidence=given.get("confidence"),
        importance=given.get("importance"),
        author=given.get("author"),
        session_id=given.get("session"),
        prompt_id=given.get("prompt"),
        turn_uuid=given.get("turn"),
        valid_from=given.get("valid_from"),
        valid_until=given.get("valid_until"),
        task_status=given.get("task_status"),
        due_at=given.get("due"),
    )
    data = render_template(draft, at=given["at"])
    return {"html": data.decode(), "violations": _findings(parse(data).violations)}


def serialize(given: Given) -> Outcome:
    from memhtml.format.metas import META_PREFIX
    from memhtml.format.serialize import HEAD_FIELDS, serialize
    from memhtml.model.document import Head

    doc = given["doc"]
    scalars = {
        HEAD_FIELDS[META_PREFIX + key.replace("_", "-")]: value
        for key, value in doc["metas"].items()
    }
    head = Head(
        **scalars,
        entities=tuple(doc.get("entities", ())),
        tags=tuple(doc.get("tags", ())),
        aliases=tuple(doc.get("aliases", ())),
    )
    data = serialize(
        title=doc["title"], head=head, links=_links(doc), article_html=doc["article_html"]
    )
    return {"html": data.decode()}


def roundtrip(given: Given) -> Outcome:
    from memhtml.format.parse import parse
    from memhtml.format.serialize import serialize
    from tests.conformance.canonical import canonical

    document = parse(given["html"].encode())
    data = serialize(
        title=document.title,
        head=document.head,
        links=document.links,
        # As in `_document`: it is this form of the article that the vectors carry round.
        article_html=canonical(document.article_html),
    )
    return {"ok": document.is_valid, "html": data.decode()}


def normalise_article(given: Given) -> Outcome:
    # An author's markup has no other form here than the one it was written in.
    return {"html": given["html"]}


def _links(given: Given) -> tuple[Link, ...]:
    from memhtml.model.document import Link
    from memhtml.model.vocabulary import Rel

    return tuple(Link(Rel(link["rel"]).token, link["href"]) for link in given.get("links", ()))


def _findings(diagnostics: Iterable[Diagnostic]) -> list[Outcome]:
    """Return findings as the vectors have them: those of their codes, with their facts."""
    return [
        {"code": found.code, **found.info} for found in diagnostics if found.code not in OUR_CODES
    ]


def _document(document: Document) -> Outcome:
    from memhtml.format.metas import META_PREFIX, REPEATABLE
    from memhtml.format.serialize import HEAD_FIELDS
    from memhtml.model.edges import rel_for_token
    from tests.conformance.canonical import canonical

    metas = {
        name.removeprefix(META_PREFIX).replace("-", "_"): value
        for name, field in HEAD_FIELDS.items()
        if name not in REPEATABLE and (value := getattr(document.head, field)) is not None
    }
    return {
        "title": document.title,
        "metas": metas,
        "entities": list(document.head.entities),
        "tags": list(document.head.tags),
        "aliases": list(document.head.aliases),
        "links": [{"rel": rel_for_token(rel), "href": href} for rel, href in document.links],
        "article": {
            "html": canonical(document.article_html),
            "body_text": document.body_text,
            "gist": document.claim,
            "event_at": document.happened_at,
            "facets": [
                {"name": facet.name, "value": facet.value, "numeric_value": facet.number}
                for facet in document.facets
            ],
            "citations": [citation._asdict() for citation in document.citations],
            "defined_terms": list(document.defined_terms),
            "summaries": list(document.summaries),
            "asides": list(document.asides),
            "captions": list(document.captions),
            "code_langs": list(document.code_langs),
            "abbreviations": list(document.abbreviations),
        },
        "warnings": _findings(document.warnings),
    }


def canonical_text(given: Given) -> Outcome:
    from memhtml.format.text import canonical_text, content_hash

    return {"text": canonical_text(given["html"]), "hash": content_hash(given["html"])}


def content_hash(given: Given) -> Outcome:
    from memhtml.format.text import content_hash

    return {"hash": content_hash(given["html"])}


def escape_text(given: Given) -> Outcome:
    from memhtml.format.escape import escape_text

    return {"out": escape_text(given["text"])}


def escape_attribute(given: Given) -> Outcome:
    from memhtml.format.escape import escape_attribute

    return {"out": escape_attribute(given["text"])}


def editor(name: str, *fields: str) -> Callable[[Given], Outcome]:
    """Return the operation of one head editor, which takes *fields* of what is given."""

    def edit(given: Given) -> Outcome:
        from memhtml.format import edit as editors
        from memhtml.model.errors import InvalidFlag, InvalidMemory

        data = given["html"].encode()
        values = (given[field] for field in fields if field in given)
        try:
            edited = getattr(editors, name)(data, *values)
        except (InvalidFlag, InvalidMemory):
            # Ours says what is wrong; in the vectors the text comes back as it was.
            edited = data
        return {"html": edited.decode()}

    return edit


def read_meta(given: Given) -> Outcome:
    from memhtml.format.edit import read_meta

    return {"value": read_meta(given["html"].encode(), given["name"])}


def read_links(given: Given) -> Outcome:
    from memhtml.format.edit import read_links
    from memhtml.model.edges import rel_for_token

    links = read_links(given["html"].encode())
    return {"links": [{"rel": rel_for_token(link.rel), "href": link.href} for link in links]}


OPS: dict[str, Callable[[Given], Outcome]] = {
    # slug_paths
    "slugify": slugify,
    "is_slug": is_slug,
    "collision": collision,
    "filename": filename,
    "has_date_prefix": has_date_prefix,
    "normalize_path": normalize_path,
    "para_bucket": para_bucket,
    "path_violation": path_violation,
    "placement": placement,
    "memory_path": memory_path,
    "archive_path": archive_path,
    "original_path": original_path,
    "archive_year": archive_year,
    "workspace_of": workspace_of,
    # edges
    "rel_class": rel_class,
    "rels_for_class": rels_for_class,
    "rel_token": rel_token,
    "rel_for_token": rel_for_token,
    "root_relative_href": root_relative_href,
    "well_formed_edge": well_formed_edge,
    "link_endpoints": link_endpoints,
    # entities
    "parse_entity": parse_entity,
    "normalize_entity": normalize_entity,
    "normalize_entity_name": normalize_entity_name,
    "is_person_entity": is_person_entity,
    # datetime
    "datetime": is_datetime,
    "is_content_hash": is_content_hash,
    # fences
    "fence_block": fence_block,
    "fence_opening": fence_opening,
    "closes_fence": closes_fence,
    "lang_token": lang_token,
    # detect
    **({"detect": detect} if os.environ.get("MEMHTML_HIGHLIGHTJS") else {}),
    "detect_score": detect_score,
    "normalize_lang": normalize_lang,
    # prose
    "claim_from_prose": claim_from_prose,
    "prose_tail": prose_tail,
    # hash
    "canonical_text": canonical_text,
    "content_hash": content_hash,
    # editors
    "set_meta": editor("set_meta", "name", "value"),
    "add_meta": editor("add_meta", "name", "value"),
    "remove_meta": editor("remove_meta", "name"),
    "add_link": editor("add_link", "rel", "href"),
    "remove_link": editor("remove_link", "rel", "href"),
    "read_meta": read_meta,
    "read_links": read_links,
    # template
    "escape_text": escape_text,
    "escape_attribute": escape_attribute,
    "render": render,
    "serialize": serialize,
    "roundtrip": roundtrip,
    "normalise_article": normalise_article,
    # document
    "parse": parse,
    "entity_rows": entity_rows,
    "projection": projection,
    # check
    "check": check,
}
