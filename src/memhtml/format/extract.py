"""What a memory file says, gathered in one walk of its tree.

`scan` visits each node once and only notes facts; whether they are right is for the checks, which
read the same `Facts`. The texts of facets, citations and the like are slices of the one list of
pieces that the canonical text is made of, so nesting costs nothing but the copies handed out.
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
    from collections.abc import Callable, Mapping

    from memhtml.format.tree import Role, Tree

__all__ = ["DERIVED_TEXT_CAP", "Facts", "LinkTag", "Oddity", "scan"]

DERIVED_TEXT_CAP = 16 * 2**20
"""Most characters handed out as texts of facets, citations and the like, all together.

Elements nested in each other repeat their text once a level, so a small file could ask for
gigabytes. No memory that a person or an agent would write comes near.
"""

Node = Any
"""The parser's handle of an element, good for `Tree.locate` only."""


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
        "code_langs",
        "forbidden",
        "gist",
        "happened_at",
        "head",
        "is_text_dropped",
        "links",
        "lists",
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
        self.head = Head()
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
        self.texts: dict[str, list[_Text]] = {}
        self.lists: list[_List] = []
        self.code_langs: list[str] = []
        self.abbreviations: list[str] = []
        self.is_text_dropped = False
        """Whether `DERIVED_TEXT_CAP` was reached, so that texts are missing."""

    def meta(self, name: str) -> str | None:
        """Return the first value of a meta, "" when it has no content, or None without one."""
        stated = self.metas.get(name)
        return stated[0][0] if stated else None

    def facets(self) -> tuple[Facet, ...]:
        """Return the facets of the article: an outer list wholly before the lists inside it."""
        return tuple(facet for each in self.lists for facet in each.facets)

    def citations(self) -> tuple[Citation, ...]:
        """Return every ``cite`` and ``q`` of the article that has text."""
        return tuple(
            Citation(each.text, each.href) for each in self.texts.get("cite", ()) if each.text
        )

    def texts_of(self, tag: str) -> tuple[str, ...]:
        """Return the texts of the article's elements named *tag*, empty ones left out."""
        return tuple(each.text for each in self.texts.get(tag, ()) if each.text)


class _Text:
    """An element whose text is wanted; *level* is how many elements are open around it."""

    __slots__ = ("begin", "has_number", "href", "level", "number", "owner", "tag", "text")

    def __init__(self, tag: str, level: int, begin: int) -> None:
        self.tag = tag
        self.level = level
        self.begin = begin
        self.text = ""
        self.href: str | None = None
        self.owner: _List | None = None
        """Of a ``dt`` or ``dd``: its list."""
        self.has_number = False
        """Of a ``dd``: whether its first ``data value`` was seen, even if it is no number."""
        self.number: float | None = None


class _List:
    """A ``dl`` of the article: the name its next ``dd`` goes by, and the facets so far."""

    __slots__ = ("facets", "level", "name")

    def __init__(self, level: int) -> None:
        self.level = level
        self.name: str | None = None
        self.facets: list[Facet] = []


def scan(tree: Tree) -> Facts:
    """Return the facts of a file. Linear in its size; no input makes it fail."""
    scanner = _Scanner(tree)
    tree.visit(scanner, _ROLES, _PLAIN_ATTRIBUTES)
    scanner.facts.head = read_head(scanner.facts.metas)
    return scanner.facts


class _Scanner:
    """The state of the walk.

    A *level* is a number of open elements; while an element is open nothing else has its level,
    so comparing levels is how a handler knows that what closes is what it saw open. -1 is none.
    """

    __slots__ = (
        "article_depth",
        "asides",
        "begin",
        "budget",
        "depths",
        "details",
        "facts",
        "figures",
        "has_time",
        "in_head",
        "mark_begin",
        "mark_level",
        "open_lists",
        "open_texts",
        "open_values",
        "pieces",
        "pre_begin",
        "pre_level",
        "pres",
        "seen",
        "skip_begin",
        "skip_level",
        "skips",
        "tree",
    )

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.facts = Facts()
        self.pieces: list[str] = []
        self.depths: list[object] = []
        self.in_head = self.has_time = False
        self.article_depth = self.asides = self.details = self.figures = 0
        self.mark_level = self.pre_level = self.skip_level = -1
        self.begin = self.mark_begin = self.pre_begin = self.skip_begin = 0
        self.pres: list[tuple[int, int]] = []
        """Pieces of the article that are in a ``pre``."""
        self.skips: list[tuple[int, int]] = []
        """Pieces of the mark that are in a ``pre`` or ``code`` inside it."""
        self.open_texts: list[_Text] = []
        self.open_values: list[_Text] = []
        """The ``dd`` among them."""
        self.open_lists: list[_List] = []
        self.seen: set[tuple[str, str]] = set()
        self.budget = DERIVED_TEXT_CAP

    # What the vocabulary does not have.

    def inspect(self, tag: str, attrs: Mapping[str, str], node: Node) -> Role:
        """Note what is odd about an element. Its place in the vocabulary comes last."""
        element = tag.rpartition(" ")[2]
        self.forbid(element, attrs, node)
        for attr, value in attrs.items():
            if attr == "data-lang":
                if not LANG_TOKEN.fullmatch(value):
                    self.wonder("data-lang-invalid", value, node, attr, value=value)
            elif attr not in _PLAIN_ATTRIBUTES and _is_unsafe(attr, value):
                key = f"{element} {attr}"
                self.wonder("unsafe-url", key, node, attr, element=element, attr=attr)
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
        return tag not in EDGELESS, None, None

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

    def open_head(self, _tag: str, _attrs: Mapping[str, str], _node: Node) -> None:
        self.in_head = True

    def close_head(self) -> None:
        self.in_head = False

    def open_title(self, _tag: str, _attrs: Mapping[str, str], node: Node) -> None:
        if not self.facts.titles:
            self.facts.title = plain_text(self.tree.direct_text(node))
        self.facts.titles.append(node)

    def open_meta(self, _tag: str, attrs: Mapping[str, str], node: Node) -> None:
        if self.in_head and (name := attrs.get("name", "")).startswith(META_PREFIX):
            self.facts.metas.setdefault(name, []).append((attrs.get("content", ""), node))

    def open_link(self, _tag: str, attrs: Mapping[str, str], node: Node) -> None:
        if self.in_head and (rel := attrs.get("rel", "")).startswith(META_PREFIX):
            self.facts.links.append(LinkTag(rel, attrs.get("href"), node))

    # The article and its claim.

    def open_article(self, _tag: str, _attrs: Mapping[str, str], node: Node) -> None:
        if not self.facts.articles:
            self.begin = len(self.pieces)
        if self.article_depth or not self.facts.articles:
            self.article_depth += 1
        self.facts.articles.append(node)

    def close_article(self) -> None:
        if self.article_depth:
            self.article_depth -= 1
            if not self.article_depth:
                verbatim = [
                    index
                    for begin, end in self.pres
                    for index in range(begin, end)
                    if self.pieces[index] is not EDGE
                ]
                text = join_runs(self.pieces, verbatim, self.begin)
                self.facts.text = text
                self.facts.body_text = plain_text(text) if verbatim else wide_trim(text)

    def open_block(self, tag: str, _attrs: Mapping[str, str], node: Node) -> None:
        if self.facts.block is None and self.article_depth:
            self.facts.block = tag, node

    def open_mark(self, _tag: str, _attrs: Mapping[str, str], node: Node) -> None:
        facts = self.facts
        if not self.article_depth:
            return
        if not facts.marks:
            facts.mark_in_aside = self.asides > 0
            facts.mark_in_details = self.details > 0
            self.mark_level = len(self.depths)
            self.mark_begin = len(self.pieces)
        facts.marks.append(node)

    def close_mark(self) -> None:
        if len(self.depths) == self.mark_level:
            self.mark_level = -1
            kept = []
            begin = self.mark_begin
            for skip, resume in self.skips:
                kept += self.pieces[begin:skip]
                begin = resume
            kept += self.pieces[begin:]
            self.facts.gist = plain_text("".join(kept))

    def open_code(self, _tag: str, attrs: Mapping[str, str], _node: Node) -> None:
        if self.article_depth:
            if lang := wide_trim(attrs.get("data-lang", "")):
                self.facts.code_langs.append(lang.lower())
            self.skip()

    def open_pre(self, _tag: str, _attrs: Mapping[str, str], _node: Node) -> None:
        if self.article_depth:
            if self.pre_level < 0:
                self.pre_level = len(self.depths)
                self.pre_begin = len(self.pieces)
            self.skip()

    def skip(self) -> None:
        if self.skip_level < 0 <= self.mark_level:
            self.skip_level = len(self.depths)
            self.skip_begin = len(self.pieces)

    def close_code(self) -> None:
        if len(self.depths) == self.skip_level:
            self.skip_level = -1
            self.skips.append((self.skip_begin, len(self.pieces)))

    def close_pre(self) -> None:
        if len(self.depths) == self.pre_level:
            self.pre_level = -1
            self.pres.append((self.pre_begin, len(self.pieces)))
        self.close_code()

    def open_aside(self, tag: str, attrs: Mapping[str, str], node: Node) -> None:
        self.asides += 1
        self.open_text(tag, attrs, node)

    def close_aside(self) -> None:
        self.asides -= 1
        self.close_text()

    def open_details(self, _tag: str, _attrs: Mapping[str, str], _node: Node) -> None:
        self.details += 1

    def close_details(self) -> None:
        self.details -= 1

    def open_figure(self, _tag: str, _attrs: Mapping[str, str], _node: Node) -> None:
        self.figures += 1

    def close_figure(self) -> None:
        self.figures -= 1

    # What the index takes from the article.

    def open_time(self, _tag: str, attrs: Mapping[str, str], node: Node) -> None:
        value = attrs.get("datetime")
        is_good = value is not None and is_instant(value)
        if not is_good:
            self.facts.bad_times.append((value, node))
        if self.article_depth and not self.has_time:
            self.has_time = True
            self.facts.happened_at = value if is_good else None

    def open_abbr(self, _tag: str, attrs: Mapping[str, str], _node: Node) -> None:
        if self.article_depth and (title := wide_trim(attrs.get("title", ""))):
            self.facts.abbreviations.append(title)

    def open_text(self, tag: str, attrs: Mapping[str, str], _node: Node) -> None:
        if self.article_depth:
            text = _Text(tag, len(self.depths), len(self.pieces))
            if tag == "q":
                text.href = attrs.get("cite")
            key = "cite" if tag == "q" else tag
            self.facts.texts.setdefault(key, []).append(text)
            self.open_texts.append(text)

    def close_text(self) -> None:
        if not self.open_texts or self.open_texts[-1].level != len(self.depths):
            return
        text = self.open_texts.pop()
        if self.budget > 0:
            joined = "".join(self.pieces[text.begin :])
            self.budget -= len(joined)
            text.text = plain_text(joined)
        else:
            self.facts.is_text_dropped = True
        if (owner := text.owner) is None:
            return
        if text.tag == "dt":
            owner.name = text.text
        else:
            self.open_values.pop()
            if owner.name is not None:
                owner.facets.append(Facet(owner.name, text.text, text.number))

    def open_list(self, _tag: str, _attrs: Mapping[str, str], _node: Node) -> None:
        if self.article_depth:
            each = _List(len(self.depths))
            self.facts.lists.append(each)
            self.open_lists.append(each)

    def close_list(self) -> None:
        if self.open_lists and self.open_lists[-1].level == len(self.depths):
            self.open_lists.pop()

    def open_facet(self, tag: str, _attrs: Mapping[str, str], _node: Node) -> None:
        # Only a child of the list itself is a facet; a group wrapped in a div is none.
        level = len(self.depths)
        if self.open_lists and self.open_lists[-1].level == level - 1:
            text = _Text(tag, level, len(self.pieces))
            text.owner = self.open_lists[-1]
            self.open_texts.append(text)
            if tag == "dd":
                self.open_values.append(text)

    def open_data(self, _tag: str, attrs: Mapping[str, str], _node: Node) -> None:
        # The first value counts, in the `dd` and in each one around it. One that has its own is
        # inside others that have theirs, so the loop is short however deep the lists nest.
        if self.open_values and "value" in attrs:
            number = read_number(attrs["value"])
            for text in reversed(self.open_values):
                if text.has_number:
                    break
                text.has_number = True
                text.number = number


_Opener: TypeAlias = "Callable[[_Scanner, str, Mapping[str, str], Node], None]"
_Closer: TypeAlias = "Callable[[_Scanner], None]"
_HANDLERS: dict[str, tuple[_Opener | None, _Closer | None]] = {
    "abbr": (_Scanner.open_abbr, None),
    "article": (_Scanner.open_article, _Scanner.close_article),
    "aside": (_Scanner.open_aside, _Scanner.close_aside),
    "cite": (_Scanner.open_text, _Scanner.close_text),
    "code": (_Scanner.open_code, _Scanner.close_code),
    "data": (_Scanner.open_data, None),
    "dd": (_Scanner.open_facet, _Scanner.close_text),
    "details": (_Scanner.open_details, _Scanner.close_details),
    "dfn": (_Scanner.open_text, _Scanner.close_text),
    "dl": (_Scanner.open_list, _Scanner.close_list),
    "dt": (_Scanner.open_facet, _Scanner.close_text),
    "figcaption": (_Scanner.open_text, _Scanner.close_text),
    "figure": (_Scanner.open_figure, _Scanner.close_figure),
    "head": (_Scanner.open_head, _Scanner.close_head),
    "li": (_Scanner.open_block, None),
    "link": (_Scanner.open_link, None),
    "mark": (_Scanner.open_mark, _Scanner.close_mark),
    "meta": (_Scanner.open_meta, None),
    "p": (_Scanner.open_block, None),
    "pre": (_Scanner.open_pre, _Scanner.close_pre),
    "q": (_Scanner.open_text, _Scanner.close_text),
    "summary": (_Scanner.open_text, _Scanner.close_text),
    "time": (_Scanner.open_time, None),
    "title": (_Scanner.open_title, None),
}
_ROLES: dict[str, Role] = {
    tag: (tag not in EDGELESS, *_HANDLERS.get(tag, (None, None)))
    for tag in VOCABULARY - FIGURE_ONLY
}
"""The roles of the elements that are in place anywhere; all others are looked into."""

# Attributes that no rule looks at. Most elements have only these, so most are done in one test.
_PLAIN_ATTRIBUTES = frozenset(
    "alt charset colspan content datetime dir id lang name open reversed rowspan scope start title "
    "value".split()
)
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
