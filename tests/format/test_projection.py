from __future__ import annotations

from memhtml.format.parse import parse
from memhtml.format.projection import disclosure_text, search_text, word_count

FILE = b"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Loading bay</title>
<meta name="memhtml-type" content="semantic">
<meta name="memhtml-status" content="active">
<meta name="memhtml-created" content="2026-08-02">
<meta name="memhtml-updated" content="2026-08-02">
</head>
<body>
<article>
<p><mark>The gate opens at six.</mark></p>
<dl><dt>Days</dt><dd>weekdays</dd></dl>
<details><summary>Why so early</summary>Bakers queue.</details>
<aside>Except in snow.</aside>
<p><cite>Gate log</cite></p>
</article>
</body>
</html>
"""


def test_everything_is_searched() -> None:
    assert search_text(parse(FILE)) == (
        "Loading bay\n"
        "The gate opens at six.\n"
        "The gate opens at six. Days weekdays Why so early Bakers queue. Except in snow. Gate log"
    )


def test_caveats_and_what_is_behind_a_fold_are_never_shown() -> None:
    assert disclosure_text(parse(FILE)) == (
        "The gate opens at six.\nWhy so early\nDays: weekdays\nGate log"
    )


def test_words_are_counted_in_the_body() -> None:
    assert word_count(parse(FILE)) == 17
