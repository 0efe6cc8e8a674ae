"""Publish a store: bring the pages a person browses in step with what is committed.

Pages describe HEAD and nothing else. A memory that was edited by hand and not committed yet is
shown as HEAD has it, so the pages are a function of the commit they stand in.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.parse import parse
from memhtml.model.edges import path_of_href, rel_for_token
from memhtml.store.listings import Entry, is_generated, is_our_work, plan_publish

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from memhtml.corpus import Corpus
    from memhtml.model.document import Document
    from memhtml.model.ports import Progress
    from memhtml.store.listings import Published
    from memhtml.store.plan import Planned, View

__all__ = ["Publication", "publish", "publish_again"]


class Publication(NamedTuple):
    """What a publish did."""

    pages: int
    written: tuple[str, ...]
    removed: tuple[str, ...]
    commit: str | None


def publish(
    corpus: Corpus, *, replace: bool = False, progress: Progress | None = None
) -> Publication:
    """Write the pages that are missing or stale, and remove those that list nothing any more.

    *replace* takes files at the places of pages for pages, whoever made them.

    Raises:
        WriteConflict: A page was edited by hand and not committed, or would take the place of a
            file that is nobody's page.
        Busy: Another process kept a lock for longer than we wait.
    """
    style = resources.files("memhtml").joinpath("data/browse.css").read_bytes()

    def plan(view: View, _now: datetime) -> Planned[Published]:
        existing: dict[str, str] = {}
        foreign: list[str] = []
        pages = [f.path for f in corpus.committed_files() if is_generated(f.path)]
        for number, path in enumerate(pages, 1):
            if progress is not None:
                progress(number, len(pages))
            file = view.find(path)
            if file is not None and (replace or is_our_work(path, file.data)):
                existing[path] = file.sha
            else:
                foreign.append(path)
        return plan_publish(_entries(corpus), existing, foreign, style=style, sha_of=corpus.sha_of)

    planned, commit = corpus.carry_out(plan)
    done = planned.result
    return Publication(done.pages, done.written, done.removed, commit)


def publish_again(corpus: Corpus) -> None:
    """Bring the pages in step with the memories where the store is published; else make none.

    Only a store that is published has a map of its pages. An ``index.html`` may be anybody's.

    Raises:
        WriteConflict: As `publish`.
        Busy: As `publish`.
    """
    if any(entry.path == "sitemap.xml" for entry in corpus.committed_files()):
        publish(corpus)


def _entries(corpus: Corpus) -> Iterator[Entry]:
    overlaid = corpus.overlaid_paths()
    for listed in corpus.listing():
        if listed.path not in overlaid:
            yield Entry(*listed)
    for path in sorted(overlaid):
        data = corpus.read_committed(path)
        document = None if data is None else parse(data)
        if document is not None and document.is_valid:
            yield _entry(path, document)


def _entry(path: str, document: Document) -> Entry:
    links = ((rel_for_token(link.rel), path_of_href(link.href)) for link in document.links)
    return Entry(
        path=path,
        title=document.title,
        claim=document.claim,
        memory_type=document.head.memory_type or "",
        updated_at=document.head.updated_at or "",
        tags=document.head.tags,
        entities=document.head.entities,
        links=tuple((rel.value, target) for rel, target in links if rel and target),
    )
