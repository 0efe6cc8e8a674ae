"""Whether the markup a caller gave stays inside the article it was placed in.

Markup that closes the article, opens something that swallows the closing tags, or writes on the
elements around it would still render to bytes, and often to a valid memory: only not the memory
that was asked for. The proof that it stays inside is in the tree: the article spans exactly the
placed bytes, every closing tag of the frame is read as one, and nothing was added around it, be it
text, an attribute or an element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.format.checks.codes import diagnostic
from memhtml.format.serialize import ARTICLE_CLOSE, ARTICLE_OPEN
from memhtml.format.tree import read_tree
from memhtml.model.whitespace import HTML_WHITESPACE

if TYPE_CHECKING:
    from memhtml.format.tree import Location, Tree
    from memhtml.model.diagnostics import Diagnostic, Span

__all__ = ["check_containment"]

_FRAME = frozenset({"html", "head", "body"})
_FRAME_ATTRIBUTES: dict[str, dict[str, str]] = {"html": {"lang": "en"}, "body": {}}


def check_containment(data: bytes) -> Diagnostic | None:
    """Return the violation of article markup that leaves its article in the serialized *data*."""
    tree = read_tree(data)
    article, trespass = _survey(tree)
    if article is None:
        return _escape(tree.start, "hides the article")
    close_at = len(data) - len(ARTICLE_CLOSE.encode()) + 1
    body_end = tree.body_end_tag
    if article.start_tag.start != data.index(ARTICLE_OPEN.encode()) + 1:
        return _escape(article.start_tag, "hides the article")
    if article.end_tag is None or body_end is None:
        return _escape(article.start_tag, "leaves something open that swallows the </article>")
    if article.end_tag.start != close_at:
        return _escape(article.end_tag, "closes the article")
    if body_end.start != close_at + len("</article>\n"):
        return _escape(body_end, "closes the body")
    return _escape(article.start_tag, trespass) if trespass else None


def _survey(tree: Tree) -> tuple[Location | None, str | None]:
    """Return where the first article stands, and what was written around it, if anything was."""
    article = None
    trespass = None
    open_tags: list[str] = []
    for step in tree.steps():
        if step is None:
            open_tags.pop()
        elif isinstance(step, str):
            is_around = "article" not in open_tags and "head" not in open_tags
            if is_around and step.strip(HTML_WHITESPACE):
                trespass = "puts text outside of the article"
        else:
            tag, attrs, node = step
            is_around = "article" not in open_tags and "head" not in open_tags
            open_tags.append(tag)
            if tag == "article" and article is None:
                article = tree.locate(node)
            elif tag == "noscript":
                # Text to who runs scripts, and markup to who runs none (HTML §4.12.2).
                trespass = "holds a <noscript>, which readers take for different things"
            elif is_around and tag not in _FRAME:
                # A formatting element that was left open is opened again by what follows the
                # article, if only by a line end (HTML §13.2.4.3).
                trespass = f"leaves something open beyond the article: <{tag}>"
            elif tag in _FRAME_ATTRIBUTES and dict(attrs) != _FRAME_ATTRIBUTES[tag]:
                trespass = f"sets attributes of the {tag} element"
    return article, trespass


def _escape(span: Span, fault: str) -> Diagnostic:
    return diagnostic("article-markup-escapes", span, fault=fault)
