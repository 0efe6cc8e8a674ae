"""Plan a link between two memories, or its removal: one splice in the head of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.edit import add_link, read_meta, remove_link
from memhtml.model.changes import Linked
from memhtml.model.edges import LinkRule, href_of, link_refusal
from memhtml.model.errors import InvalidMemory
from memhtml.model.vocabulary import RelClass
from memhtml.store.archive import find_memory
from memhtml.store.plan import Planned, Put, subject

if TYPE_CHECKING:
    from memhtml.model.edges import LinkRefusal
    from memhtml.model.vocabulary import Rel
    from memhtml.store.plan import View

__all__ = ["plan_link", "plan_unlink"]


def plan_link(src: str, rel: Rel, dst: str, view: View) -> Planned[Linked]:
    """Plan a head link from *src* to *dst*; no steps when *src* has it.

    Raises:
        PathNotFound: Either end is missing.
        InvalidMemory: *rel* may not join these two, or is one that only memhtml itself writes.
    """
    source, file = find_memory(src, view)
    target, other = find_memory(dst, view)
    if rel.rel_class in {RelClass.PERSON, RelClass.PROVENANCE}:
        raise InvalidMemory(
            (), reason=f"links of the kind {rel.value!r} are made by memhtml itself"
        )
    refusal = link_refusal(
        rel,
        src=source,
        dst=target,
        src_type=read_meta(file.data, "memhtml-type"),
        dst_type=read_meta(other.data, "memhtml-type"),
    )
    if refusal is not None:
        raise InvalidMemory((), reason=_reason(refusal, rel, source, target))
    data = add_link(file.data, rel, href_of(target))
    return Planned(
        result=Linked(src=source, rel=rel, dst=target, commit=None),
        steps=(Put(source, data, file.sha),) if data != file.data else (),
        subject=subject("link", f"{rel.value} {source} -> {target}"),
    )


def plan_unlink(src: str, rel: Rel, dst: str, view: View) -> Planned[Linked]:
    """Plan *src* without its link to *dst*, which need not exist; no steps when there is none.

    Raises:
        PathNotFound: *src* is missing.
    """
    source, file = find_memory(src, view)
    href = href_of(dst)
    data = remove_link(file.data, rel, href)
    return Planned(
        result=Linked(src=source, rel=rel, dst=href[1:], commit=None),
        steps=(Put(source, data, file.sha),) if data != file.data else (),
        subject=subject("unlink", f"{rel.value} {source} -> {href[1:]}"),
    )


def _reason(refusal: LinkRefusal, rel: Rel, source: str, target: str) -> str:
    path = target if refusal.offender == "dst" else source
    match refusal.rule:
        case LinkRule.SELF:
            return f"{source!r} cannot link to itself"
        case LinkRule.TASK_IN_MEMORY_REL:
            return f"{rel.value!r} joins memories, and {path!r} is a task"
        case LinkRule.NOT_TASK:
            return f"{rel.value!r} joins tasks, and {path!r} is none"
