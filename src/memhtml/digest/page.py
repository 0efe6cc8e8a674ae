"""A digest as one HTML page that works offline: nothing on it runs, and nothing is fetched.

What memories say is text on it, escaped, whatever it looks like.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from memhtml.digest.happening import HEADINGS, What
from memhtml.format.escape import escape_attribute, escape_text
from memhtml.format.pages import still_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.digest.digest import Digest
    from memhtml.digest.happening import Happening

__all__ = ["PAGE_MARK", "digest_page"]

PAGE_MARK = '<meta name="generator" content="memhtml diff">'
"""What every such page has, so that no other file is written over."""

_STYLE = """\
:root { color-scheme: light dark; --quiet: #666; --line: #ddd; }
@media (prefers-color-scheme: dark) { :root { --quiet: #aaa; --line: #444; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
ul { list-style: none; padding: 0; }
li { border-top: 1px solid var(--line); padding: .6rem 0; overflow-wrap: anywhere; }
p { margin: .15rem 0; }
del, small, .count { color: var(--quiet); }
"""


def digest_page(found: Digest, *, title: str) -> str:
    """Return *found* as a page about the store called *title*."""
    span = f"{_since(found)} to {_time(found.until_at)}"
    commits = f"{found.commits} commit{'' if found.commits == 1 else 's'}"
    told = "\n".join(
        "\n".join(_section(what, list(group)))
        for what, group in groupby(found.happenings, key=lambda each: each.what)
    )
    body = f"""
<h1>What {escape_text(title)} learned</h1>
<p>{span}, {commits}.</p>
{told or "<p>Nothing happened.</p>"}
"""
    return still_page(title=f"What {title} learned", style=_STYLE, mark=PAGE_MARK, body=body)


def _since(found: Digest) -> str:
    if found.since is None:
        return "From the beginning"
    return _time(found.since_at or "")


def _section(what: What, happenings: list[Happening]) -> Iterator[str]:
    yield "<section>"
    yield f'<h2>{HEADINGS[what]} <span class="count">{len(happenings)}</span></h2>'
    yield "<ul>"
    for each in happenings:
        yield f"<li>{''.join(_item(each))}</li>"
    yield "</ul>"
    yield "</section>"


def _item(each: Happening) -> Iterator[str]:
    yield f"<p>{escape_text(each.claim)}</p>"
    if each.what is What.CONTRADICTED:
        yield f"<p>Against it: {escape_text(each.other or '')}</p>"
    if each.before and each.before != each.claim:
        yield f"<p><del>{escape_text(each.before)}</del></p>"
    if each.notes:
        yield f"<p>Now {escape_text(', '.join(each.notes))}.</p>"
    if each.reason:
        yield f"<p>Reason: {escape_text(each.reason)}</p>"
    facts = [f"<code>{escape_text(each.path)}</code>"]
    if each.at:
        facts.append(_time(each.at))
    facts += [
        f"{word} {escape_text(value)}"
        for word, value in (("by", each.author), ("session", each.session))
        if value
    ]
    yield f"<p><small>{' · '.join(facts)}</small></p>"


def _time(instant: str) -> str:
    shown = instant[:16].replace("T", " ") + (" UTC" if len(instant) > 10 else "")
    return f'<time datetime="{escape_attribute(instant)}">{escape_text(shown)}</time>'
