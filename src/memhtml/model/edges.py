"""Edges: how one memory points at another.

A relation has three spellings that must not be mixed: the word (``caused_by``), the ``rel`` token
of a head link (``memhtml-caused-by``) and the family that decides what it may connect. An edge's
end is written as an href, the path with a slash in front.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Literal, NamedTuple

from memhtml.model.paths import normalize_path
from memhtml.model.vocabulary import MemoryType, Rel, RelClass

__all__ = [
    "Edge",
    "LinkRefusal",
    "LinkRule",
    "Provenance",
    "href_of",
    "is_root_relative",
    "is_well_formed",
    "link_refusal",
    "path_of_href",
    "rel_class",
    "rel_for_token",
    "rels_in",
]


class Provenance(StrEnum):
    """Who says that an edge holds."""

    AUTHORED = "authored"
    SLEEP = "sleep"
    IMPORT = "import"


class Edge(NamedTuple):
    """One relation between two memories."""

    src: str
    rel: Rel
    dst: str
    rel_class: RelClass
    provenance: Provenance = Provenance.AUTHORED
    derived: bool = False
    """Found by computation and kept in the index alone, never written into a file."""
    strength: float = 1.0
    """0 to 1."""


class LinkRule(StrEnum):
    """What can forbid a link between two files."""

    SELF = "link-self"
    TASK_IN_MEMORY_REL = "endpoint-task-in-memory-rel"
    NOT_TASK = "endpoint-not-task"


class LinkRefusal(NamedTuple):
    """Why a link may not be made, and which end is at fault; None where it is both."""

    rule: LinkRule
    offender: Literal["src", "dst"] | None


_TOKENS = {rel.token: rel for rel in Rel}
_WORDS = {rel.value: rel for rel in Rel}
_root_relative_re = re.compile(
    r"""
    (?: /  (?! (?:\.|%2[eE]){1,2} (?:[/?\#]|\Z) )  [^/?\#\\\x00-\x1f\x7f]+ )+
    (?: [?\#] [^\x00-\x1f\x7f]* )?
    """,
    re.VERBOSE,
)


def rel_class(word: str) -> RelClass | None:
    """Return the family of the relation *word*, None when it is none of ours.

    >>> rel_class("blocks"), rel_class("caused-by")
    (<RelClass.TASK: 'task'>, None)
    """
    rel = _WORDS.get(word)
    return rel.rel_class if rel else None


def rels_in(family: RelClass) -> tuple[Rel, ...]:
    """Return the relations of *family*, in vocabulary order.

    >>> [rel.value for rel in rels_in(RelClass.PERSON)]
    ['about_person', 'authored_by']
    """
    return tuple(rel for rel in Rel if rel.rel_class is family)


def rel_for_token(token: str) -> Rel | None:
    """Return the relation of a ``rel`` token; exactly the fourteen tokens have one.

    >>> rel_for_token("memhtml-caused-by")
    <Rel.CAUSED_BY: 'caused_by'>
    >>> rel_for_token("memhtml-caused_by")
    """
    return _TOKENS.get(token)


def is_root_relative(href: str) -> bool:
    r"""Whether *href* points at a file below the root, whoever resolves it.

    One slash, then names; a query or fragment may follow. Refused beside what the grammar refuses
    are the spellings that a browser reads otherwise than we do: it takes a backslash for a slash,
    drops control characters, and takes ``%2e`` for a dot, so ``/\host`` leaves the store as
    ``//host`` does.

    >>> [is_root_relative(h) for h in ("/areas/x.html#top", "areas/x.html", "//host/x", "/a/../b")]
    [True, False, False, False]
    >>> [is_root_relative(h) for h in ("/\\host/x", "/\t/host", "/a/%2E%2e/b")]
    [False, False, False]
    """
    return _root_relative_re.fullmatch(href) is not None


def href_of(path: str) -> str:
    """Return the href that points at *path*.

    >>> href_of("areas//x.html")
    '/areas/x.html'
    """
    return "/" + normalize_path(path)


def path_of_href(href: str) -> str | None:
    """Return the path that *href* points at; None when it is not root-relative.

    >>> path_of_href("/areas/x.html#top"), path_of_href("x.html")
    ('areas/x.html', None)
    """
    return _without_suffix(href)[1:] if is_root_relative(href) else None


def is_well_formed(edge: Edge) -> bool:
    """Whether *edge* can be kept: two ends, the right family, and only sleep derives."""
    return (
        normalize_path(edge.src) != normalize_path(edge.dst)
        and edge.rel.rel_class is edge.rel_class
        and (not edge.derived or edge.provenance is Provenance.SLEEP)
        and 0 <= edge.strength <= 1
    )


def link_refusal(
    rel: Rel, *, src: str, dst: str, src_type: str | None, dst_type: str | None
) -> LinkRefusal | None:
    """Return why *src* may not point at *dst* by *rel*; None when it may.

    The types are what the files state, verbatim; an absent or unknown one is not a task.

    >>> link_refusal(Rel.BLOCKS, src="a", dst="b", src_type="task", dst_type="verdict")
    LinkRefusal(rule=<LinkRule.NOT_TASK: 'endpoint-not-task'>, offender='dst')
    """
    if normalize_path(src) == normalize_path(dst):
        return LinkRefusal(LinkRule.SELF, None)
    src_is_task, dst_is_task = (kind == MemoryType.TASK for kind in (src_type, dst_type))
    if rel.rel_class is RelClass.MEMORY and (src_is_task or dst_is_task):
        return LinkRefusal(LinkRule.TASK_IN_MEMORY_REL, "src" if src_is_task else "dst")
    if rel.rel_class is RelClass.TASK and not (src_is_task and dst_is_task):
        return LinkRefusal(LinkRule.NOT_TASK, "dst" if src_is_task else "src")
    return None


def _without_suffix(href: str) -> str:
    return re.split(r"[?#]", href, maxsplit=1)[0]
