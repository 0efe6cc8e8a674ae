"""Plan an edit: other bytes for a memory, as a person or a program left them. Pure.

The file may say anything that a memory may say; its stamps follow, and nothing else is touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.edit import SetMeta, apply_edits, read_meta
from memhtml.format.parse import parse
from memhtml.model.changes import Edited
from memhtml.model.errors import DuplicateContent, InvalidMemory, WriteConflict
from memhtml.model.instants import stamp
from memhtml.model.paths import original_path
from memhtml.model.shell import quoted
from memhtml.model.vocabulary import MemoryType
from memhtml.store.archive import find_memory, later, reason_trailer
from memhtml.store.gate import refuse_links, refuse_secret_words, refuse_secrets
from memhtml.store.plan import Fact, Planned, Put, subject

if TYPE_CHECKING:
    from datetime import datetime

    from memhtml.store.plan import View

__all__ = ["plan_edit"]


def plan_edit(
    path: str,
    data: bytes,
    view: View,
    *,
    now: datetime,
    expect: str | None = None,
    reason: str | None = None,
    allow_secret: bool = False,
) -> Planned[Edited]:
    """Plan *data* for the memory at *path*; no steps where it is so already.

    *expect* is the blob sha of the version that was edited.

    Raises:
        NotCommitted: No commit has the file yet.
        PathNotFound: No memory stands there, or a new link leads to where nothing does.
        WriteConflict: The memory is not the version that was edited.
        InvalidMemory: *data* is no memory, or has a new link that may not be made.
        DuplicateContent: Another active memory says already what *data* says.
        SecretFound: *data* or *reason* holds a credential.
    """
    here, file = find_memory(path, view)
    if expect not in {None, file.sha}:
        raise WriteConflict(
            here,
            ours=expect or "",
            theirs=file.sha,
            reason="it was changed after you read it",
            suggestions=(f"memhtml read {quoted(here)}", f"memhtml history {quoted(here)}"),
        )
    document = parse(data)
    if document.violations:
        raise InvalidMemory(document.violations)
    before = parse(file.data)
    if data == file.data:
        return Planned(result=Edited(path=here, commit=None, content_hash=document.content_hash))
    if not allow_secret:
        refuse_secrets(data, document)
        refuse_secret_words(reason)
    memory_type = document.head.memory_type
    new_links = [link for link in document.links if link not in before.links]
    refuse_links(here, memory_type, new_links, view)
    is_known = original_path(here) is not None or memory_type == MemoryType.TASK
    known = None if is_known else view.find_active(document.content_hash)
    if known not in {None, here}:
        raise DuplicateContent(str(known), correcting=here)
    updated = later(stamp(now), read_meta(file.data, "memhtml-updated"))
    data = apply_edits(
        data,
        (
            SetMeta("memhtml-content-hash", document.content_hash),
            SetMeta("memhtml-updated", updated),
        ),
    )
    return Planned(
        result=Edited(path=here, commit=None, content_hash=document.content_hash),
        steps=(Put(here, data, file.sha),),
        subject=subject("edit", document.title),
        trailers=reason_trailer(reason),
        facts=() if is_known else (Fact.of(here, document),),
    )
