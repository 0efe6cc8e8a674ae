r"""Credentials in text, found before they reach a history that keeps everything.

A memory is committed, and git forgets nothing, so a write door asks `find_secrets` first. The table
holds token formats their issuers publish: a fixed prefix and a known alphabet, so that prose does
not trip it. Two rules are broader: a URL with a password in it, and an assignment to a name such
as ``api_key`` whose value looks drawn at random.

Every boundary is a look-around over ASCII, never ``\b``: in a regular expression a CJK letter is a
word character, so ``\b`` sees no boundary between ``令牌`` and ``ghp_…`` and lets the token pass.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["KINDS", "SecretMatch", "find_secrets", "find_secrets_in_markup"]


class SecretMatch(NamedTuple):
    """One credential: what it is and where, never what it says."""

    kind: str
    """A row of `KINDS`, such as ``GitHub token``."""
    start: int
    """Offset in the text, in code points."""
    end: int
    line: int
    """From 1."""


_RULES: tuple[tuple[str, str], ...] = (
    ("private key", r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ("age secret key", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("AWS access key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    ("GitHub token", r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    ("GitLab token", r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt)-[A-Za-z0-9_-]{20,}"),
    ("Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Slack token", r"xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]{20,}"),
    ("Slack webhook", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{40,}"),
    ("Google API key", r"AIza[A-Za-z0-9_-]{35}"),
    ("Google OAuth secret", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    ("Google OAuth token", r"ya29\.[A-Za-z0-9_-]{30,}"),
    ("Anthropic key", r"sk-ant-[a-z]+[0-9]{2}-[A-Za-z0-9_-]{80,}"),
    ("OpenAI key", r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}"),
    ("OpenAI key", r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    ("Hugging Face token", r"hf_[A-Za-z]{34}"),
    ("Stripe key", r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,247}"),
    ("Stripe webhook secret", r"whsec_[A-Za-z0-9+/]{32,}"),
    ("npm token", r"npm_[A-Za-z0-9]{36}"),
    ("PyPI token", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    ("SendGrid key", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("Telegram bot token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
    ("Discord bot token", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}"),
    ("DigitalOcean token", r"do[opr]_v1_[a-f0-9]{64}"),
    ("Databricks token", r"dapi[a-f0-9]{32}(?:-[0-9])?"),
    ("Shopify token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("Linear key", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,}"),
    ("Notion token", r"ntn_[A-Za-z0-9]{40,}"),
    ("Azure storage key", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    ("HashiCorp Vault token", r"hv[bs]\.[A-Za-z0-9_-]{24,}"),
    ("Terraform Cloud token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    ("Docker token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}"),
    ("JSON Web Token", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}"),
)

# Most texts hold no token, and a substring search costs a hundredth of thirty regular expressions.
# So each rule has literals, one of which all its matches contain. Here they are under a part of
# them: where that is missing, they need not be looked for. All but the one with a space are looked
# for in long words only, of which most texts have few.
_SPACED_HINT = "PRIVATE KEY"
_HINTS = {
    "_": (
        "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_", "sk_", "rk_", "whsec_",
        "npm_", "_v1_", "shpat_", "shpca_", "shppa_", "shpss_", "lin_api_", "lin_oauth_", "ntn_",
        "dckr_",
    ),
    "A": (
        "AGE-SECRET-KEY-1", "AKIA", "ASIA", "ABIA", "ACCA", "AIza", "pypi-AgE", ":AA",
        "AccountKey=",
    ),
    ".": ("hooks.slack.com", "ya29.", "SG.", "hvb.", "hvs.", ".atlasv1."),
    "gl": (
        "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "glimt-",
    ),
    "x": ("xox", "xapp-"),
    "sk-": ("sk-",),
    "GOC": ("GOCSPX-",),
    "dapi": ("dapi",),
    "eyJ": ("eyJ",),
}  # fmt: skip
_LONG = 15
"""Fewest characters of a token, but for a private key's, and of a value that is a credential."""
_WORD_ENDS = '<>"'
_DISCORD_RE = re.compile(r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.")

# A part of every name that `_ASSIGNMENT_RE` knows, spared the "i" whose case folds to two letters.
_NAME_HINTS = ("pass", "secret", "token", "key", "credent")

_URL_RE = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,19}://[^\s/?#@:<>\"']{0,100}:"
    r"(?P<value>[^\s/?#@<>\"']{3,200})@[^\s/?#@<>\"']"
)

_ASSIGNMENT_RE = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z0-9_.-]{0,40}?"
    r"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|auth[_-]?key"
    r"|account[_-]?key|private[_-]?key|credentials?)[A-Za-z0-9_-]{0,20}[\"']?"
    r"[ \t]{0,4}(?:=>|:=|=|:)[ \t]{0,4}[\"'`]?(?P<value>[^\s\"'`<>&;,]{16,512})",
    re.IGNORECASE,
)

# Values that stand for a secret instead of being one.
_PLACEHOLDER_RE = re.compile(
    r"\$\{|\{\{|\$\(|\$[A-Za-z_]|%[A-Za-z_]+%|<|\*{3}|\.{3}|…|x{4,}|0{8,}|example|changeme|placeholder"
    r"|redacted|your[_-]|dummy|sample|process\.env|os\.environ|getenv|^(?:https?|file)://|^[.~]{0,2}/|//|\.[A-Za-z]{1,5}$",
    re.IGNORECASE,
)
# Each stops at the next "<", so a run of them is read once and not again from each.
_TAG_RE = re.compile(r"<[^<>]*>")
_TAG_ON_A_LINE_RE = re.compile(r"<[^<>\n]*>")
_INVISIBLE_RE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")

_MIN_BITS = 3.2
"""Shannon bits a character: 16 random hexadecimal digits have about 3.3, words joined by hyphens
about 3.6 but no digits, which `_looks_random` asks for as well."""

KINDS: tuple[str, ...] = (
    *dict.fromkeys(kind for kind, _ in _RULES),
    "password in a URL",
    "credential assignment",
)
"""Every kind `find_secrets` can name."""


def find_secrets(text: str) -> list[SecretMatch]:
    """Return the credentials in *text*, in order, overlapping finds once.

    Linear in the length of *text*: every repetition in the table is bounded or over an alphabet
    that cannot start the pattern again.

    >>> [m.kind for m in find_secrets("令牌ghp_" + "a1B2" * 9 + "在这里")]
    ['GitHub token']
    >>> find_secrets("The token expires after 30 minutes.")
    []
    """
    found: list[SecretMatch] = []
    reached = 0
    line, counted = 1, 0
    for start, end, kind in sorted(_spans(text)):
        if start < reached:
            continue
        line += text.count("\n", counted, start)
        counted = start
        found.append(SecretMatch(kind, start, end, line))
        reached = end
    return found


def find_secrets_in_markup(html: str) -> list[SecretMatch]:
    """Return the credentials in a file's source, however markup dresses them up.

    A token is found when elements split it, when references spell its characters, when characters
    that show nothing stand inside it, and when it is written in fullwidth letters.

    >>> [m.kind for m in find_secrets_in_markup("<p>gh&#112;_a1B2<b>a1B2</b>" + "a1B2" * 7)]
    ['GitHub token']
    """
    read = _unescaped(html)
    bare = _unescaped(_without_tags(html))
    for text in dict.fromkeys((html, read, bare)):
        found = find_secrets(_plain(text))
        if found:
            return found
    return []


def _without_tags(html: str) -> str:
    """Return *html* without its tags, but with the line breaks in them, so that lines stay true."""
    bare = _TAG_ON_A_LINE_RE.sub("", html)
    if not _TAG_RE.search(bare):
        return bare
    return _TAG_RE.sub(lambda tag: "\n" * tag[0].count("\n"), html)


def _unescaped(html: str) -> str:
    if "&" not in html:
        return html
    from html import unescape  # noqa: PLC0415 - brings a table of 2,000 names

    return unescape(html)


def _plain(text: str) -> str:
    """Return *text* without characters that show nothing, in the letters that tokens have."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _INVISIBLE_RE.sub("", text))


@functools.cache
def _token_res() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compile `_RULES`; it takes longer than a write, so a text without a hint never asks."""
    return tuple(
        (kind, re.compile(rf"(?<![A-Za-z0-9_])(?:{pattern})(?![A-Za-z0-9_])"))
        for kind, pattern in _RULES
    )


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    long_words = _long_words(text)
    if _SPACED_HINT in text or (long_words and _may_be_token(long_words)):
        for kind, token_re in _token_res():
            for match in token_re.finditer(text):
                yield match.start(), match.end(), kind
    if "://" in text:
        for match in _URL_RE.finditer(text):
            if not _PLACEHOLDER_RE.search(match["value"]):
                yield match.start(), match.end(), "password in a URL"
    if long_words and _may_name_credential(text):
        for match in _ASSIGNMENT_RE.finditer(text):
            if _looks_random(match["value"]):
                yield match.start(), match.end(), "credential assignment"


def _long_words(text: str) -> str:
    """Return the words of *text* that are as long as a token, between single spaces."""
    for mark in _WORD_ENDS:
        text = text.replace(mark, " ")
    return " ".join([word for word in text.split() if len(word) >= _LONG])


def _may_be_token(words: str) -> bool:
    for part, hints in _HINTS.items():
        if part in words:
            for hint in hints:
                if hint in words:
                    return True
    return "." in words and _DISCORD_RE.search(words) is not None


def _may_name_credential(text: str) -> bool:
    folded = text.casefold()
    return any(hint in folded for hint in _NAME_HINTS)


def _looks_random(value: str) -> bool:
    """Tell a drawn value from a word, a path or a placeholder."""
    if _PLACEHOLDER_RE.search(value):
        return False
    has_digit = any(c.isascii() and c.isdigit() for c in value)
    has_letter = any(c.isascii() and c.isalpha() for c in value)
    return has_digit and has_letter and _bits(value) >= _MIN_BITS


def _bits(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
