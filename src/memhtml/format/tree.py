"""Bytes into an HTML tree with places: the one module that knows our parser.

The parser works on text and counts code points after newlines are normalised; a file is bytes.
Whatever leaves this module is in the file's own terms: byte offsets that are exact under a byte
order mark, CRLF, characters of any width and bytes that are not UTF-8, beside lines and columns
for people. So what is found in the tree can be spliced in the bytes.

A `Tree` is read in two ways: `Tree.steps` streams all of it in document order, flat and fast, for
the checker; `Tree.head` and `Element` serve those who look at a few elements, such as the head
editors. No walk here recurses, so depth costs nothing but the parser's own cap of 512 open
elements.
"""

from __future__ import annotations

import codecs
import re
import sys
from bisect import bisect_left, bisect_right
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from memhtml.model.diagnostics import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import ModuleType

    from turbohtml import Element as _ParsedElement
    from turbohtml import Node, SourceLocation, SourceSpan

__all__ = [
    "EDGE",
    "Element",
    "Location",
    "Role",
    "Step",
    "Tree",
    "Visitor",
    "read_fragment",
    "read_tree",
]

_Opening: TypeAlias = "tuple[str, Mapping[str, str], _ParsedElement]"
Step: TypeAlias = "str | _Opening | None"
"""One step of a walk: text, the start of an element (name, attributes, handle), or its end.

A name outside the HTML namespace carries it, as in ``svg title``: no HTML name has a space, so a
comparison with an HTML name is also a comparison of namespaces.
"""


_escaped_re = re.compile("[\udc80-\udcff]+")

EDGE = "\n\n"
"""What `Tree.visit` puts between pieces of text where an element parts them. It collapes like any
whitespace, and is told from text by identity: text that is two line ends is another object."""

Role: TypeAlias = (
    "tuple[bool, Sequence[str], Callable[[Any, str, Any], object] | None,"
    " Callable[[Any, Any], None]]"
)
"""What an element is to a `Visitor`: whether its edges part text, the attributes it is expected to
have, and two methods of the visitor. The first, or None, is called at its start with name and
handle. What it returns is a token, with which the second is called at its end unless it is None.
"""


class Visitor(Protocol):
    """Whoever is told of elements by `Tree.visit`."""

    pieces: list[str]
    """Filled with the text of the tree and its edges, in document order."""
    open: list[Any]
    """One tuple for each element around the one that a call is about; the last of it is the token
    of that element."""

    def inspect(self, tag: str, attrs: Mapping[str, str], node: Any) -> Role:  # noqa: ANN401
        """Look at an element that is not as expected, and return its role."""


def read_tree(data: bytes) -> Tree:
    """Return the tree of a whole file. Any bytes have one; what is not UTF-8 is read as U+FFFD."""
    return Tree(data)


def read_fragment(markup: str) -> Iterator[Step]:
    """Return the steps of *markup* read as the inside of an ``article``, without that element.

    *markup* must be encodable: no file can hold a lone surrogate.
    """
    return _steps(_parser.parse_fragment(markup, "article", scripting=True))


class Tree:
    """A parsed file."""

    __slots__ = (
        "_body",
        "_bom",
        "_document",
        "_may_repeat_head",
        "_ruler",
        "_spelled",
        "data",
        "text",
    )

    def __init__(self, data: bytes) -> None:
        self.data = data
        """The file as it is."""
        self._bom = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        self._body = data[self._bom :]
        self.text = self._body.decode("utf-8", "replace")
        """The file decoded, without its byte order mark; its newlines are as they are."""
        self._may_repeat_head = _may_repeat_head(data)
        self._document = _parser.parse(
            _without_stray_heads(self.text) if self._may_repeat_head else self.text,
            source_locations=True,
            scripting=True,
            # A declarative shadow root would take its content out of every walk and every check.
            allow_declarative_shadow_roots=False,
        )
        self._ruler: _Ruler | None = None
        self._spelled: dict[tuple[int, int], SourceLocation] | None = None

    @property
    def start(self) -> Span:
        """The zero-width place where the text begins, after a byte order mark."""
        return Span(self._bom, self._bom, 1, 1, 1, 1)

    @property
    def head(self) -> Element | None:
        """The ``head`` of the tree, which is there even when the file does not spell it out."""
        return self._child_of_root("head")

    @property
    def body(self) -> Element | None:
        """The ``body`` of the tree; None in a frameset page."""
        return self._child_of_root("body")

    @property
    def head_end_tag(self) -> Span | None:
        """The ``</head>`` that closes the head, or None when the file has none."""
        return self._end_tag_of(self.head, "head")

    @property
    def body_end_tag(self) -> Span | None:
        """The ``</body>`` that closes the body, or None when the file has none."""
        return self._end_tag_of(self.body, "body")

    def visit(  # noqa: C901, PLR0912 - it runs once a node of every memory; a call would double it
        self, visitor: Visitor, roles: Mapping[str, Role]
    ) -> None:
        """Walk the whole tree, as `steps` does, and call *visitor* about what it wants to know.

        An element is as expected when it is one of *roles* and has no other attributes than its
        role says; the visitor inspects every other. What is in the head is left to whoever is
        told of the head: see `elements_in`.
        """
        element, text, edge = _parser.Element, _parser.Text, EDGE
        inspect = visitor.inspect
        role_of: Callable[[str], Role | None] = roles.get
        append = visitor.pieces.append
        stack = visitor.open  # of (siblings still to come, has edges, closer, token)
        left = len(self._document) + 1  # one more than there is, so that the walk ends at the end
        nodes: Iterator[Any] = self._document.descendants
        for node in nodes:
            left -= 1
            kind = type(node)
            if kind is text:
                append(node.data)
            elif kind is element:
                tag = node.tag
                role = role_of(tag)
                if role is None:
                    tag = _qualified(node)
                    if " " in tag:
                        # Below it a name may mean something else, so nothing is as expected.
                        role_of = _no_role
                    role = inspect(tag, _attributes(node), node)
                elif others := len(node.attrs):
                    # To count attributes and ask for a few is far cheaper than to list them.
                    for name in role[1]:
                        if node.attr(name) is not None:
                            others -= 1
                            if not others:
                                break
                    else:
                        role = inspect(tag, _attributes(node), node)
                has_edges, _, opened, closed = role
                token = None if opened is None else opened(visitor, tag, node)
                if has_edges:
                    append(edge)
                if children := len(node):
                    if tag not in _APART:
                        stack.append((left, has_edges, closed, token))
                        left = children
                        continue
                    _pass_over(nodes, children)
                if token is not None:
                    closed(visitor, token)
            while not left:
                left, has_edges, closed, token = stack.pop()
                if has_edges:
                    append(edge)
                if token is not None:
                    closed(visitor, token)

    def steps(self) -> Iterator[Step]:
        """Walk the whole tree. The content of a ``template`` is not part of it."""
        return _steps(self._document)

    @property
    def head_node(self) -> _ParsedElement | None:
        """The handle of the head, for `elements_in`."""
        root = self._document.root
        nodes: Iterator[Any] = iter(root or ())
        return next((node for node in nodes if _is_head(node)), None)

    def elements_in(self, head: _ParsedElement) -> list[tuple[str, int, _ParsedElement]]:
        """Return the elements in a head: their names, numbers of attributes, and handles.

        No HTML parser nests anything in them, or takes them for other than HTML.
        """
        kind = _parser.Element
        nodes: Iterator[Any] = iter(head)
        return [(node.tag, len(node.attrs), node) for node in nodes if node.__class__ is kind]

    def attributes(self, node: _ParsedElement) -> dict[str, str]:
        """Return the decoded values of all attributes by name, in source order."""
        return _attributes(node)

    def template_elements(self, node: _ParsedElement) -> Iterator[_Opening]:
        """Yield the elements inside a ``template``, and inside the templates it holds."""
        kind = _parser.Element
        nodes: Iterator[Any] = node.descendants
        for inner in nodes:
            if inner.__class__ is kind:
                yield _qualified(inner), _attributes(inner), inner

    def is_inside(self, node: _ParsedElement, outer: _ParsedElement) -> bool:
        """Whether the element *node* stands somewhere below *outer*."""
        return any(ancestor is outer for ancestor in node.ancestors)

    def locate(self, node: _ParsedElement) -> Location | None:
        """Return where the element of a step stands in the file.

        A copy that error recovery made stands where its original does. None for an element that
        the file implies without spelling it out.
        """
        source = node.source_location
        if source is None and (position := node.position) is not None:
            source = self._originals().get(position)
        return None if source is None else Location(self, source)

    def _originals(self) -> Mapping[tuple[int, int], SourceLocation]:
        if self._spelled is None:
            self._spelled = {}
            for node in self._document.iter_elements():
                source = node.source_location
                if source is not None:
                    self._spelled[node.position] = source
        return self._spelled

    def direct_text(self, node: _ParsedElement) -> str:
        """Return the text that stands in an element itself, not in elements inside it."""
        children: tuple[Any, ...] = tuple(node.children)
        return "".join(child.data for child in children if child.__class__ is _parser.Text)

    def find_undecodable(self) -> tuple[int, Span] | None:
        """Return how many stretches of the file are not UTF-8, and where the first one is."""
        if "\ufffd" not in self.text:
            return None
        try:
            self._body.decode()
        except UnicodeDecodeError as error:
            return len(self._measure().damage), self._span_at(
                len(self._body[: error.start].decode()), self._bom + error.start, error.end
            )
        return None

    def find_processing_instructions(self) -> tuple[int, Span] | None:
        """Return how many processing instructions the tree has, and where the first one is."""
        # One byte is looked for at ten times the speed of two.
        if b"?" not in self.data or b"<?" not in self.data:
            return None
        kind = _parser.ProcessingInstruction
        count = sum(node.__class__ is kind for node in self._document.descendants)
        if not count:
            return None
        found = self._tokens(_parser.TokenType.PROCESSING_INSTRUCTION)
        return count, next(found, self.start)

    def find_conflicts(self) -> tuple[int, Span] | None:
        """Return how many conflicts of git's stand open in the file, and where the first begins.

        Markup in which such lines are text spells their first character ``&lt;``.
        """
        body = b"\n" + self._body
        first = body.find(_CONFLICT[0])
        count, at = 0, first
        while at >= 0:
            for mark in _CONFLICT[1:]:
                at = body.find(mark, at + 1) if at >= 0 else at
            if at < 0:
                break
            count, at = count + 1, body.find(_CONFLICT[0], at)
        if not count:
            return None
        # One byte was put before them all, and each mark begins with the line break before it.
        line = _with_lf(self._body[:first].decode("utf-8", "replace")).count("\n") + 1
        mark = self._body[first:].partition(b"\n")[0].rstrip(b"\r")
        start, column = self._bom + first, len(mark.decode("utf-8", "replace")) + 1
        return count, Span(start, start + len(mark), line, 1, line, column)

    def find_repeated_head(self) -> tuple[int, Span] | None:
        """Return how many ``<head>`` tags the file has when more than one, and where the next is.

        The tree cannot tell: parsers drop the second tag, or read what follows as body.
        """
        if not self._may_repeat_head:
            return None
        spans = list(self._tokens(_parser.TokenType.START_TAG, "head"))
        return (len(spans), spans[1]) if len(spans) > 1 else None

    def inner_source(self, node: _ParsedElement) -> str:
        """Return the text of the file between an element's tags, as written.

        Where the file does not close the element, up to the end tag of the nearest ancestor that
        it does close, or to its end. "" for an element that is not spelled out.
        """
        source = node.source_location
        if source is None:
            return ""
        start = source.start_tag.end_offset
        end: int | None = None
        place: SourceLocation | None = source
        outer: Node | None = node
        while outer is not None:
            if place is not None and place.end_tag is not None:
                end = place.end_tag.start_offset
                break
            outer = outer.parent
            place = None if outer is None else outer.source_location
        if "\r" in self.text:
            ruler = self._measure()
            start = ruler.text_offset(start)
            end = None if end is None else ruler.text_offset(end)
        return self.text[start:end]

    def span(self, source: SourceSpan) -> Span:
        """Return the parser's place *source* in the terms of the file."""
        start_line, start_col, start, end_line, end_col, end = source
        byte = self._measure().byte_offset
        return Span(byte(start), byte(end), start_line, start_col + 1, end_line, end_col + 1)

    def _measure(self) -> _Ruler:
        if self._ruler is None:
            self._ruler = _Ruler(self._body, self.text, self._bom)
        return self._ruler

    def _child_of_root(self, name: str) -> Element | None:
        root = self._document.root
        children = () if root is None else Element(self, root).children
        return next((child for child in children if child.tag == name), None)

    def _end_tag_of(self, element: Element | None, name: str) -> Span | None:
        if element is not None and (location := element.location) is not None:
            return location.end_tag
        # The parser gives no place to an element without a start tag, even when it is closed.
        if f"</{name}".encode() not in self.data.lower():
            return None
        span = next(self._tokens(_parser.TokenType.END_TAG, name), None)
        if span is None or name == "body":
            return span
        # A tag closes the head only if the head is open there: where a meta would land in it, and
        # not in a template, a body or nowhere.
        before = self._body[: span.start - self._bom].decode("utf-8", "replace")
        head = _parser.parse(before + "<meta probe>", scripting=True).find("head")
        probed = (node.attr("probe") for node in head.children if node.__class__ is _parser.Element)
        return None if all(value is None for value in probed) else span

    def _tokens(self, kind: object, name: str | None = None) -> Iterator[Span]:
        byte = self._measure().byte_offset
        for start, token in _find_tokens(_with_lf(self.text), kind, name):
            end = start + len(token.source)
            head, newline, tail = token.source.rpartition("\n")
            lines = head.count("\n") + 1 if newline else 0
            column = len(tail) if newline else token.col + len(token.source)
            yield Span(
                byte(start), byte(end), token.line, token.col + 1, token.line + lines, column + 1
            )

    def _span_at(self, text_offset: int, start: int, end: int) -> Span:
        before = _with_lf(self.text[:text_offset])
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        return Span(start, self._bom + end, line, column, line, column + 1)


class Element:
    """An element for those who look at a few: its name, its attributes, its place."""

    __slots__ = ("_node", "_tree", "tag")

    def __init__(self, tree: Tree, node: _ParsedElement) -> None:
        self._tree = tree
        self._node = node
        self.tag = _qualified(node)
        """The name, lower-case; outside the HTML namespace with it, as in ``svg title``."""

    @property
    def attrs(self) -> Mapping[str, str]:
        """Decoded values by name, in source order; "" where the source gives no value."""
        return _attributes(self._node)

    def get(self, name: str) -> str | None:
        """Return the decoded value of one attribute, as in `attrs`; None when it is not there."""
        value: str | None = self._node.attr(name)
        return value

    @property
    def children(self) -> tuple[Element, ...]:
        """The child elements, without text and comments."""
        kind = _parser.Element
        nodes: tuple[Any, ...] = tuple(self._node.children)
        return tuple(Element(self._tree, node) for node in nodes if node.__class__ is kind)

    @property
    def location(self) -> Location | None:
        """Where the element stands; None when the file implies it without spelling it out."""
        return self._tree.locate(self._node)


class Location:
    """Where an element that is spelled out stands in the file."""

    __slots__ = ("_source", "_tree")

    def __init__(self, tree: Tree, source: SourceLocation) -> None:
        self._tree = tree
        self._source = source

    @property
    def start_tag(self) -> Span:
        """The start tag, from ``<`` to ``>``."""
        return self._tree.span(self._source.start_tag)

    @property
    def end_tag(self) -> Span | None:
        """The end tag, or None when the file leaves it out."""
        source = self._source.end_tag
        return None if source is None else self._tree.span(source)

    def attribute(self, name: str) -> Span | None:
        """The whole ``name="value"`` of an attribute, or None when the tag has none of the name."""
        source = self._source.attrs.get(name.lower())
        return None if source is None else self._tree.span(source)


class _Ruler:
    """Offsets of the parser, in code points of normalised text, as offsets into the file.

    Each conversion costs a search in a short table and the encoding of at most one stretch of
    text, so a file with a hundred thousand findings is still measured in linear time.
    """

    __slots__ = ("_bom", "_crlf", "_is_ascii", "_marks", "_raw", "damage")

    _STRETCH = 1024  # code points between two marks

    def __init__(self, body: bytes, text: str, bom: int) -> None:
        self._bom = bom
        # The parser drops the CR of each CRLF; these are the LFs, counted without those CRs.
        self._crlf: Sequence[int] = ()
        if "\r\n" in text:
            self._crlf = [m.start() - n for n, m in enumerate(re.finditer("\r\n", text))]
        self.damage: Sequence[tuple[int, int]] = ()
        raw = text
        if "\ufffd" in text:
            # One U+FFFD may stand for up to three bytes. In `raw` each bad byte is one character.
            raw = body.decode("utf-8", "surrogateescape")
            self.damage = _measure_damage(raw)
        self._raw = raw
        self._is_ascii = raw.isascii()
        self._marks: Sequence[int] = ()
        """Byte offsets after each stretch of text; measured when first asked for."""

    def text_offset(self, offset: int) -> int:
        """Return the parser's *offset* as one into the text as it is."""
        return offset + bisect_left(self._crlf, offset) if self._crlf else offset

    def byte_offset(self, offset: int) -> int:
        """Return the parser's *offset* as one into the bytes of the file."""
        offset = self.text_offset(offset)
        if self._is_ascii:
            return self._bom + offset
        if not self._marks:
            step = self._STRETCH
            sizes = (
                len(self._raw[at : at + step].encode("utf-8", "surrogateescape"))
                for at in range(0, len(self._raw), step)
            )
            self._marks = list(accumulate(sizes, initial=self._bom))
        if self.damage:
            after = bisect_right(self.damage, offset, key=_damage_end)
            offset += self.damage[after - 1][1] if after else 0
        mark, rest = divmod(offset, self._STRETCH)
        begin = offset - rest
        return self._marks[mark] + len(self._raw[begin:offset].encode("utf-8", "surrogateescape"))


def _measure_damage(raw: str) -> list[tuple[int, int]]:
    """Where each stretch of undecodable bytes ends in the text, and how far *raw* is ahead there.

    *raw* has one surrogate for each such byte; the text has one U+FFFD for each maximal broken
    sequence, which is up to three bytes.
    """
    damage = []
    ahead = 0
    for match in _escaped_re.finditer(raw):
        broken = match.group().encode("utf-8", "surrogateescape")
        width = len(broken.decode("utf-8", "replace"))
        end = match.start() - ahead + width
        ahead += len(broken) - width
        damage.append((end, ahead))
    return damage


def _damage_end(entry: tuple[int, int]) -> int:
    return entry[0]


def _with_lf(text: str) -> str:
    """Return *text* as the parser counts it: each line end one LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _may_repeat_head(data: bytes) -> bool:
    data = data.lower()
    first = data.find(b"<head")
    return first >= 0 and (
        data.find(b"<head", first + 1) >= 0 or data.find(b"</head", 0, first) >= 0
    )


def _find_tokens(text: str, kind: object, name: str | None) -> Iterator[tuple[int, Any]]:
    """Yield each token of *kind*, or of any when None, and *name*, or any, with its offset."""
    line, line_start = 1, 0
    for token in _parser.tokenize(text, capture_source=True):
        if kind not in {None, token.type} or name not in {None, token.tag}:
            continue
        while line < token.line:
            line_start = text.index("\n", line_start) + 1
            line += 1
        yield line_start + token.col, token


def _without_stray_heads(text: str) -> str:
    """Return *text* with each head tag that opens nothing made a comment of the same length.

    Such a tag is to be ignored (HTML §13.2.6.4.6), but after ``</head>`` the parser takes it for
    the start of the body, and would miss every meta behind it. A comment is nothing anywhere.
    """
    text = _with_lf(text)
    pieces: list[str] = []
    at = 0
    has_head = False
    for start, token in _find_tokens(text, None, "head"):
        if has_head and token.type is _parser.TokenType.START_TAG:
            pieces += text[at:start], _as_comment(token.source)
            at = start + len(token.source)
        has_head = True
    return "".join(pieces) + text[at:]


def _as_comment(tag: str) -> str:
    if len(tag) == len("<head>"):
        return "<!--->"
    # Lines stay lines, so that places behind the tag stay what they are.
    inside = "".join(c if c == "\n" else "x" for c in tag[4:-3])
    return tag if "\n" in tag[-3:] else f"<!--{inside}-->"


def _steps(root: Node) -> Iterator[Step]:
    """Walk below *root*: the parser's own walk, with each element's end put in by counting.

    *left* is how many children of the innermost open element are still to come; the stack has the
    same of the elements around it. This costs two thirds of asking each element for its children.
    """
    element, text, html = _parser.Element, _parser.Text, _parser.Namespace.HTML
    stack: list[int] = []
    left = len(root)
    nodes: Iterator[Any] = root.descendants
    for node in nodes:
        left -= 1
        kind = node.__class__
        if kind is text:
            yield node.data
        elif kind is element:
            tag = node.tag if node.namespace is html else _qualified(node)
            yield tag, _attributes(node) if node.attrs else _NO_ATTRIBUTES, node
            if children := len(node):
                if tag != "template":
                    stack.append(left)
                    left = children
                    continue
                _pass_over(nodes, children)
            yield None
        while not left and stack:
            yield None
            left = stack.pop()


def _is_head(node: Any) -> bool:  # noqa: ANN401 - the parser's nodes have no common type with a tag
    return node.__class__ is _parser.Element and node.tag == "head"


# A template is a tree of its own, and a head is flat and half of the elements of most memories.
# The lines with which git parts two versions, each with the line break before it.
_CONFLICT = (b"\n<<<<<<< ", b"\n=======", b"\n>>>>>>> ")
_APART = frozenset({"template", "head"})


def _no_role(_tag: str) -> None:
    return None


def _pass_over(nodes: Iterator[Any], children: int) -> None:
    """Skip what hangs below an element, for which *nodes* does not stop."""
    while children:
        children = sum(map(len, islice(nodes, children)))


def _qualified(node: _ParsedElement) -> str:
    space = node.namespace
    if space is _parser.Namespace.HTML:
        return node.tag
    return f"{'svg' if space is _parser.Namespace.SVG else 'math'} {node.tag}"


def _attributes(node: _ParsedElement) -> dict[str, str]:
    # One copy of all: asking for them one by one is quadratic in their number.
    attrs: dict[str, Any] = node.attrs.copy()
    for name, value in attrs.items():
        if value.__class__ is list:
            # The parser splits a few attributes, such as class and rel, into words.
            attrs[name] = node.attr(name) or ""
    return attrs


def _load_parser() -> Any:  # noqa: ANN401 - a module, which no annotation can name
    """Return the compiled core of turbohtml, without the rest of its package where possible.

    Importing the package also imports its exporters, extractors and minifiers, 60 ms of CPU; its
    core and the record types of source locations take 5. Both are run here under their own full
    names, so a later ``import turbohtml`` finds them and shares their types. Where the package is
    not laid out as expected, it is imported as a whole.
    """
    if "turbohtml" in sys.modules:
        return import_module("turbohtml")
    names = ("turbohtml._html", "turbohtml._internal._locations")
    try:
        package = _find_package("turbohtml", None)
        core = _run_alone(names[0], package)
        _run_alone(names[1], _find_package("turbohtml._internal", package))
        probe = core.parse_fragment("<p a=b>", source_locations=True).children[0]
        if probe.source_location.attrs["a"].end_offset == 6:
            return core
    except Exception:  # noqa: BLE001, S110 - whatever is amiss, the public way below remains
        pass
    for name in names:
        sys.modules.pop(name, None)
    return import_module("turbohtml")


def _find_package(name: str, path: Sequence[str] | None) -> Sequence[str]:
    spec = PathFinder.find_spec(name, path)
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError(name=name)
    return list(spec.submodule_search_locations)


def _run_alone(name: str, path: Sequence[str]) -> ModuleType:
    """Import the module *name* from the folders *path* without importing its parent."""
    spec = PathFinder.find_spec(name, path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name=name)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_parser = _load_parser()

_NO_ATTRIBUTES: Mapping[str, str] = {}
