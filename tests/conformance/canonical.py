"""The canonical form of article markup, in which the vectors state an article.

Ours keeps an article as its author wrote it, so the two meet in this form: names in lower case,
attributes sorted, every end tag written, references reduced to the few that are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import turbohtml
from turbohtml import Comment, Element, ProcessingInstruction, Text

from memhtml.format.escape import escape_attribute, escape_text
from memhtml.model.whitespace import HTML_WHITESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turbohtml import Node

_VOID = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source"
    " track wbr".split()
)
_RAW = frozenset("style script xmp iframe noembed noframes plaintext".split())
_EATS_NEWLINE = frozenset({"pre", "textarea", "listing"})


def canonical(markup: str) -> str:
    """Return *markup*, the inside of an article, in canonical form."""
    root = turbohtml.parse_fragment(markup, "article", scripting=True)
    # Flat, so that depth costs nothing: what is still to be written, the next thing last.
    todo: list[Node | str] = [*reversed(list(root.children))]
    written: list[str] = []
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            written.append(item)
        elif isinstance(item, Element):
            written.append(_start_tag(item))
            if item.tag not in _VOID:
                todo.append(f"</{item.tag}>")
                todo.extend(reversed(list(_children(item))))
        else:
            written.append(_leaf(item))
    return "".join(written).strip(HTML_WHITESPACE)


def _children(element: Element) -> Iterator[Node | str]:
    for position, child in enumerate(element.children):
        if isinstance(child, Text):
            data = child.data
            if position == 0 and element.tag in _EATS_NEWLINE and data.startswith("\n"):
                yield "\n"
            yield data if element.tag in _RAW else escape_text(data)
        elif isinstance(child, Element | Comment | ProcessingInstruction):
            yield child
        else:
            # The content of a template hangs under a fragment of its own.
            yield from child.children


def _start_tag(element: Element) -> str:
    attributes = sorted(element.attrs.items(), key=lambda item: item[0].encode("utf-16-be"))
    written = "".join(
        f' {name}="{escape_attribute(str(element.attr(name)))}"' for name, _ in attributes
    )
    return f"<{element.tag}{written}>"


def _leaf(node: Node) -> str:
    if isinstance(node, Text):
        return escape_text(node.data)
    if isinstance(node, Comment):
        return f"<!--{node.data}-->"
    return node.html
