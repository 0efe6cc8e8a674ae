"""Our CommonMark parser: the library's, with what notes write beside it and nothing left unseen.

Three of its habits would lose text in silence, so they are changed here or told by whoever reads
the tokens: a link it thinks unsafe is made text, a footnote of one word is an unused address, and
what is nested too deep is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.model.errors import InvalidFlag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

__all__ = ["MAX_MARKDOWN_CHARS", "MAX_NESTING", "make_parser", "plain_words", "readable"]

MAX_MARKDOWN_CHARS = 2**19
"""A longer text is no memory. The parser takes 1 to 2 s for prose of that length, and up to 150 µs
a bracket, so a text of brackets alone takes 40 s."""

MAX_NESTING = 60
"""Where the parser stops looking inside; well below the 512 open elements an HTML parser holds."""

_MAX_WIKI_CHARS = 2000
"""Most characters of a wiki link or comment."""


def readable(markdown: str) -> str:
    """Return *markdown* without a byte order mark, if it is short enough to be read.

    Raises:
        InvalidFlag: it is longer than `MAX_MARKDOWN_CHARS`.
    """
    if len(markdown) > MAX_MARKDOWN_CHARS:
        raise InvalidFlag(
            f"the Markdown has {len(markdown):,} characters, and {MAX_MARKDOWN_CHARS:,} are read; "
            "split it: a memory is one fact"
        )
    return markdown.removeprefix("\ufeff")


def make_parser(*, wiki: bool = False) -> MarkdownIt:
    """Return a parser with tables; *wiki* adds ``[[links]]``, ``![[embeds]]``, ``%%comments%%``."""
    # 20 ms, and nobody else's business.
    from markdown_it import MarkdownIt  # noqa: PLC0415
    from markdown_it.rules_block.reference import reference  # noqa: PLC0415

    class _Open(MarkdownIt):
        def validateLink(self, url: str) -> bool:  # noqa: ARG002, N802 - theirs
            return True  # an address that we refuse is told; the parser would only leave it as text

    def definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        # "[^1]: word" would be read as the address of a link and vanish.
        at = state.bMarks[start] + state.tShift[start]
        return not state.src.startswith("[^", at) and reference(state, start, end, silent)

    options = {"store_labels": True, "maxNesting": MAX_NESTING}
    parser = _Open("commonmark", options).enable("table")
    parser.block.ruler.at("reference", definition)
    if wiki:
        parser.inline.ruler.before("link", "wiki_link", _wiki_link)
        parser.inline.ruler.before("link", "wiki_comment", _wiki_comment)
        parser.inline.add_terminator_char("%")
    return parser


def _wiki_link(state: StateInline, silent: bool) -> bool:
    start = state.pos
    is_embed = state.src.startswith("![[", start)
    if not is_embed and not state.src.startswith("[[", start):
        return False
    inner = start + 2 + is_embed
    # Not further, or a text full of brackets would be read over and over.
    end = state.src.find("]]", inner, min(state.posMax, inner + _MAX_WIKI_CHARS))
    content = state.src[inner:end]
    if end < 0 or not content.strip() or "\n" in content or "[" in content:
        return False
    if not silent:
        token = state.push("wiki_embed" if is_embed else "wiki_link", "", 0)
        token.content = content
    state.pos = end + 2
    return True


def _wiki_comment(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("%%", state.pos):
        return False
    limit = min(state.posMax, state.pos + _MAX_WIKI_CHARS)
    end = state.src.find("%%", state.pos + 2, limit)
    if end < 0:
        return False
    if not silent:
        state.push("wiki_comment", "", 0).content = state.src[state.pos + 2 : end]
    state.pos = end + 2
    return True


def plain_words(tokens: Sequence[Token]) -> str:
    """Return the words of *tokens*, with nothing around them."""
    said = []
    for token in tokens:
        if token.type in {"softbreak", "hardbreak"}:
            said.append(" ")
        elif token.type == "image":
            said.append(plain_words(token.children or ()))
        elif token.type in {"wiki_link", "wiki_embed"}:
            said.append(token.content.rpartition("|")[2].strip())
        elif token.type not in {"html_inline", "wiki_comment"}:
            said.append(token.content)
    return "".join(said)
