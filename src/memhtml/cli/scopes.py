"""The filters that every command takes which finds or lists memories, stated once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Flag, Kind, Noun
from memhtml.model.vocabulary import MemoryType

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.search.scope import Scope

__all__ = ["FRESH", "SCOPE_FLAGS", "cursor_flag", "is_scanned", "limit_flag", "scope_of"]

_TYPES = tuple(kind.value for kind in MemoryType)

SCOPE_FLAGS = (
    Flag(
        name="type",
        repeatable=True,
        metavar="type",
        choices=_TYPES,
        summary="only memories of this type",
    ),
    Flag(
        name="workspace",
        noun=Noun.WORKSPACE,
        metavar="name",
        summary="only memories of this project",
    ),
    Flag(
        name="tag",
        noun=Noun.TAG,
        repeatable=True,
        metavar="tag",
        summary="only with one of these tags",
    ),
    Flag(
        name="all-tags",
        noun=Noun.TAG,
        repeatable=True,
        metavar="tag",
        summary="only with each of these tags",
    ),
    Flag(
        name="entity",
        noun=Noun.ENTITY,
        repeatable=True,
        metavar="type:name",
        summary="only about each of these entities",
    ),
    Flag(
        name="facet",
        repeatable=True,
        metavar="name=value",
        summary=(
            "only with this facet; name>=number and the like compare; one of several values of "
            "a name will do"
        ),
    ),
    Flag(name="author", repeatable=True, metavar="name", summary="only by one of these"),
    Flag(name="path-prefix", metavar="folder", summary="only below this folder of the store"),
    Flag(name="since", metavar="time", summary="only what happened at this time or later"),
    Flag(name="until", metavar="time", summary="only what happened until then; a day to its end"),
    Flag(name="updated-since", metavar="time", summary="only what was changed then or later"),
    Flag(name="updated-until", metavar="time", summary="only what was changed until then"),
    Flag(
        name="not-type",
        repeatable=True,
        metavar="type",
        choices=_TYPES,
        summary="none of this type",
    ),
    Flag(
        name="not-workspace",
        noun=Noun.WORKSPACE,
        repeatable=True,
        metavar="name",
        summary="none of this project",
    ),
    Flag(
        name="not-tag", noun=Noun.TAG, repeatable=True, metavar="tag", summary="none with this tag"
    ),
    Flag(
        name="not-entity",
        noun=Noun.ENTITY,
        repeatable=True,
        metavar="type:name",
        summary="none about this entity",
    ),
    Flag(name="not-facet", repeatable=True, metavar="name=value", summary="none with this facet"),
    Flag(name="not-author", repeatable=True, metavar="name", summary="none by this one"),
    Flag(name="not-path-prefix", repeatable=True, metavar="folder", summary="none below it"),
    Flag(
        name="as-of",
        metavar="time",
        summary="only what was true at this time, whether or not it is archived since",
    ),
    Flag(name="include-archived", kind=Kind.BOOLEAN, summary="also what is in the archive"),
    Flag(name="only-archived", kind=Kind.BOOLEAN, summary="only what is in the archive"),
)
"""Filters narrow and are never widened; see `memhtml.search.scope`."""

FRESH = Flag(
    name="fresh",
    metavar="what",
    default="files",
    choices=("files", "head"),
    summary="follow files edited by hand too, or commits only, which is faster",
)


def limit_flag(default: int, most: int) -> Flag:
    """Return the flag that says how many memories are wanted."""
    return Flag(
        name="limit",
        kind=Kind.INTEGER,
        default=default,
        minimum=1,
        maximum=most,
        metavar="n",
        summary="how many at most",
    )


def cursor_flag() -> Flag:
    """Return the flag that asks for the page after another."""
    return Flag(
        name="cursor", metavar="cursor", summary="the page after the answer whose nextCursor it is"
    )


def scope_of(call: Call, *, has_types: bool = True) -> Scope:
    """Return what the flags narrow *call* to; not every command *has_types* to choose from.

    Raises:
        InvalidFlag: A filter cannot be read, or two exclude each other.
    """
    from memhtml.search.scope import make_scope  # noqa: PLC0415 - help needs none

    return make_scope(
        types=call.texts("type") if has_types else (),
        workspace=call.optional_text("workspace"),
        tags=call.texts("tag"),
        all_tags=call.texts("all-tags"),
        entities=call.texts("entity"),
        facets=call.texts("facet"),
        authors=call.texts("author"),
        path_prefix=call.optional_text("path-prefix"),
        event_since=call.optional_text("since"),
        event_until=call.optional_text("until"),
        updated_since=call.optional_text("updated-since"),
        updated_until=call.optional_text("updated-until"),
        not_types=call.texts("not-type") if has_types else (),
        not_workspaces=call.texts("not-workspace"),
        not_tags=call.texts("not-tag"),
        not_entities=call.texts("not-entity"),
        not_facets=call.texts("not-facet"),
        not_authors=call.texts("not-author"),
        not_path_prefixes=call.texts("not-path-prefix"),
        as_of=call.optional_text("as-of"),
        include_archived=call.is_on("include-archived"),
        only_archived=call.is_on("only-archived"),
    )


def is_scanned(call: Call) -> bool:
    """Return whether files edited by hand are to be looked for first."""
    return call.text("fresh") == "files"
