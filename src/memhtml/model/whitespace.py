"""The two kinds of whitespace of the format, and what is done with them.

HTML whitespace collapses and never counts as content. Wide whitespace is what people see as
blank at the ends of a title, a name or a line. Neither is Python's: `str.strip` also removes
U+001C to U+001F and U+0085, which are content here, and leaves U+FEFF, which is not.
"""

from __future__ import annotations

import re

__all__ = [
    "HTML_WHITESPACE",
    "WIDE_WHITESPACE",
    "collapse",
    "is_blank",
    "wide_split",
    "wide_trim",
]

HTML_WHITESPACE = "\t\n\f\r "

WIDE_WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

_html_run_re = re.compile(f"[{HTML_WHITESPACE}]+")
_TO_SPACE = dict.fromkeys(map(ord, WIDE_WHITESPACE), " ")


def wide_trim(text: str) -> str:
    r"""Return *text* without wide whitespace at its ends.

    >>> wide_trim("\ufeff\u3000 kiln \x85")
    'kiln \x85'
    """
    return text.strip(WIDE_WHITESPACE)


def is_blank(text: str) -> bool:
    """Whether *text* is empty or wide whitespace only."""
    return not wide_trim(text)


def collapse(text: str) -> str:
    r"""Return *text* with each run of HTML whitespace made one space, and its ends wide-trimmed.

    >>> collapse("\u00a0 bread \n\t rises\u00a0twice ")
    'bread rises\xa0twice'
    """
    return wide_trim(_html_run_re.sub(" ", text))


def wide_split(text: str) -> list[str]:
    r"""Return the words of *text*: what stands between runs of wide whitespace.

    >>> wide_split(" the\u2003old\tbarn ")
    ['the', 'old', 'barn']
    """
    return list(filter(None, text.translate(_TO_SPACE).split(" ")))
