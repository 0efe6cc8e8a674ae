"""What a new store holds before its first memory. Pure: contents by path, nothing more."""

from __future__ import annotations

__all__ = ["CACHE", "MERGE_ATTRIBUTES", "scaffold"]

CACHE = ".memhtml/cache/"
"""Where what can be rebuilt, or is nobody else's business, is kept; never committed."""

_FOLDERS = (
    "projects",
    "areas",
    "resources",
    "archive",
    "areas/arcs",
    "areas/inbox",
    "resources/people",
    ".memhtml/state",
    ".memhtml/sleep",
)

# The databases named singly are the TypeScript tool's, which may work on the same store.
_IGNORED = f"""\
{CACHE}
.memhtml/index.db
.memhtml/index.db-*
.memhtml/state.db
.memhtml/state.db-*
"""

MERGE_ATTRIBUTES = """\
*.html merge=memhtml
.memhtml/state/access.jsonl merge=memhtml
index.html merge=ours
sitemap.xml merge=ours
/browse/** merge=ours
"""
"""Which files git merges how; of two lines the later holds. See `mergedriver`.

The driver ``ours`` is set by init: generated pages are made anew, never merged.
"""

# `eol=lf` keeps the bytes of a memory the same on every system, whatever core.autocrlf says.
_ATTRIBUTES = f"""\
*.html text eol=lf diff=html
{MERGE_ATTRIBUTES}"""

_README = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A memhtml store</title>
<meta name="memhtml-type" content="semantic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="{at}">
<meta name="memhtml-updated" content="{at}">
</head>
<body>
<article>
<p><mark>This folder is a long-term memory: a git repository of HTML files.</mark></p>
<p>Each file holds one fact. It can be read in a browser, edited by hand and followed with git.
The sentence that is marked in a file is its claim; the rest is its evidence.</p>
<ul>
<li><code>projects/</code> has what ends one day, by workspace.</li>
<li><code>areas/</code> has what goes on; new memories without another place are in
<code>areas/inbox/</code>.</li>
<li><code>resources/</code> has what is worth knowing, by topic; people are in
<code>resources/people/</code>.</li>
<li><code>archive/</code> has what no longer holds, by year.</li>
</ul>
<p>To look for something, run <code>memhtml search</code>; to add something, run
<code>memhtml write</code>.</p>
</article>
</body>
</html>
"""


def scaffold(at: str) -> dict[str, bytes]:
    """Return every file of a store made at the instant *at*, by path (store format §3)."""
    return {
        **{f"{folder}/.gitkeep": b"" for folder in _FOLDERS},
        ".gitignore": _IGNORED.encode(),
        ".gitattributes": _ATTRIBUTES.encode(),
        "README.html": _README.format(at=at).encode(),
    }
