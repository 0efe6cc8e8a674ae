"""Values into a whole file: the fixed frame around an article.

One element a line and one value an element, in `META_ORDER`, so that a change of one value is a
change of one line. This writes new files; a file that exists is edited in place by
`memhtml.format.edit`, which leaves every other byte alone.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from memhtml.format.escape import escape_attribute, escape_text, link_tag
from memhtml.format.metas import META_ORDER
from memhtml.model.document import Head
from memhtml.model.whitespace import HTML_WHITESPACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memhtml.model.document import Link

__all__ = ["ARTICLE_CLOSE", "ARTICLE_OPEN", "HEAD_FIELDS", "serialize"]

HEAD_FIELDS: dict[str, str] = dict(zip(META_ORDER, (f.name for f in fields(Head)), strict=True))
"""Each meta name and the field of `Head` that holds its value; `Head` is stated in that order."""

_OPENINGS = {field: (name, f'<meta name="{name}" content="') for name, field in HEAD_FIELDS.items()}

ARTICLE_OPEN = "\n<article>\n"
"""What stands before the article's markup. A serialized head never holds it: ``<`` is escaped in
the title, and line ends in attributes."""
ARTICLE_CLOSE = "\n</article>\n</body>\n</html>\n"
"""What stands after the article's markup, to the end of the file."""


def serialize(*, title: str, head: Head, links: Iterable[Link], article_html: str) -> bytes:
    r"""Return the file that says these values (format-behaviour §10), UTF-8 with LF line ends.

    Nothing is validated. *article_html* is placed as it is, but for HTML whitespace at its ends,
    where the frame has line ends of its own.

    >>> data = serialize(
    ...     title="Kiln", head=Head(memory_type="semantic", confidence=0.125), links=(),
    ...     article_html="<p><mark>Clay cracks.</mark></p>",
    ... )
    >>> print(data.decode(), end="")
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <title>Kiln</title>
    <meta name="memhtml-type" content="semantic">
    <meta name="memhtml-confidence" content="0.13">
    </head>
    <body>
    <article>
    <p><mark>Clay cracks.</mark></p>
    </article>
    </body>
    </html>
    """
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f"<title>{escape_text(title)}</title>",
        *_metas(head),
        *(link_tag(link.rel, link.href) for link in links),
        "</head>",
        "<body>",
    ]
    article = article_html.strip(HTML_WHITESPACE)
    return ("\n".join(lines) + ARTICLE_OPEN + article + ARTICLE_CLOSE).encode()


def _metas(head: Head) -> Iterator[str]:
    for field, (name, opening) in _OPENINGS.items():
        value = getattr(head, field)
        if value is None:
            continue
        if isinstance(value, tuple):
            for text in value:
                yield f'{opening}{escape_attribute(text)}">'
        else:
            yield f'{opening}{escape_attribute(_content(name, value))}">'


def _content(name: str, value: str | float | bool) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return _hundredths(value) if name == "memhtml-confidence" else str(int(value))


def _hundredths(number: float) -> str:
    # Ties go up, judged on the exact binary value: 0.125 is 0.13, and 0.015, which a float
    # holds as a little less, is 0.01. Rounding in `format` would send ties to the even digit.
    numerator, denominator = abs(number).as_integer_ratio()
    cents = (200 * numerator + denominator) // (2 * denominator)
    return f"{'-' if number < 0 else ''}{cents // 100}.{cents % 100:02}"
