"""What became of each live memory between two commits, read off their difference.

A memory that left its place was superseded, moved or retired. Its archived form names who took its
place; else a link of the one that did; else the same content stands somewhere else. The cost
follows the size of the change, not that of the store.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from memhtml.evals.probes import Claim
from memhtml.format.edit import read_links, read_meta
from memhtml.format.parse import parse
from memhtml.model.edges import path_of_href, rel_for_token
from memhtml.model.errors import InvalidFlag
from memhtml.model.paths import original_path, path_fault
from memhtml.model.tree import ChangeKind
from memhtml.model.vocabulary import MemoryType, Rel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memhtml.model.document import Document
    from memhtml.store.repo import Repo

__all__ = ["Difference", "read_difference"]

_MOST_STEPS = 16


class Difference(NamedTuple):
    """What two commits differ by, seen from the memories that were live at the first."""

    touched: frozenset[str]
    """Every path of a memory that differs."""
    claims: tuple[Claim, ...]
    """Live in both."""
    retired: tuple[str, ...]
    """Archived or removed, and nothing took their place."""
    rewritten: tuple[str, ...]
    """At the same place, saying something else."""
    added: tuple[Claim, ...]
    """New and live: what may stand above others now."""
    heirs: Mapping[str, str]
    """Of those that left their place: who took it."""
    left_out: int
    """Live memories that differ and were not looked at, there being more than the limit."""


def read_difference(repo: Repo, base: str, tip: str, *, limit: int) -> Difference:
    """Return how *tip* differs from *base*, looking at *limit* memories at most.

    Those that left their place come first, for a merge is about them; the rest in an order that
    depends on their paths alone.

    Raises:
        InvalidFlag: One of the two is no commit of this store.
        GitFailure: The store cannot be read.
    """
    old, new = _blobs(repo, tip, base), _blobs(repo, base, tip)
    live = sorted(
        (path for path in old if original_path(path) is None),
        key=lambda path: (path in new, hashlib.sha256(path.encode()).digest()),
    )
    gone = [path for path in live if path not in new]
    heirs = _heirs(repo, gone, new) if gone else {}
    before = _documents(repo, {path: old[path] for path in live[:limit]})
    moved = _moved(repo, before, [p for p in gone if p not in heirs], old, new)
    heirs |= moved
    after = _documents(repo, {path: new[path] for path in before if path in new})
    claims, retired, rewritten = list[Claim](), list[str](), list[str]()
    for path, document in before.items():
        if path not in new:
            if path in heirs:
                claims.append(Claim(path, document.claim, heirs[path]))
            else:
                retired.append(path)
        elif path in after and after[path].claim != document.claim:
            rewritten.append(path)
        else:  # also where it is no memory any more: then nobody finds it
            claims.append(Claim(path, document.claim, path))
    fresh = [
        p for p in new if p not in old and original_path(p) is None and p not in moved.values()
    ]
    added = _documents(repo, {path: new[path] for path in sorted(fresh)[:limit]})
    return Difference(
        touched=frozenset(old.keys() | new.keys()),
        claims=tuple(claims),
        retired=tuple(retired),
        rewritten=tuple(rewritten),
        added=tuple(Claim(path, document.claim, path) for path, document in added.items()),
        heirs=heirs,
        left_out=max(0, len(live) - limit),
    )


def _blobs(repo: Repo, since: str, until: str) -> dict[str, str]:
    """Return the blob at *until* of each memory that differs from *since*, where it has one."""
    changes = repo.changes(since, until)
    if changes is None:
        raise InvalidFlag(f"{since!r} is no commit of this store")
    return {
        change.path: change.sha
        for change in changes
        if change.kind is not ChangeKind.REMOVED and path_fault(change.path) is None
    }


def _documents(repo: Repo, blobs: Mapping[str, str]) -> dict[str, Document]:
    """Return the memories among *blobs*; tasks are none, for no search by default finds them."""
    read = dict(repo.read_blobs(dict.fromkeys(blobs.values())))
    documents = ((path, parse(read[sha])) for path, sha in blobs.items())
    return {
        path: document
        for path, document in documents
        if document.is_valid and document.head.memory_type != MemoryType.TASK
    }


def _heirs(repo: Repo, gone: Iterable[str], new: Mapping[str, str]) -> dict[str, str]:
    """Return who took the place of each of *gone* by what heads say, where one did."""
    steps: dict[str, str] = {}
    by_link: dict[str, str] = {}
    read = dict(repo.read_blobs(dict.fromkeys(new.values())))
    for path, sha in sorted(new.items()):
        data = read[sha]
        origin = original_path(path)
        successor = path_of_href(read_meta(data, "memhtml-superseded-by") or "")
        if origin is not None and successor is not None:
            steps[origin] = steps[path] = successor
        for link in read_links(data) if origin is None else ():
            target = path_of_href(link.href)
            if target is not None and rel_for_token(link.rel) is Rel.SUPERSEDES:
                by_link[target] = by_link[original_path(target) or target] = path
    found = {}
    for path in gone:
        here = path
        for _ in range(_MOST_STEPS):
            following = steps.get(here) or by_link.get(here)
            if following is None or following == path:
                break
            here = following
        if here != path and original_path(here) is None:
            found[path] = here
    return found


def _moved(
    repo: Repo,
    before: Mapping[str, Document],
    gone: Iterable[str],
    old: Mapping[str, str],
    new: Mapping[str, str],
) -> dict[str, str]:
    """Return where each of *gone* stands now, where the same content does."""
    lost = [path for path in gone if path in before]
    fresh = {p: sha for p, sha in new.items() if p not in old and original_path(p) is None}
    if not lost or not fresh:
        return {}
    by_hash = {document.content_hash: path for path, document in _documents(repo, fresh).items()}
    hashes = ((path, before[path].content_hash) for path in lost)
    return {path: by_hash[content] for path, content in hashes if content in by_hash}
