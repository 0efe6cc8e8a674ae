"""Markdown into an article: what the vocabulary can say becomes markup, the rest is reported.

Markdown has more words than a memory: images, headings, raw HTML, rules. What has no place keeps
its text where it has any, and every such place is told in a `Note` with its line, so a caller can
show what changed. No markup of the source reaches the article: raw HTML is quoted or taken away,
and a link is made for addresses that only lead somewhere.

The claim is the first sentence of the first paragraph or list item. The result goes through the
same gate as any other article.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.format.commonmark import MAX_NESTING, make_parser, plain_words, readable
from memhtml.format.escape import escape_attribute, escape_text
from memhtml.format.fences import is_lang_token, split_lines
from memhtml.format.prose import sentence_end
from memhtml.format.render import render_figure
from memhtml.model.whitespace import collapse, is_blank, wide_trim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from markdown_it.token import Token

__all__ = ["Converted", "Note", "Reference", "from_markdown"]

_safe_url_re = re.compile(
    r"(?:https?://|mailto:)[^\s]+|(?![a-z][a-z0-9+.-]*:|//|\\)[^\s]+", re.IGNORECASE
)
_footnote_re = re.compile(r"\[\^[^\]\s]+\]")
_attribution_re = re.compile("(?:\N{EM DASH}|\N{EN DASH}|--)[ \t]*")
_tag_re = re.compile(r"(?<![\w/#&])#([^\W\d][\w/-]*)")


class Note(NamedTuple):
    """Something that has no place in a memory, and what became of it."""

    line: int
    """Line of the Markdown, from 1."""
    code: str
    """``heading``, ``image``, ``html``, ``link``, ``footnote``, ``rule``, ``break``, ``embed``,
    ``comment``, ``alignment``, ``cell``, ``label``, ``definition``, ``quote`` or ``nesting``."""
    message: str


class Reference(NamedTuple):
    """A wiki link: another note, by its name."""

    target: str
    line: int


class Converted(NamedTuple):
    """Markdown as the inside of an article."""

    article_html: str
    notes: tuple[Note, ...]
    title: str = ""
    """Text of the heading that the Markdown begins with, where the caller asked for it."""
    references: tuple[Reference, ...] = ()
    tags: tuple[str, ...] = ()
    """Words with a ``#`` before them; they stay in the text too."""


def from_markdown(
    markdown: str,
    *,
    claim: str = "",
    fallback_claim: str = "",
    take_title: bool = False,
    wiki: bool = False,
    detect: Callable[[str], str | None] | None = None,
) -> Converted:
    """Return *markdown* as an article whose claim leads.

    *claim* stands before it all; without one the first sentence is the claim, and
    *fallback_claim* where the text has none, such as a lone table. *take_title* takes a heading at
    the very start out of the article. *wiki* reads ``[[links]]``, ``![[embeds]]``, ``%%comments%%``
    and ``#tags`` as note-taking programs do. *detect* names the language of code without a label.

    >>> from_markdown("The gate opens at *six*. Bring a key.").article_html
    '<p><mark>The gate opens at <em>six</em>.</mark> Bring a key.</p>'

    Raises:
        InvalidFlag: *markdown* is longer than `MAX_MARKDOWN_CHARS`.
    """
    text = readable(markdown)
    env: dict[str, Any] = {}
    tokens = make_parser(wiki=wiki).parse(text, env)
    if any(token.level >= MAX_NESTING - 1 for token in _all(tokens)):
        return _verbatim(text, claim or fallback_claim)
    writer = _Writer(tokens, env, text, wants_claim=not claim, detect=detect, wiki=wiki)
    title = writer.take_title() if take_title else ""
    parts = list(writer.blocks())
    parts += writer.unused_definitions()
    lead = claim or (fallback_claim if writer.wants_claim else "")
    if lead:
        parts.insert(0, f"<p><mark>{escape_text(wide_trim(lead))}</mark></p>")
    return Converted(
        "\n".join(parts),
        tuple(sorted(writer.notes)),
        title,
        tuple(writer.references),
        tuple(dict.fromkeys(writer.tags)),
    )


def _verbatim(text: str, claim: str) -> Converted:
    note = Note(1, "nesting", f"nested deeper than {MAX_NESTING} levels; kept as it is, as code")
    lead = f"<p><mark>{escape_text(wide_trim(claim))}</mark></p>\n" if claim else ""
    return Converted(lead + render_figure(text.strip("\n"), None), (note,))


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


class _Writer:
    """Tokens into markup, block by block; what has no place goes to `notes`."""

    def __init__(
        self,
        tokens: Sequence[Token],
        env: dict[str, Any],
        source: str,
        *,
        wants_claim: bool,
        detect: Callable[[str], str | None] | None,
        wiki: bool,
    ) -> None:
        self.notes: list[Note] = []
        self.references: list[Reference] = []
        self.tags: list[str] = []
        self.wants_claim = wants_claim
        """Whether the claim has not been met yet."""
        self._tokens = tokens
        self._definitions: dict[str, Any] = env.get("references", {})
        self._used: set[str] = set()
        self._lines = split_lines(source)
        self._detect = detect
        self._reads_tags = wiki
        self._at = 0
        self._line = 1
        self._may_claim = wants_claim

    def take_title(self) -> str:
        """Pass over a heading that stands first, and return its text."""
        if not self._tokens or self._tokens[0].type != "heading_open":
            return ""
        self._at = 3
        return collapse(plain_words(self._tokens[1].children or ()))

    def blocks(self) -> Iterator[str]:
        """Yield the markup of each block up to the one that closes what we are in."""
        while self._at < len(self._tokens) and self._tokens[self._at].nesting >= 0:
            token = self._next()
            if part := self._block(token):
                yield part

    def unused_definitions(self) -> Iterator[str]:
        """Yield the addresses that were defined and that no link uses."""
        for label, found in self._definitions.items():
            if label not in self._used:
                line = found["map"][0] + 1
                self._note("definition", "no link uses this address; it stands at the end", line)
                yield f"<p>{escape_text(label)}: {escape_text(found['href'])}</p>"

    def _next(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        if token.map:
            self._line = token.map[0] + 1
        return token

    def _block(self, token: Token) -> str:  # noqa: PLR0911 - a table of the parser's words
        match token.type:
            case "heading_open":
                return self._heading()
            case "paragraph_open":
                text = self._paragraph()
                return text if token.hidden or not text else f"<p>{text}</p>"
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token)
            case "blockquote_open":
                return self._quote()
            case "table_open":
                return self._table()
            case "fence":
                return self._fence(token)
            case "code_block":
                return self._code(token.content)
            case "html_block":
                return self._html(token.content)
            case "hr":
                self._note("rule", "a rule between parts has no place and is left out")
                return ""
            case _:
                raise AssertionError(token.type)

    def _heading(self) -> str:
        text = self._inline(self._next())
        self._at += 1
        if is_blank(text):
            return ""
        self._note("heading", "headings have no place; this one is kept as a line in bold")
        # The claim must be in the first paragraph, so a heading before it is none.
        is_first = self._may_claim and self.wants_claim
        return f"<strong>{text}</strong>" if is_first else f"<p><strong>{text}</strong></p>"

    def _paragraph(self) -> str:
        text = self._inline(self._next(), claims=True)
        self._at += 1
        return text

    def _list(self, opening: Token) -> str:
        start = opening.attrs.get("start")
        tag = opening.tag
        lines = [f'<{tag} start="{start}">' if start is not None else f"<{tag}>"]
        while self._tokens[self._at].type == "list_item_open":
            self._next()
            lines.append(f"<li>{chr(10).join(self.blocks())}</li>")
            self._at += 1
            self._may_claim = False  # the first item has the claim or none has
        self._at += 1
        return "\n".join([*lines, f"</{tag}>"])

    def _quote(self) -> str:
        """Return a quotation: each paragraph of it as quoted words, its source where it is told."""
        begin, depth = self._at, 1
        end = begin
        while depth:
            depth += self._tokens[end].nesting * (self._tokens[end].type.startswith("blockquote"))
            end += 1
        parts: list[str] = []
        href = self._quote_source(begin, end)
        opening = f'<q cite="{escape_attribute(href)}">' if href else "<q>"
        while self._at < end - 1:
            token = self._next()
            if token.type != "paragraph_open":
                if token.type != "blockquote_open":
                    self._note("quote", "only words can be quoted; this stands beside the quote")
                parts.append(self._block(token))
                continue
            inline = self._next()
            self._at += 1
            words, source = _split_attribution(inline.children or [])
            text = self._render(inline, words, claims=True)
            quoted = f"{opening}{text}</q>" if not is_blank(text) else ""
            cited = self._render(inline, source) if source else ""
            cite = f"<cite>{cited}</cite>" if cited else ""
            if quoted or cite:
                parts.append(f"<p>{' '.join(filter(None, (quoted, cite)))}</p>")
                self._may_claim = False
        self._at = end
        return "\n".join(filter(None, parts))

    def _quote_source(self, begin: int, end: int) -> str:
        for token in self._tokens[begin:end]:
            _, source = _split_attribution(token.children or [])
            for child in source:
                href = str(child.attrs.get("href", ""))
                if child.type == "link_open" and _safe_url_re.fullmatch(href):
                    return href
        return ""

    def _table(self) -> str:
        lines = ["<table>"]
        is_aligned = False
        width = row = 0
        while self._tokens[self._at].type != "table_close":
            token = self._next()
            if token.type in {"th_open", "td_open"}:
                is_aligned = is_aligned or "style" in token.attrs
                width += token.type == "th_open"
                lines.append(f"<{token.tag}>{self._inline(self._next())}</{token.tag}>")
                self._at += 1
                continue
            if token.type == "tbody_open":
                row = token.map[0] if token.map else 0
            elif token.type == "tr_close" and row:
                lines += self._extra_cells(row, width)
                row += 1
            lines.append(f"<{'/' if token.nesting < 0 else ''}{token.tag}>")
        self._at += 1
        if is_aligned:
            self._note("alignment", "columns are not aligned: that is for a stylesheet")
        return "\n".join([*lines, "</table>"])

    def _extra_cells(self, row: int, width: int) -> Iterator[str]:
        """Yield the cells of source line *row* that the head has no column for.

        The parser passes over them, as GFM says, and nothing in its tokens tells.
        """
        from markdown_it.rules_block.table import escapedSplit  # noqa: PLC0415 - loaded already

        cells = escapedSplit(re.sub(r"^[\s>]*\|?|\|?\s*$", "", self._lines[row]))
        for cell in cells[width:]:
            self._note("cell", "the head of the table has no column for this cell", row + 1)
            yield f"<td>{escape_text(wide_trim(cell))}</td>"

    def _fence(self, token: Token) -> str:
        label, _, rest = token.info.strip().partition(" ")
        lang = label if is_lang_token(label) else None
        ignored = rest.strip() if lang else token.info.strip()
        if ignored:
            self._note("label", f"only a language labels code; {ignored!r} is left out")
        return self._code(token.content, lang)

    def _code(self, content: str, lang: str | None = None) -> str:
        code = content.removesuffix("\n")
        return render_figure(code, lang or (self._detect(code) if self._detect else None))

    def _html(self, content: str) -> str:
        if re.fullmatch(r"\s*<!--.*-->\s*", content, re.DOTALL):
            self._note("comment", "a comment is kept as code, for all to see")
        else:
            self._note("html", "raw HTML is kept as code and never obeyed")
        return render_figure(content.strip("\n"), "html")

    def _inline(self, inline: Token, *, claims: bool = False) -> str:
        return self._render(inline, inline.children or [], claims=claims)

    def _render(self, inline: Token, children: Sequence[Token], *, claims: bool = False) -> str:
        first = (inline.map or [self._line - 1])[0] + 1
        pieces = _Pieces()
        self._line = first
        for token in children:
            self._inline_token(token, pieces)
        if claims and self.wants_claim and self._may_claim and not is_blank(pieces.html):
            # The first paragraph has the claim or none has.
            self._may_claim = False
            if (marked := pieces.marked()) is not None:
                self.wants_claim = False
                return marked
        return pieces.html

    def _inline_token(  # noqa: C901, PLR0912 - as `_block`
        self, token: Token, pieces: _Pieces
    ) -> None:
        match token.type:
            case "text" | "text_special" | "entity":
                self._text(token.content, pieces)
            case "softbreak":
                pieces.text("\n")
                self._line += 1
            case "hardbreak":
                pieces.text("\n")
                self._note("break", "a forced line break is only a space")
                self._line += 1
            case "code_inline":
                pieces.code(token.content)
            case "em_open" | "em_close" | "strong_open" | "strong_close":
                pieces.tag(f"<{'/' if token.nesting < 0 else ''}{token.tag}>", token.nesting)
            case "link_open":
                self._link_open(token, pieces)
            case "link_close":
                pieces.close_link()
            case "image":
                self._image(token, pieces)
            case "html_inline":
                kind = "comment" if token.content.startswith("<!--") else "html"
                self._note(kind, f"{token.content!r} is left out; the words around it stay")
                if token.content.startswith("<br"):
                    pieces.text("\n")
            case "wiki_link":
                self._wiki_link(token.content, pieces)
            case "wiki_embed":
                self._note("embed", f"what {token.content!r} embeds is not part of the memory")
                self._wiki_link(token.content, pieces)
            case "wiki_comment":
                self._note("comment", f"the comment {token.content.strip()!r} is left out")
            case _:
                raise AssertionError(token.type)

    def _text(self, text: str, pieces: _Pieces) -> None:
        for found in _footnote_re.findall(text):
            self._note("footnote", f"footnotes have no place; {found} stays as it is written")
        if self._reads_tags:
            self.tags += _tag_re.findall(text)
        pieces.text(text)

    def _link_open(self, token: Token, pieces: _Pieces) -> None:
        if label := token.meta.get("label"):
            self._used.add(label)
        href = str(token.attrs["href"])
        if not _safe_url_re.fullmatch(href):
            self._note("link", f"no link is made to {href!r}; its text stays")
            pieces.open_link("")
            return
        title = str(token.attrs.get("title", ""))
        more = f' title="{escape_attribute(title)}"' if title else ""
        pieces.open_link(f'<a href="{escape_attribute(href)}"{more}>')

    def _image(self, token: Token, pieces: _Pieces) -> None:
        if label := token.meta.get("label"):
            self._used.add(label)
        src = str(token.attrs.get("src", ""))
        text = plain_words(token.children or ()) or str(token.attrs.get("title", "")) or "image"
        is_linked = _safe_url_re.fullmatch(src) is not None and not pieces.in_link
        became = "a link to it" if is_linked else "its text"
        self._note("image", f"images have no place; {src!r} is kept as {became}")
        if is_linked:
            pieces.open_link(f'<a href="{escape_attribute(src)}">')
        pieces.text(text)
        if is_linked:
            pieces.close_link()

    def _wiki_link(self, content: str, pieces: _Pieces) -> None:
        target, _, alias = content.partition("|")
        name = target.partition("#")[0].strip()
        if name:
            self.references.append(Reference(name, self._line))
        pieces.text((alias or target).strip().lstrip("#"))

    def _note(self, code: str, message: str, line: int | None = None) -> None:
        self.notes.append(Note(line or self._line, code, message))


class _Pieces:
    """The markup of one run of text, with what it says kept beside, so that a sentence is found."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, str, int]] = []
        """Markup, the text it shows, and how deep we are after it."""
        self._depth = 0
        self._links: list[bool] = []

    @property
    def html(self) -> str:
        """All of it."""
        return "".join(part[0] for part in self._parts).strip("\n")

    @property
    def in_link(self) -> bool:
        """Whether a link is open; links do not nest."""
        return any(self._links)

    def text(self, text: str) -> None:
        """Add words."""
        self._parts.append((escape_text(text), text, self._depth))

    def code(self, code: str) -> None:
        """Add code, in which no sentence ends and no claim can rest."""
        self._parts.append((f"<code>{escape_text(code)}</code>", "\0" * len(code), self._depth))

    def tag(self, markup: str, nesting: int) -> None:
        """Add a tag that opens or closes."""
        self._depth += nesting
        self._parts.append((markup, "", self._depth))

    def open_link(self, markup: str) -> None:
        """Begin a link; with no markup it is only text."""
        self._links.append(bool(markup))
        if markup:
            self.tag(markup, 1)

    def close_link(self) -> None:
        """End the link that was begun last."""
        if self._links.pop():
            self.tag("</a>", -1)

    def marked(self) -> str | None:
        """Return the markup with its first sentence marked; None when it says nothing but code."""
        said = "".join(part[1] for part in self._parts)
        end = len(said) - len(said.lstrip("\n"))
        while not any(map(str.isalnum, said[:end])):
            found = sentence_end(said, end)
            if found is None:
                end = len(said)
                break
            end = found
        if is_blank(said[:end].replace("\0", "")):
            return None
        head, tail = self._split(end)
        return f"<mark>{head.strip(chr(10))}</mark>{tail}".rstrip("\n")

    def _split(self, end: int) -> tuple[str, str]:
        """Return the markup up to offset *end* of the text, or to where its element closes."""
        head: list[str] = []
        at = 0
        for number, (markup, text, depth) in enumerate(self._parts):
            if at + len(text) >= end and depth == 0:
                after = "".join(part[0] for part in self._parts[number + 1 :])
                # Only words can be cut; what ends inside an element ends with it.
                cut = end - at
                if text and not markup.startswith("<") and 0 < cut < len(text):
                    head.append(escape_text(text[:cut]))
                    return "".join(head), escape_text(text[cut:]) + after
                return "".join([*head, markup]), after
            head.append(markup)
            at += len(text)
        return "".join(head), ""


def _split_attribution(children: Sequence[Token]) -> tuple[Sequence[Token], list[Token]]:
    """Part a last line that begins with a dash from what is quoted; it names the source."""
    breaks = [n for n, child in enumerate(children) if child.type in {"softbreak", "hardbreak"}]
    first = breaks[-1] + 1 if breaks else 0
    rest = list(children[first:])
    if not rest or rest[0].type != "text" or not _attribution_re.match(rest[0].content):
        return children, []
    bare = rest[0].copy(content=_attribution_re.sub("", rest[0].content, count=1))
    if not bare.content and not rest[1:]:
        return children, []
    return children[: max(0, first - 1)], [bare, *rest[1:]]
