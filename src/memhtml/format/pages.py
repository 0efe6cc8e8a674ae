"""The frame of a page on which nothing runs and nothing is fetched, whatever memories say."""

from __future__ import annotations

import base64
from hashlib import sha256

from memhtml.format.escape import escape_text

__all__ = ["still_page"]


def still_page(*, title: str, style: str, mark: str, body: str) -> str:
    """Return *body*, markup whose every text is escaped, as a page with that *style*.

    The policy allows the style by its hash and nothing else. *mark* is a meta element by which a
    page of this kind is known, so that no other file is written over.

    >>> "default-src 'none'" in still_page(title="a & b", style="", mark="", body="")
    True
    """
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" \
content="default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'">
{mark}
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>{escape_text(title)}</title>
<style>{style}</style>
</head>
<body>
{body.strip()}
</body>
</html>
"""
