"""A tree in memory that phases can be run on and that takes what they propose.

It reads files as the index does, so a population of it is the one a real store would have; what is
proposed has to expect what is there and leave valid memories, or applying it fails.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from memhtml.format.edit import SetMeta, apply_edits
from memhtml.format.parse import parse
from memhtml.format.render import render_memory
from memhtml.index.project import project
from memhtml.model.document import Link
from memhtml.model.edges import href_of
from memhtml.model.instants import stamp
from memhtml.model.memory import Draft
from memhtml.model.paths import bucket_of, original_path, path_key
from memhtml.model.vocabulary import MemoryType, Rel
from memhtml.sleep.likeness import Pair
from memhtml.sleep.phase import Context
from memhtml.sleep.population import Facet, Live, Population
from memhtml.sleep.settings import Settings
from memhtml.store.listings import is_generated
from memhtml.store.objects import object_sha
from memhtml.store.plan import File, outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memhtml.index.usage import Usage
    from memhtml.model.document import Document
    from memhtml.sleep.phase import Judge, Proposal, TraceSource

NOW = datetime(2026, 8, 2, 3, 0, tzinfo=UTC)


def days_ago(days: float, now: datetime = NOW) -> str:
    return stamp(now - timedelta(days=days))


class Alike:
    """The likeness that a test says: pairs of paths, each with its score."""

    basis = "dense"

    def __init__(self, scores: Mapping[tuple[str, str], float]) -> None:
        self._scores = {(min(pair), max(pair)): score for pair, score in scores.items()}

    def pairs(
        self, paths: Iterable[str] | None = None, *, floor: float, top: int, limit: int
    ) -> list[Pair]:
        assert top > 0
        among = None if paths is None else set(paths)
        found = [
            Pair(one, other, score, self.basis)
            for (one, other), score in self._scores.items()
            if score >= floor and (among is None or {one, other} <= among)
        ]
        return sorted(found, key=lambda pair: (-pair.score, pair.one, pair.other))[:limit]

    def nearest(self, path: str, among: Iterable[str], *, top: int) -> list[tuple[str, float]]:
        wanted = set(among) - {path}
        found = [
            (other if one == path else one, score)
            for (one, other), score in self._scores.items()
            if path in {one, other} and ({one, other} - {path}) <= wanted
        ]
        return sorted(found, key=lambda near: (-near[1], near[0]))[:top]


def clique(paths: Sequence[str], score: float = 0.9) -> dict[tuple[str, str], float]:
    return {(a, b): score for n, a in enumerate(paths) for b in paths[n + 1 :]}


class Tree:
    """Files by path; a `View`."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._lives: dict[str, Live] = {}
        self._names: dict[str, dict[str, str]] | None = None

    # Making

    def write(
        self,
        path: str,
        claim: str,
        *,
        at: str = days_ago(200),
        links: Iterable[tuple[Rel, str]] = (),
        metas: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> str:
        fields.setdefault("memory_type", MemoryType.SEMANTIC)
        fields.setdefault("title", claim[:80])
        draft = Draft(
            claim=claim, links=tuple(Link(rel.token, href_of(to)) for rel, to in links), **fields
        )
        data, _ = render_memory(draft, at=at)
        edits = [SetMeta(f"memhtml-{name}", value) for name, value in (metas or {}).items()]
        self.set(path, apply_edits(data, edits) if edits else data)
        return path

    def set(self, path: str, data: bytes | None) -> None:
        self._names = None
        known = self._lives.pop(path, None)
        if data is None:
            self.files.pop(path, None)
            return
        self.files[path] = data
        if bucket_of(path) and path.endswith(".html") and not is_generated(path):
            number = known.id if known else len(self._lives)
            document = parse(data)
            if document.is_valid:
                self._lives[path] = _live(number, path, document)

    def apply(self, *proposals: Proposal) -> None:
        """Carry out what a phase proposes, each proposal on top of the one before."""
        for proposal in proposals:
            for path, (expect, data) in outcomes(proposal.steps).items():
                there = self.find(path)
                assert expect == (there.sha if there else None), f"{path} is not as expected"
                if data is not None and bucket_of(path) and not is_generated(path):
                    document = parse(data)
                    assert document.is_valid, (path, document.violations)
                self.set(path, data)

    # Asking

    def meta(self, path: str, name: str) -> Any:
        return getattr(parse(self.files[path]).head, name)

    def population(self) -> Population:
        return Population(self._lives[path] for path in sorted(self._lives))

    def context(
        self,
        *,
        now: datetime = NOW,
        usage: Mapping[str, Usage] | None = None,
        alike: Mapping[tuple[str, str], float] | None = None,
        judge: Judge | None = None,
        deep: bool = False,
        traces: TraceSource | None = None,
        **settings: Any,
    ) -> Context:
        return Context(
            run_id="sleep/2026-08-02",
            now=now,
            population=self.population(),
            view=self,
            usage=usage or {},
            likeness=Alike(alike or {}),
            settings=Settings(**settings),
            judge=judge,
            deep=deep,
            traces=traces,
        )

    # A `View`

    def find(self, path: str) -> File | None:
        data = self.files.get(path)
        return None if data is None else File(object_sha("blob", data), data)

    def find_active(self, content_hash: str) -> str | None:
        found = (m for m in self.population().active if m.content_hash == content_hash)
        return next((m.path for m in found), None)

    def find_near(self, near_key: str) -> Sequence[str]:
        return [m.path for m in self.population().active if m.near_key == near_key][:3]

    def find_frame(self, frame_key: str) -> tuple[str, str] | None:
        found = (m for m in self.population().active if m.frame_key == frame_key)
        return next(((m.path, m.gist) for m in found), None)

    def names(self, directory: str) -> Mapping[str, str]:
        if self._names is None:
            self._names = {}
            for path in self.files:
                parts = path.split("/")
                for depth, part in enumerate(parts):
                    parent = "/".join(parts[:depth])
                    self._names.setdefault(parent, {})[path_key(part)] = part
        return self._names.get(directory, {})

    def linking(self, path: str) -> Sequence[str]:
        found = (m.path for m in self.population() if any(path == to for _, to in m.links))
        return sorted(p for p in found if original_path(p) is None)

    def origin(self, archived: str) -> str | None:
        return original_path(archived)


def _live(number: int, path: str, document: Document) -> Live:
    rows = project(path, "0" * 40, document)
    fields = rows.file._asdict()
    return Live(
        id=number,
        body=rows.body.text,
        tags=tuple(sorted(rows.tags)),
        entities=tuple(sorted(row.entity for row in rows.entities)),
        aliases=tuple(sorted(rows.aliases)),
        facets=tuple(sorted(Facet(*row) for row in rows.facets)),
        links=tuple(sorted((str(edge.rel), edge.dst_path) for edge in rows.edges)),
        **{name: fields[name] for name in Live._fields if name in fields},
    )
