"""Texts under keys: what frameworks that know nothing of memories keep in a store.

Each text is a memory of its own, so every other door finds and reads it: a claim that says what it
is about, then the text itself, to the letter, as a figure of code. A text that HTML would change
(it holds a carriage return, say) stands there as a JSON string instead. The key is an alias of the
memory, and the file's name is made of it, so one key always leads to one file. Whoever keeps a text
asks for it by its key, so it is pinned, and a facet keeps it apart from its like under other keys:
curation must neither put it away nor fold it.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.escape import escape_text, find_unwritable
from memhtml.format.render import render_extras, render_figure
from memhtml.format.tree import read_fragment
from memhtml.model.changes import Place
from memhtml.model.document import Facet
from memhtml.model.errors import InvalidMemory, PathNotFound
from memhtml.model.memory import Draft
from memhtml.model.slugs import UNTITLED, slugify
from memhtml.model.vocabulary import MemoryType
from memhtml.search.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memhtml.corpus import Corpus
    from memhtml.model.memory import Memory

__all__ = ["Entry", "Key", "Note", "Shelf"]

_TEXT, _QUOTED = "text", "json-string"
_PINNED = "pinned"
_SHOWN_CHARS = 280
_NAME_CHARS = 40
_HASH_DIGITS = 16
_PAGE = 500

_lead_re = re.compile(r"^[\s#>*+-]+")


class Key(NamedTuple):
    """Where a text is kept: a folder's name and a name in it, both any text at all."""

    folder: tuple[str, ...]
    name: str

    @property
    def alias(self) -> str:
        """The key as one text, from which it can be told again."""
        return json.dumps([*self.folder, self.name])


class Note(NamedTuple):
    """A text to keep."""

    key: Key
    text: str
    title: str
    claim: str = ""
    """What it says in a sentence; its first line with words if not given."""
    tags: tuple[str, ...] = ()


class Entry(NamedTuple):
    """A text as it is kept."""

    key: Key
    text: str
    path: str
    sha: str
    created_at: str
    updated_at: str


class Shelf:
    """The texts below one folder of a store."""

    def __init__(self, corpus: Corpus, folder: str) -> None:
        self._corpus = corpus
        self.folder = folder.strip("/")

    def path_of(self, key: Key) -> str:
        """Return where the text of *key* stands: names people recognise, told apart by a hash."""
        folder = _named(" ".join(key.folder), json.dumps(key.folder))
        return f"{self.folder}/{folder}/{_named(key.name, key.alias)}.html"

    def find(self, key: Key) -> Entry | None:
        """Return what stands under *key*; None when nothing does."""
        found = self.read(self.path_of(key))
        return found if found is not None and found.key == key else None

    def read(self, path: str) -> Entry | None:
        """Return the text at *path*; None when that is none, or nothing is there any more.

        Raises:
            InvalidMemory: Somebody edited the file, and there is no text left in it.
        """
        try:
            return _entry_of(self._corpus.read(path))
        except PathNotFound:
            return None

    def entries(self, scope: Scope | None = None) -> Iterator[Entry]:
        """Yield every text in *scope*, in order of path."""
        scope = (scope or Scope())._replace(path_prefix=self.folder)
        cursor = None
        while True:
            page = self._corpus.list_memories(scope, limit=_PAGE, cursor=cursor)
            for listed in page.files:
                found = self.read(listed.path)
                if found is not None:
                    yield found
            cursor = page.next_cursor
            if cursor is None:
                return

    def change(
        self,
        notes: Iterable[Note] = (),
        *,
        drop: Iterable[Entry] = (),
        reason: str = "",
        expect: Mapping[Key, str] | None = None,
        moved: Mapping[Key, Entry] | None = None,
    ) -> None:
        """Keep *notes*, each in the place of what its key had, and archive *drop*; one commit.

        *expect* are the versions that were read; *moved* says which entry a note has been.

        Raises:
            InvalidMemory: A text is too long, or cannot be kept for another reason.
            SecretFound: A text holds what looks like a credential.
            WriteConflict: Another version stands there than the one that was read.
        """
        expect, moved = expect or {}, moved or {}
        places = [
            Place(
                self._draft(note),
                expect.get(note.key),
                moved[note.key].path if note.key in moved else None,
            )
            for note in notes
        ]
        gone = [entry.path for entry in drop]
        if places or gone:
            self._corpus.put(places, archive=gone, reason=reason)

    def _draft(self, note: Note) -> Draft:
        title = _short(note.title) or UNTITLED
        claim = _short(note.claim) or _short(_first_words(note.text)) or title
        facets = render_extras(None, [Facet("key-id", _digest(note.key.alias))], ())
        return Draft(
            title=title,
            memory_type=MemoryType.SEMANTIC,
            path=self.path_of(note.key),
            article_html="\n".join(
                (f"<p><mark>{escape_text(claim)}</mark></p>", _figure(note.text), *facets)
            ),
            aliases=(note.key.alias,),
            tags=(_PINNED, *note.tags),
        )


def _entry_of(memory: Memory) -> Entry | None:
    document = memory.document
    key = next(filter(None, map(_key_of, document.head.aliases)), None)
    if key is None:
        return None
    lang, text = _first_code(document.article_html)
    if lang == _QUOTED:
        text = _unquoted(text)
    if text is None:
        why = f"{memory.path!r} does not hold its text any more; git has what it was"
        raise InvalidMemory((), reason=why)
    return Entry(
        key=key,
        text=text,
        path=memory.path,
        sha=memory.sha,
        created_at=document.head.created_at or "",
        updated_at=document.head.updated_at or "",
    )


def _key_of(alias: str) -> Key | None:
    try:
        parts = json.loads(alias)
    except ValueError:
        return None
    if not isinstance(parts, list) or not parts or not all(isinstance(p, str) for p in parts):
        return None
    return Key(tuple(parts[:-1]), parts[-1])


def _figure(text: str) -> str:
    """Return *text* as code, spelt so that exactly it is read again."""
    if find_unwritable(text) is None:
        figure = render_figure(text, _TEXT)
        if _first_code(figure) == (_TEXT, text):
            return figure
    return render_figure(json.dumps(text), _QUOTED)


def _unquoted(text: str | None) -> str | None:
    try:
        found = json.loads(text or "")
    except ValueError:
        return None
    return found if isinstance(found, str) else None


def _first_code(article_html: str) -> tuple[str | None, str | None]:
    """Return label and text of the first ``pre``; twice None where there is none."""
    lang: str | None = None
    pieces: list[str] = []
    depth = 0
    for step in read_fragment(article_html):
        if step is None:
            depth -= depth > 0
            if pieces and not depth:
                break
        elif isinstance(step, str):
            if depth:
                pieces.append(step)
        elif depth or step[0] == "pre":
            depth += 1
            lang = step[1].get("data-lang", lang)
            pieces.append("")
    return (lang, "".join(pieces)) if pieces else (None, None)


def _named(text: str, exact: str) -> str:
    return f"{slugify(text)[:_NAME_CHARS].strip('-')}-{_digest(exact)}"


def _digest(exact: str) -> str:
    return hashlib.sha256(exact.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]


def _first_words(text: str) -> str:
    """Return the first line that says something, headings of Markdown last."""
    lines = [line.strip() for line in text.split("\n") if any(map(str.isalnum, line))]
    said = [line for line in lines if not line.startswith("#")]
    return _lead_re.sub("", next(iter(said or lines), ""))


def _short(text: str) -> str:
    """Return *text* on one line, with what HTML cannot hold left out, short enough for a claim."""
    line = " ".join("".join(char if _is_shown(char) else " " for char in text).split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS - 1]}…"


def _is_shown(char: str) -> bool:
    # Some scripts and emoji need joiners, which count as unprintable.
    return char.isprintable() or unicodedata.category(char) == "Cf"
