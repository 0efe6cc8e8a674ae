"""Plan the pages a person browses: one a folder, one a tag, one an entity, and a sitemap.

The pages are a pure function of what the memories say, so a second publish of the same tree changes
nothing. They use the format's own vocabulary, carry text only, escaped, and leave presentation to
the one stylesheet. Links are relative, so they work from a web server and from a folder on disk.
Everything under ``browse/`` is ours, and so is every ``index.html``: no memory may bear the name.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from memhtml.format.escape import escape_attribute, escape_text
from memhtml.format.parse import parse
from memhtml.model.document import Head
from memhtml.model.errors import WriteConflict
from memhtml.model.paths import original_path
from memhtml.model.plural import plural
from memhtml.model.slugs import slugify, with_ordinal
from memhtml.store.plan import Planned, Put, Remove, subject

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from memhtml.store.plan import Step

__all__ = [
    "Entry",
    "Published",
    "is_generated",
    "is_our_work",
    "plan_publish",
    "render_site",
]

FOLDER = "browse"
STYLESHEET = f"{FOLDER}/style.css"
_MARK = "memhtml publish"
"""What every generated file bears, so that nobody else's is ever replaced."""

_POLICY = "default-src 'none'; style-src 'self'"
"""Nothing on a page runs or is fetched but the stylesheet, whatever a memory's text says."""

PAGE_ENTRIES = 500
"""Where a tag's or an entity's page is continued on a next one."""


class Entry(NamedTuple):
    """What a page says of one memory."""

    path: str
    title: str
    claim: str
    memory_type: str
    updated_at: str
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """Relation and path of each memory it points at."""


class Published(NamedTuple):
    """What publishing did."""

    pages: int
    """How many generated files there are now."""
    written: tuple[str, ...]
    removed: tuple[str, ...]


def is_generated(path: str) -> bool:
    """Whether a file at *path* is publishing's own.

    >>> is_generated("areas/inbox/index.html"), is_generated("areas/inbox/x.html")
    (True, False)
    """
    name = path.rpartition("/")[2]
    return path.startswith(f"{FOLDER}/") or name == "index.html" or path == "sitemap.xml"


def is_our_work(path: str, data: bytes) -> bool:
    """Whether the file at a generated *path* was generated, and may be replaced or removed.

    Pages bear a mark. A listing of the TypeScript tool has none: it is known by its title, which is
    its folder, and by a claim that counts.

    >>> is_our_work("index.html", b"<title>My own page</title>")
    False
    """
    if _MARK.encode() in data:
        return True
    if path == "sitemap.xml":
        return b"<urlset" in data and b"<loc>/" in data and b"<loc>h" not in data
    if not path.endswith("index.html"):
        return False
    folder = posixpath.dirname(path)
    document = parse(data)
    counts = any(char.isdigit() for char in document.claim)
    return document.title == (folder or "Memory") and counts and document.head == Head()


def plan_publish(
    entries: Iterable[Entry],
    existing: Mapping[str, str],
    foreign: Collection[str] = (),
    *,
    style: bytes,
    sha_of: Callable[[bytes], str],
) -> Planned[Published]:
    """Plan the pages for *entries*; no steps when all stand as they should.

    *existing* are the generated files there are, with their blob shas; *foreign* are files at such
    places that somebody else made. *style* is the stylesheet; *sha_of* gives bytes git's name.

    Raises:
        WriteConflict: A page would take the place of a foreign file.
    """
    site = render_site(entries, style=style)
    in_the_way = sorted(site.keys() & set(foreign))
    if in_the_way:
        raise WriteConflict(
            in_the_way[0],
            reason="a page would take its place, and memhtml did not make it",
            suggestions=(f"give {in_the_way[0]!r} another name", "memhtml publish --replace"),
        )
    steps: list[Step] = []
    for path, data in site.items():
        if existing.get(path) != sha_of(data):
            steps.append(Put(path, data, existing.get(path)))
    written = tuple(step.path for step in steps if isinstance(step, Put))
    removed = tuple(sorted(existing.keys() - site.keys()))
    steps += (Remove(path, existing[path]) for path in removed)
    counts = f"{plural(len(written), 'page')} written, {len(removed)} removed"
    return Planned(
        result=Published(len(site), written, removed),
        steps=tuple(steps),
        subject=subject("publish", counts),
    )


def render_site(entries: Iterable[Entry], *, style: bytes) -> dict[str, bytes]:
    """Return every page by path, in order of path; the same for any order of *entries*."""
    ordered = sorted(entries)
    if not ordered:
        return {}
    site = _Site(ordered)
    pages = dict(site.folders())
    pages.update(site.topics("tags", "Tag", site.by_tag))
    pages.update(site.topics("entities", "Entity", site.by_entity))
    pages["sitemap.xml"] = _sitemap(ordered)
    pages[STYLESHEET] = style
    return dict(sorted(pages.items()))


class _Site:
    """The entries of a store, by everything a page lists them under."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.by_path = {entry.path: entry for entry in entries}
        self.by_tag: dict[str, list[Entry]] = defaultdict(list)
        self.by_entity: dict[str, list[Entry]] = defaultdict(list)
        self._inside: dict[str, list[Entry]] = defaultdict(list)
        self._children: dict[str, set[str]] = defaultdict(set)
        self._counts: dict[str, int] = defaultdict(int)
        self._backlinks: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for entry in entries:
            folder = posixpath.dirname(entry.path)
            self._inside[folder].append(entry)
            while True:
                self._counts[folder] += 1
                if not folder:
                    break
                parent = posixpath.dirname(folder)
                self._children[parent].add(folder)
                folder = parent
            for tag in dict.fromkeys(entry.tags):
                self.by_tag[tag].append(entry)
            for entity in dict.fromkeys(entry.entities):
                self.by_entity[entity].append(entry)
            for rel, target in entry.links:
                self._backlinks[target].append((rel, entry.path))
        self._files = {
            "tags": _file_names(self.by_tag),
            "entities": _file_names(self.by_entity),
        }

    def folders(self) -> Iterator[tuple[str, bytes]]:
        """Yield the page of every folder that holds memories, and of those above it."""
        for folder, count in self._counts.items():
            path = posixpath.join(folder, "index.html")
            title = folder or "Memory"
            body = [_claim(f"{count} {_plural(count, 'memory', 'memories')} in {title}")]
            if folder:
                above = posixpath.join(posixpath.dirname(folder), "index.html")
                body.append(f"<p>{_link(path, above, 'Up')}</p>")
            elif self.by_tag or self.by_entity:
                listed = (
                    _link(path, f"{FOLDER}/{kind}/index.html", label)
                    for kind, label in (("tags", "Tags"), ("entities", "Entities"))
                    if self._files[kind]
                )
                body.append(f"<p>{' '.join(listed)}</p>")
            body += _list(
                f"{_link(path, f'{child}/index.html', posixpath.basename(child))} "
                f'<data value="{self._counts[child]}">{self._counts[child]}</data>'
                for child in sorted(self._children[folder])
            )
            body += _list(self._item(path, entry) for entry in self._inside[folder])
            yield path, _page(path, title, body)

    def topics(
        self, kind: str, label: str, groups: Mapping[str, Sequence[Entry]]
    ) -> Iterator[tuple[str, bytes]]:
        """Yield a page, or several, for each name in *groups*, and one that lists the names."""
        if not groups:
            return
        top = f"{FOLDER}/{kind}/index.html"
        names = sorted(groups)
        body = [_claim(f"{len(names)} {kind}")]
        body.append(f"<p>{_link(top, 'index.html', 'Memory')}</p>")
        body += _list(
            f"{_link(top, self._first(kind, name), name)} "
            f'<data value="{len(groups[name])}">{len(groups[name])}</data>'
            for name in names
        )
        yield top, _page(top, kind.capitalize(), body)
        for name in names:
            yield from self._topic(kind, f"{label} {name}", name, groups[name])

    def _topic(
        self, kind: str, title: str, name: str, entries: Sequence[Entry]
    ) -> Iterator[tuple[str, bytes]]:
        stem = self._first(kind, name).removesuffix(".html")
        parts = [entries[at : at + PAGE_ENTRIES] for at in range(0, len(entries), PAGE_ENTRIES)]
        paths = [f"{stem}.html", *(f"{stem}.{n}.html" for n in range(2, len(parts) + 1))]
        count = f"{len(entries)} {_plural(len(entries), 'memory', 'memories')}"
        for number, (path, part) in enumerate(zip(paths, parts, strict=True)):
            body = [_claim(f"{title}: {count}")]
            around = [_link(path, f"{FOLDER}/{kind}/index.html", f"All {kind}")]
            if number > 0:
                around.append(_link(path, paths[number - 1], "Before"))
            if number + 1 < len(paths):
                around.append(_link(path, paths[number + 1], "Next"))
            body.append(f"<p>{' '.join(around)}</p>")
            body += _list(self._item(path, entry) for entry in part)
            yield path, _page(path, title, body)

    def _first(self, kind: str, name: str) -> str:
        return f"{FOLDER}/{kind}/{self._files[kind][name]}.html"

    def _item(self, page: str, entry: Entry) -> str:
        """Return one memory as the inside of a list item: what it says, and what it touches."""
        day = escape_text(entry.updated_at[:10])
        parts = [
            _link(page, entry.path, entry.title or entry.path),
            f"<code>{escape_text(entry.memory_type)}</code>",
            f'<time datetime="{escape_attribute(entry.updated_at)}">{day}</time>',
        ]
        if original_path(entry.path) is not None:
            parts.append("<em>archived</em>")
        lines = [" ".join(parts)]
        if entry.claim:
            lines.append(f"<p>{escape_text(entry.claim)}</p>")
        facts = [
            *self._facts(page, "Links to", entry.links),
            *self._facts(page, "Linked from", self._backlinks.get(entry.path, ())),
        ]
        marks = [
            _link(page, self._first(kind, name), name)
            for kind, names in (("tags", entry.tags), ("entities", entry.entities))
            for name in dict.fromkeys(names)
        ]
        if marks:
            lines.append(f"<p>{' '.join(marks)}</p>")
        if facts:
            lines.append(f"<dl>{''.join(facts)}</dl>")
        return "\n".join(lines)

    def _facts(self, page: str, label: str, links: Sequence[tuple[str, str]]) -> Iterator[str]:
        if not links:
            return
        yield f"<dt>{label}</dt>"
        for rel, path in links:
            other = self.by_path.get(path)
            name = escape_text(rel.replace("_", " "))
            # A link may point at what is not there; the page says so instead of leading nowhere.
            target = (
                f"<code>{escape_text(path)}</code>"
                if other is None
                else _link(page, path, other.title or path)
            )
            yield f"<dd>{name} {target}</dd>"


def _file_names(groups: Mapping[str, Sequence[Entry]]) -> dict[str, str]:
    """Return a file name for each name, different in every file system; ``index`` is the list's."""
    taken = {"index"}
    names: dict[str, str] = {}
    for name in sorted(groups):
        slug, ordinal = slugify(name.replace(":", "-")), 1
        while (candidate := with_ordinal(slug, ordinal)) in taken:
            ordinal += 1
        taken.add(candidate)
        names[name] = candidate
    return names


def _page(path: str, title: str, body: Iterable[str]) -> bytes:
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f"<title>{escape_text(title)}</title>",
        f'<meta name="generator" content="{_MARK}">',
        '<meta name="viewport" content="width=device-width">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f'<link rel="stylesheet" href="{_href(path, STYLESHEET)}">',
        "</head>",
        "<body>",
        "<article>",
        *body,
        "</article>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(lines).encode("utf-8", "replace")


def _claim(text: str) -> str:
    return f"<p><mark>{escape_text(text)}</mark></p>"


def _list(items: Iterable[str]) -> list[str]:
    listed = [f"<li>{item}</li>" for item in items]
    return ["<ul>", *listed, "</ul>"] if listed else []


def _link(page: str, target: str, text: str) -> str:
    return f'<a href="{_href(page, target)}">{escape_text(text)}</a>'


def _href(page: str, target: str) -> str:
    relative = posixpath.relpath(target, posixpath.dirname(page) or ".")
    # "./" keeps a name with a colon from being read as a scheme.
    return escape_attribute(quote(f"./{relative}", safe="/", errors="replace"))


def _plural(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def _sitemap(entries: Sequence[Entry]) -> bytes:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<!-- {_MARK} -->",
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ]
    for entry in entries:
        loc = escape_text(quote(f"/{entry.path}", safe="/", errors="replace"))
        lines.append(
            f"<url><loc>{loc}</loc><lastmod>{escape_text(entry.updated_at)}</lastmod></url>"
        )
    return "\n".join((*lines, "</urlset>", "")).encode()
