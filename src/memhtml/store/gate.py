"""What every write door asks before anything is written: no credential, no link that leads nowhere.

Git keeps what it is given, so a credential is looked for in all that a commit would hold: the file
as written and as read, its facets, its path, and the words of the commit message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.edit import read_meta
from memhtml.format.secrets import find_secrets, find_secrets_in_markup
from memhtml.model.edges import LinkRule, link_refusal, path_of_href, rel_for_token
from memhtml.model.errors import InvalidMemory, PathNotFound, SecretFound
from memhtml.model.paths import path_fault
from memhtml.model.vocabulary import RelClass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.model.document import Document, Link
    from memhtml.model.edges import LinkRefusal
    from memhtml.model.vocabulary import Rel
    from memhtml.store.plan import View

__all__ = ["refuse_link", "refuse_links", "refuse_secret_words", "refuse_secrets"]


def refuse_secrets(data: bytes, document: Document) -> None:
    """Let nothing that looks like a credential pass.

    Raises:
        SecretFound: *data*, in any reading of it, holds one.
    """
    source = data.decode("utf-8", "replace")
    found = find_secrets_in_markup(source)
    if not found:
        # A name and its value stand in two elements, which no reading of the source joins.
        facets = "\n".join(f"{facet.name}: {facet.value}" for facet in document.facets)
        found = find_secrets(facets)
    if found:
        raise SecretFound([(match.kind, match.line) for match in found])


def refuse_secret_words(*words: str | None) -> None:
    """Let no credential into a path or a commit message.

    Raises:
        SecretFound: One of *words* holds one.
    """
    found = [match for text in words if text for match in find_secrets(text)]
    if found:
        raise SecretFound([(match.kind, match.line) for match in found])


def refuse_links(src: str, src_type: str | None, links: Iterable[Link], view: View) -> None:
    """Let every link of a new file pass that `refuse_link` lets pass.

    Raises:
        InvalidMemory: A link may not be made, or is one that only memhtml itself writes.
        PathNotFound: A link leads to where nothing stands.
    """
    for link in links:
        rel, target = rel_for_token(link.rel), path_of_href(link.href)
        if rel is not None and target is not None:  # the format's own checks tell the others
            refuse_link(src, src_type, rel, target, view)


def refuse_link(src: str, src_type: str | None, rel: Rel, dst: str, view: View) -> None:
    """Let a link from *src* to *dst* pass when the two may be joined so.

    Raises:
        InvalidMemory: They may not, or *rel* is one that only memhtml itself writes.
        PathNotFound: Nothing stands at *dst*.
    """
    if rel.rel_class in {RelClass.PERSON, RelClass.PROVENANCE}:
        raise InvalidMemory(
            (), reason=f"links of the kind {rel.value!r} are made by memhtml itself"
        )
    other = None if path_fault(dst) else view.find(dst)
    dst_type = None if other is None else read_meta(other.data, "memhtml-type")
    refusal = link_refusal(rel, src=src, dst=dst, src_type=src_type, dst_type=dst_type)
    if refusal is not None and refusal.rule is LinkRule.SELF:
        raise InvalidMemory((), reason=_reason(refusal, rel, src, dst))
    if other is None:
        raise PathNotFound(dst, suggestions=("memhtml list",))
    if refusal is not None:
        raise InvalidMemory((), reason=_reason(refusal, rel, src, dst))


def _reason(refusal: LinkRefusal, rel: Rel, source: str, target: str) -> str:
    path = target if refusal.offender == "dst" else source
    match refusal.rule:
        case LinkRule.SELF:
            return f"{source!r} cannot link to itself"
        case LinkRule.TASK_IN_MEMORY_REL:
            return f"{rel.value!r} joins memories, and {path!r} is a task"
        case LinkRule.NOT_TASK:
            return f"{rel.value!r} joins tasks, and {path!r} is none"
