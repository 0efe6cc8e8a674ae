"""Stores for transfer tests, and a call of the importer that checks that its counts add up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memhtml.corpus import Corpus
from memhtml.transfer.importing import import_source
from memhtml.transfer.item import ImportFormat, ImportReport, Options, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["NOW", "bring", "files", "fill", "make_store"]

NOW = datetime(2027, 1, 1, 12, tzinfo=UTC)


def make_store(root: Path) -> Corpus:
    Corpus.init(root, clock=lambda: NOW)
    return Corpus.open(root, clock=lambda: NOW, durability="none")


def fill(folder: Path, texts: Mapping[str, str]) -> Path:
    """Write *texts* by their names into *folder*."""
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder


def files(corpus: Corpus) -> dict[str, bytes]:
    """Return every memory file, as the disk has it."""
    root = Path(corpus.root)
    return {path: (root / path).read_bytes() for path in corpus.indexed_files()}


def bring(
    corpus: Corpus,
    source: Path,
    *,
    format_: ImportFormat | None = None,
    options: Options | None = None,
    dry_run: bool = False,
) -> ImportReport:
    """Import *source*; a dry run of it foretells the very same."""
    before = corpus.repo.head()
    told = import_source(corpus, str(source), format_=format_, options=options, dry_run=True)
    assert told.commit is None
    assert corpus.repo.head() == before
    if dry_run:
        return told
    report = import_source(corpus, str(source), format_=format_, options=options)
    assert report.results == told.results
    assert report.links == told.links
    counted = {outcome: report.count(outcome) for outcome in Outcome}
    assert sum(counted.values()) == len(report.results)
    assert (report.commit is None) == (counted[Outcome.WRITTEN] == 0 and report.links.made == 0)
    links = report.links
    assert links.found == links.made + links.unresolved + links.failed
    return report
