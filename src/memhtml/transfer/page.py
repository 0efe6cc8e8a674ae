"""The frame of the page that holds a whole store: look, script, and a place for the data.

The page must be safe whatever a memory says, and work from a disk with no network. Its policy
allows one script and one style, by their hashes, and nothing else: no request, no form, no frame.
The data is a block that browsers do not run; the script builds what is shown from text and from the
elements of the vocabulary alone, never from markup.
"""

from __future__ import annotations

import base64
from hashlib import sha256
from importlib import resources

from memhtml.format.escape import escape_text
from memhtml.transfer.records import DATA_CLOSE, DATA_OPEN, PAGE_MARK

__all__ = ["page_end", "page_start"]


def page_start(*, title: str, exported_at: str) -> str:
    """Return the page up to its data, which follows line by line."""
    style, script = _asset("export.css"), _asset("export.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    name = escape_text(title)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{PAGE_MARK.decode()}
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>Memories of {name}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{name}</h1>
<input id="words" type="search" placeholder="Search" aria-label="Search" autocomplete="off">
<select id="kind" aria-label="Type"><option value="">all types</option></select>
<select id="tag" aria-label="Tag"><option value="">all tags</option></select>
<label><input id="archived" type="checkbox"> archive too</label>
<p id="count" role="status"></p>
</header>
<main>
<ol id="hits"></ol>
<section id="page" hidden></section>
</main>
<footer>Exported {escape_text(exported_at)}. This page holds every memory whole:
<code>memhtml import</code> reads it.</footer>
<noscript><p>This page needs scripts to show its memories. They are in it as lines of JSON.</p>
</noscript>
{DATA_OPEN}
"""


def page_end() -> str:
    """Return the page from the end of its data on."""
    return f"{DATA_CLOSE}\n<script>{_asset('export.js')}</script>\n</body>\n</html>\n"


def _asset(name: str) -> str:
    return resources.files("memhtml").joinpath(f"data/{name}").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"
