"""Plan a link between two memories, or its removal: one splice in the head of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.edit import add_link, read_meta, remove_link
from memhtml.model.changes import Linked
from memhtml.model.edges import href_of
from memhtml.store.archive import find_memory
from memhtml.store.gate import refuse_link
from memhtml.store.plan import Planned, Put, subject

if TYPE_CHECKING:
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
    target, _ = find_memory(dst, view)
    refuse_link(source, read_meta(file.data, "memhtml-type"), rel, target, view)
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
