"""What a memory file says, gathered in one walk of its tree.

`scan` visits each node once and only notes facts; whether they are right is for the checks, which
read the same `Facts`. The texts of facets, citations and the like are slices of the one list of
pieces that the canonical text is made of, so the walk only notes where each begins and ends, and
nesting costs nothing but the copies handed out.

Most of what is read is read by calls out of `Tree.visit`, one for each element that means
something. They pass no attributes, because to list those of an element costs more than the rest of
its visit: whoever needs one asks for it by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memhtml.format.elements import FIGURE_ONLY, FORBIDDEN, UNSAFE, VOCABULARY
from memhtml.format.fences import LANG_TOKEN
from memhtml.format.metas import META_PREFIX, read_head, read_number
from memhtml.format.text import EDGELESS, join_runs, plain_text
from memhtml.format.tree import EDGE
from memhtml.model.document import Citation, Facet, Head
from memhtml.model.instants import is_instant
from memhtml.model.whitespace import wide_trim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memhtml.format.tree import Role, Tree

__all__ = ["DERIVED_TEXT_CAP", "Facts", "LinkTag", "Oddity", "scan"]

DERIVED_TEXT_CAP = 16 * 2**20
"""Most characters handed out as texts of facets, citations and the like, all together.

Elements nested in each other repeat their text once a level, so a small file could ask for
gigabytes. No memory that a person or an agent would write comes near.
"""

Node = Any
"""The parser's handle of an element: good for `Tree.locate` and, while the tree is walked, for
``attr``, which returns the decoded value of one attribute or None."""


class LinkTag(NamedTuple):
    """A ``link`` of the head whose rel starts with ``memhtml-``."""

    rel: str
    href: str | None
    node: Node


class Oddity(NamedTuple):
    """Something the vocabulary does not have: an element, or one of its attributes."""

    code: str
    node: Node
    attribute: str | None
    info: dict[str, str]


class Facts:
    """What `scan` found, in document order throughout.

    Of several articles, all that is said about *the article* is said about the first.
    """

    __slots__ = (
        "abbreviations",
        "articles",
        "bad_times",
        "block",
        "body_text",
        "citations",
        "code_langs",
        "facets",
        "forbidden",
        "gist",
        "happened_at",
        "head",
        "is_text_dropped",
        "links",
        "mark_in_aside",
        "mark_in_details",
        "marks",
        "metas",
        "odd",
        "text",
        "texts",
        "title",
        "titles",
    )

    def __init__(self) -> None:
        self.titles: list[Node] = []
        self.title = ""
        """Text of the first title."""
        self.metas: dict[str, list[tuple[str, Node]]] = {}
        """The values of each meta of the head whose name starts with ``memhtml-``, "" where the
        element has none, with their elements; the names in the order they first appear."""
        self.head: Head
        """What can be used of them."""
        self.links: list[LinkTag] = []
        self.articles: list[Node] = []
        self.marks: list[Node] = []
        """The ``mark`` elements of the article."""
        self.mark_in_aside = False
        self.mark_in_details = False
        self.block: tuple[str, Node] | None = None
        """The article's first ``p`` or ``li``, with its name."""
        self.bad_times: list[tuple[str | None, Node]] = []
        """Each ``time`` anywhere whose datetime is absent or no instant, with that value."""
        self.happened_at: str | None = None
        """What the first ``time`` of the article says, if it is an instant."""
        self.forbidden: list[Oddity] = []
        """What no memory may hold, as often as it does."""
        self.odd: list[Oddity] = []
        """What it had better not hold; each kind of thing once."""
        self.text = ""
        """Canonical text of the article."""
        self.body_text = ""
        """The same as one line."""
        self.gist = ""
        """Text of the first mark, less any ``pre`` and ``code``."""
        self.facets: Sequence[Facet] = ()
        """An outer list wholly before the lists inside it."""
        self.citations: list[Citation] = []
        """Every ``cite`` and ``q`` of the article that has text."""
        self.texts: dict[str, list[str]] = {}
        """Texts of the article's elements by their name, empty ones left out."""
        self.code_langs: list[str] = []
        self.abbreviations: list[str] = []
        self.is_text_dropped = False
        """Whether `DERIVED_TEXT_CAP` was reached, so that texts are missing."""

    def texts_of(self, tag: str) -> tuple[str, ...]:
        """Return the texts of the article's elements named *tag*."""
        return tuple(self.texts.get(tag, ()))


def scan(tree: Tree) -> Facts:
    """Return the facts of a file. Linear in its size; no input makes it fail."""
    scanner = _Scanner(tree)
    tree.visit(scanner, _ROLES)
    scanner.finish()
    return scanner.facts


class _Scanner:
    """The state of the walk.

    An opener returns what its closer needs to know: most often the number of pieces so far, where
    the text of the element begins. None is for an element that turned out not to matter.
    """

    __slots__ = (
        "article_depth",
        "asides",
        "begin",
        "details",
        "end",
        "facts",
        "figures",
        "has_time",
        "in_mark",
        "is_pre",
        "is_skipping",
        "lists",
        "mark",
        "numbers",
        "open",
        "open_values",
        "pieces",
        "pres",
        "rows",
        "seen",
        "skips",
        "stops",
        "tree",
    )

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.facts = Facts()
        self.pieces: list[str] = []
        self.open: list[Any] = []
        self.in_mark = self.is_pre = self.is_skipping = self.has_time = False
        self.article_depth = self.asides = self.details = self.figures = 0
        self.begin = self.end = 0
        """The pieces of the article."""
        self.mark = (0, 0)
        """The pieces of its first mark."""
        self.pres: list[tuple[int, int]] = []
        """Pieces of the article that are in a ``pre``."""
        self.skips: list[tuple[int, int]] = []
        """Pieces of the mark that are in a ``pre`` or ``code`` inside it."""
        self.rows: list[tuple[str, int, str | None]] = []
        """Each element whose text is wanted: its name, first piece, and the source of a ``q``."""
        self.stops: list[int] = []
        """Where the pieces of each row end."""
        self.lists: list[list[int]] = []
        """Each ``dl`` of the article: the rows of its ``dt`` and ``dd``."""
        self.open_values: list[int] = []
        """The rows of each ``dd`` that is open."""
        self.numbers: dict[int, float | None] = {}
        """The first ``data value`` of a ``dd``, by its row; None for one that is no number."""
        self.seen: set[tuple[str, str]] = set()

    def finish(self) -> None:
        """Read the texts, of which the walk has noted the places."""
        facts = self.facts
        facts.head = read_head(facts.metas)
        facts.gist = self.text_between(*self.mark, self.skips)
        pieces = self.pieces[self.begin : self.end]
        verbatim = [
            index
            for begin, end in self.pres
            for index in range(begin - self.begin, end - self.begin)
            if pieces[index] is not EDGE
        ]
        facts.text, facts.body_text = join_runs(pieces, verbatim)
        texts = self.read_rows()
        if self.lists:
            facts.facets = [facet for rows in self.lists for facet in self.read_list(rows, texts)]

    def read_rows(self) -> list[str]:
        """Return the text of each row, and note those that are not of a list."""
        facts, pieces = self.facts, self.pieces
        texts = []
        budget = DERIVED_TEXT_CAP
        for (tag, begin, href), end in zip(self.rows, self.stops, strict=True):
            text = ""
            if budget > 0:
                joined = "".join(pieces[begin:end])
                budget -= len(joined)
                text = plain_text(joined)
            else:
                facts.is_text_dropped = True
            texts.append(text)
            if not text or tag in {"dt", "dd"}:
                continue
            if tag in {"cite", "q"}:
                facts.citations.append(Citation(text, href))
            else:
                facts.texts.setdefault(tag, []).append(text)
        return texts

    def read_list(self, rows: Iterable[int], texts: Sequence[str]) -> Iterable[Facet]:
        name = None
        for row in rows:
            if self.rows[row][0] == "dt":
                name = texts[row]
            elif name is not None:
                yield Facet(name, texts[row], self.numbers.get(row))

    def text_between(self, begin: int, end: int, skips: Iterable[tuple[int, int]]) -> str:
        kept = []
        for skip, resume in skips:
            kept += self.pieces[begin:skip]
            begin = resume
        kept += self.pieces[begin:end]
        return plain_text("".join(kept))

    def close(self, _token: object) -> None:
        """Do nothing, as is right at the end of most elements."""

    # What the vocabulary does not have.

    def inspect(self, tag: str, attrs: Mapping[str, str], node: Node) -> Role:
        """Note what is odd about an element. Its place in the vocabulary comes last."""
        element = tag.rpartition(" ")[2]
        self.forbid(element, attrs, node)
        for attr, value in attrs.items():
            if attr == "data-lang":
                self.judge_lang(value, node)
            else:
                self.judge_url(element, attr, value, node)
        if role := _ROLES.get(tag):
            return role
        if tag == "template":
            self.inspect_template(node)
        if tag not in FIGURE_ONLY:
            self.wonder("element-unknown", element, node, element=element)
            if element in UNSAFE:
                self.wonder("unsafe-element", element, node, element=element)
        elif not self.figures:
            self.wonder("element-figure-only", tag, node, element=element)
        return tag not in EDGELESS, (), None, _Scanner.close

    def forbid(self, element: str, attrs: Mapping[str, str], node: Node) -> None:
        if element in FORBIDDEN:
            info = {"element": element}
            self.facts.forbidden.append(Oddity("element-forbidden", node, None, info))
        for attr in attrs:
            if attr in {"class", "style"}:
                code = "attr-presentation"
            elif attr.startswith("on") and len(attr) > 2:
                code = "attr-handler"
            else:
                continue
            info = {"attr": attr, "element": element}
            self.facts.forbidden.append(Oddity(code, node, attr, info))

    def judge_lang(self, value: str, node: Node) -> None:
        if not LANG_TOKEN.fullmatch(value):
            self.wonder("data-lang-invalid", value, node, "data-lang", value=value)

    def judge_url(self, element: str, attr: str, value: str, node: Node) -> None:
        if _is_unsafe(attr, value):
            key = f"{element} {attr}"
            self.wonder("unsafe-url", key, node, attr, element=element, attr=attr)

    def wonder(
        self, code: str, key: str, node: Node, attr: str | None = None, /, **info: str
    ) -> None:
        if (code, key) not in self.seen:
            self.seen.add((code, key))
            self.facts.odd.append(Oddity(code, node, attr, info))

    def inspect_template(self, node: Node) -> None:
        # A template is not content, but a script could make it so: constraint 3 holds inside.
        for tag, attrs, inner in self.tree.template_elements(node):
            self.forbid(tag.rpartition(" ")[2], attrs, inner)

    # The head.

    def open_head(self, _tag: str, head: Node) -> None:
        for tag, others, node in self.tree.elements_in(head):
            if tag == "meta":
                others -= self.read_meta(node)  # noqa: PLW2901 - it counts what is left
            elif tag == "link":
                others -= self.read_link(node)  # noqa: PLW2901
            elif tag == "title":
                self.open_title(tag, node)
            if others or tag not in _ROLES:
                self.inspect(tag, self.tree.attributes(node), node)

    def read_meta(self, node: Node) -> int:
        """Note a meta, and return how many of its attributes that accounts for."""
        name = node.attr("name")
        if name is None:
            return node.attr("charset") is not None
        value = node.attr("content")
        if name.startswith(META_PREFIX):
            self.facts.metas.setdefault(name, []).append((value or "", node))
        return 1 if value is None else 2

    def read_link(self, node: Node) -> int:
        """Note a link, and return how many of its attributes that accounts for."""
        rel, href = node.attr("rel"), node.attr("href")
        if href is not None:
            self.judge_url("link", "href", href, node)
        if rel is not None and rel.startswith(META_PREFIX):
            self.facts.links.append(LinkTag(rel, href, node))
        return (rel is not None) + (href is not None)

    def open_title(self, _tag: str, node: Node) -> None:
        if not self.facts.titles:
            self.facts.title = plain_text(self.tree.direct_text(node))
        self.facts.titles.append(node)

    # The article and its claim.

    def open_article(self, _tag: str, node: Node) -> bool | None:
        is_first = not self.facts.articles
        self.facts.articles.append(node)
        if is_first:
            self.begin = len(self.pieces)
        elif not self.article_depth:
            return None
        self.article_depth += 1
        return True

    def close_article(self, _token: bool) -> None:
        self.article_depth -= 1
        if not self.article_depth:
            self.end = len(self.pieces)

    def open_block(self, tag: str, node: Node) -> None:
        if self.facts.block is None and self.article_depth:
            self.facts.block = tag, node

    def open_mark(self, _tag: str, node: Node) -> int | None:
        facts = self.facts
        if not self.article_depth:
            return None
        facts.marks.append(node)
        if len(facts.marks) > 1:
            return None
        facts.mark_in_aside = self.asides > 0
        facts.mark_in_details = self.details > 0
        self.in_mark = True
        return len(self.pieces)

    def close_mark(self, begin: int) -> None:
        self.in_mark = False
        self.mark = begin, len(self.pieces)

    def open_code(self, _tag: str, node: Node) -> int | None:
        if (value := node.attr("data-lang")) is not None:
            self.judge_lang(value, node)
            if self.article_depth and (lang := wide_trim(value)):
                self.facts.code_langs.append(lang.lower())
        return self.skip()

    def skip(self) -> int | None:
        if not self.in_mark or self.is_skipping:
            return None
        self.is_skipping = True
        return len(self.pieces)

    def close_code(self, begin: int) -> None:
        self.is_skipping = False
        self.skips.append((begin, len(self.pieces)))

    def open_pre(self, _tag: str, _node: Node) -> tuple[int | None, int | None] | None:
        if not self.article_depth:
            return None
        begin = None if self.is_pre else len(self.pieces)
        self.is_pre = True
        return begin, self.skip()

    def close_pre(self, begins: tuple[int | None, int | None]) -> None:
        begin, skip_begin = begins
        if begin is not None:
            self.is_pre = False
            self.pres.append((begin, len(self.pieces)))
        if skip_begin is not None:
            self.close_code(skip_begin)

    def open_aside(self, tag: str, node: Node) -> int:
        self.asides += 1
        row = self.open_text(tag, node)
        return -1 if row is None else row

    def close_aside(self, row: int) -> None:
        self.asides -= 1
        if row >= 0:
            self.close_text(row)

    def open_details(self, _tag: str, _node: Node) -> bool:
        self.details += 1
        return True

    def close_details(self, _token: bool) -> None:
        self.details -= 1

    def open_figure(self, _tag: str, _node: Node) -> bool:
        self.figures += 1
        return True

    def close_figure(self, _token: bool) -> None:
        self.figures -= 1

    # What the index takes from the article.

    def open_time(self, _tag: str, node: Node) -> None:
        value = node.attr("datetime")
        is_good = value is not None and is_instant(value)
        if not is_good:
            self.facts.bad_times.append((value, node))
        if self.article_depth and not self.has_time:
            self.has_time = True
            self.facts.happened_at = value if is_good else None

    def open_abbr(self, _tag: str, node: Node) -> None:
        if self.article_depth and (title := wide_trim(node.attr("title") or "")):
            self.facts.abbreviations.append(title)

    def open_reference(self, tag: str, node: Node) -> None:
        if href := node.attr("href"):
            self.judge_url(tag, "href", href, node)

    def open_text(self, tag: str, _node: Node) -> int | None:
        return self.add_row(tag) if self.article_depth else None

    def open_quote(self, tag: str, node: Node) -> int | None:
        if (href := node.attr("cite")) is not None:
            self.judge_url(tag, "cite", href, node)
        return self.add_row(tag, href) if self.article_depth else None

    def add_row(self, tag: str, href: str | None = None) -> int:
        self.rows.append((tag, len(self.pieces), href))
        self.stops.append(-1)
        return len(self.stops) - 1

    def close_text(self, row: int) -> None:
        self.stops[row] = len(self.pieces)

    def open_list(self, _tag: str, _node: Node) -> list[int] | None:
        if not self.article_depth:
            return None
        self.lists.append([])
        return self.lists[-1]

    def open_facet(self, tag: str, _node: Node) -> int | None:
        # Only a child of the list itself is a facet; a group wrapped in a div is none. No token
        # but that of a list is a list.
        parent = self.open[-1][-1]
        if parent.__class__ is not list:
            return None
        row = self.add_row(tag)
        parent.append(row)
        if tag == "dd":
            self.open_values.append(row)
        return row

    def close_value(self, row: int) -> None:
        self.stops[row] = len(self.pieces)
        self.open_values.pop()

    def open_data(self, _tag: str, node: Node) -> None:
        # The first value counts, in the `dd` and in each one around it. One that has its own is
        # inside others that have theirs, so the loop is short however deep the lists nest.
        if self.open_values and (value := node.attr("value")) is not None:
            number = read_number(value)
            for row in reversed(self.open_values):
                if row in self.numbers:
                    break
                self.numbers[row] = number


_Opener: TypeAlias = "Callable[[_Scanner, str, Node], object]"
_Closer: TypeAlias = "Callable[[_Scanner, Any], None]"
_HANDLERS: dict[str, tuple[str, _Opener | None, _Closer]] = {
    "a": ("href", _Scanner.open_reference, _Scanner.close),
    "abbr": ("title", _Scanner.open_abbr, _Scanner.close),
    "article": ("", _Scanner.open_article, _Scanner.close_article),
    "aside": ("", _Scanner.open_aside, _Scanner.close_aside),
    "cite": ("", _Scanner.open_text, _Scanner.close_text),
    "code": ("data-lang", _Scanner.open_code, _Scanner.close_code),
    "data": ("value", _Scanner.open_data, _Scanner.close),
    "dd": ("", _Scanner.open_facet, _Scanner.close_value),
    "details": ("open", _Scanner.open_details, _Scanner.close_details),
    "dfn": ("", _Scanner.open_text, _Scanner.close_text),
    "dl": ("", _Scanner.open_list, _Scanner.close),
    "dt": ("", _Scanner.open_facet, _Scanner.close_text),
    "figcaption": ("", _Scanner.open_text, _Scanner.close_text),
    "figure": ("", _Scanner.open_figure, _Scanner.close_figure),
    "head": ("", _Scanner.open_head, _Scanner.close),
    "html": ("lang", None, _Scanner.close),
    "li": ("", _Scanner.open_block, _Scanner.close),
    "link": ("rel href", _Scanner.open_reference, _Scanner.close),
    "mark": ("", _Scanner.open_mark, _Scanner.close_mark),
    "p": ("", _Scanner.open_block, _Scanner.close),
    "pre": ("", _Scanner.open_pre, _Scanner.close_pre),
    "q": ("cite", _Scanner.open_quote, _Scanner.close_text),
    "summary": ("", _Scanner.open_text, _Scanner.close_text),
    "time": ("datetime", _Scanner.open_time, _Scanner.close),
    "title": ("", _Scanner.open_title, _Scanner.close),
}
"""What to expect of an element, and what to do with it. Each expected attribute is one that no rule
looks at or that the opener judges itself; any other is looked into."""


def _role(tag: str) -> Role:
    names, opened, closed = _HANDLERS.get(tag, ("", None, _Scanner.close))
    return tag not in EDGELESS, tuple(names.split()), opened, closed


_ROLES: dict[str, Role] = {tag: _role(tag) for tag in VOCABULARY - FIGURE_ONLY}
"""The roles of the elements that are in place anywhere."""

_URL_ATTRIBUTES = frozenset(
    "action background cite data formaction href longdesc manifest ping poster src "
    "xlink:href".split()
)

# A browser drops these from a URL before it reads the scheme.
_URL_NOISE = dict.fromkeys(map(ord, "\t\n\r"))
_URL_EDGE = "".join(map(chr, range(0x21)))


def _is_unsafe(attr: str, value: str) -> bool:
    """Whether an attribute holds a script, a document in a URL, or sends the reader elsewhere."""
    if attr == "http-equiv":
        return wide_trim(value).lower() == "refresh"
    if attr not in _URL_ATTRIBUTES or ":" not in value:
        return False
    url = value.translate(_URL_NOISE).lstrip(_URL_EDGE)[:32].lower()
    if url.startswith("data:"):
        # An SVG image is a document too, and may hold scripts.
        return not url.startswith("data:image/") or url.startswith("data:image/svg")
    return url.startswith(("javascript:", "vbscript:"))
