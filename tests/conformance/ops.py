"""Each operation of the vectors as a call of our public functions.

An adapter only renames and rearranges: it takes the ``in`` of a vector and returns what ours says
in the shape of its ``out``. Imports stand inside the adapters, so that one area that cannot be
imported costs its own vectors only.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Given: TypeAlias = dict[str, Any]
Outcome: TypeAlias = dict[str, Any]


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


def claim_from_prose(given: Given) -> Outcome:
    from memhtml.format.prose import claim_from_prose

    return {"claim": claim_from_prose(given["prose"])}


def prose_tail(given: Given) -> Outcome:
    from memhtml.format.prose import prose_tail

    return {"paragraphs": list(prose_tail(given["prose"]))}


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
}
