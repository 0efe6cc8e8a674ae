"""Results as tables of HTML, for notebooks.

Whatever memories say is escaped, so nothing in them becomes an element, an attribute or a script.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["escaped", "note", "table"]

_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", 39: "&#39;"}


def escaped(value: object) -> str:
    """Return *value* as text that is nothing but text, inside an attribute too.

    >>> escaped("<b onclick='x'>"), escaped(None)
    ('&lt;b onclick=&#39;x&#39;&gt;', '')
    """
    return "" if value is None else str(value).translate(_ESCAPES)


def note(text: object) -> str:
    """Return *text* as a paragraph."""
    return f"<p>{escaped(text)}</p>"


def table(names: Sequence[str], rows: Iterable[Sequence[object]], *, caption: object = None) -> str:
    """Return *rows*, each with a value for every one of *names*, as a table.

    >>> table(["n"], [[1]])
    '<table><thead><tr><th>n</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
    """
    above = "" if caption is None else f"<caption>{escaped(caption)}</caption>"
    head = "".join(f"<th>{escaped(name)}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{escaped(value)}</td>' for value in row)}</tr>" for row in rows
    )
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
