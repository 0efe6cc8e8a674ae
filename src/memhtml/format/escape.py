"""Text into markup: the escapes, the two head elements, and what HTML cannot carry.

Whatever is written here reads back as the same text from any HTML parser. Two things have no
spelling in HTML at all, a NUL and a lone surrogate, so they are found and refused beforehand.
"""

from __future__ import annotations

import re

__all__ = ["escape_attribute", "escape_text", "find_unwritable", "link_tag", "meta_tag"]

# HTML drops a NUL or turns it into U+FFFD, and `&#0;` is U+FFFD too; UTF-8 has no surrogates.
_unwritable_re = re.compile("[\\0\ud800-\udfff]")


def escape_text(text: str) -> str:
    """Return *text* as HTML character data. Quotes and line ends stay literal.

    >>> escape_text("1 < 2 & 'x'")
    "1 &lt; 2 &amp; 'x'"
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\u00a0", "&nbsp;")


def escape_attribute(text: str) -> str:
    """Return *text* as the inside of a double-quoted attribute value, on one line.

    >>> escape_attribute('a "b" & <c>')
    'a &quot;b&quot; &amp; <c>'
    """
    text = text.replace("&", "&amp;").replace('"', "&quot;").replace("\u00a0", "&nbsp;")
    # A raw CR would be read as LF, and a raw LF would break the layout of one line a value.
    return text.replace("\r", "&#13;").replace("\n", "&#10;")


def meta_tag(name: str, content: str) -> str:
    """Return ``<meta name="..." content="...">`` with both values escaped."""
    return f'<meta name="{escape_attribute(name)}" content="{escape_attribute(content)}">'


def link_tag(rel: str, href: str) -> str:
    """Return ``<link rel="..." href="...">`` with both values escaped."""
    return f'<link rel="{escape_attribute(rel)}" href="{escape_attribute(href)}">'


def find_unwritable(text: str) -> str | None:
    r"""Return the first character of *text* that HTML in UTF-8 cannot carry, or None.

    >>> find_unwritable("a\0b")
    '\x00'
    """
    if text.isascii() and "\0" not in text:
        return None
    match = _unwritable_re.search(text)
    return match.group() if match else None
