"""Credentials are found whatever stands beside them, and prose is left alone."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memhtml.format import secrets
from memhtml.format.secrets import KINDS, find_secrets, find_secrets_in_markup

A = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5jK7mN9pQ1sT3vW5yZ7bC9dF1gH3jK5mN7pQ9sT1vW3yZ5"

SECRETS = [
    ("private key", "-----BEGIN OPENSSH PRIVATE KEY-----"),
    ("private key", "-----BEGIN PGP PRIVATE KEY BLOCK-----"),
    ("AWS access key", "AKIAJ7Q2MZ4XWPLN3RTB"),
    ("GitHub token", "ghp_" + A[:36]),
    ("GitHub token", "github_pat_" + A[:22] + "_" + A[:59]),
    ("GitLab token", "glpat-" + A[:20]),
    ("Slack token", "xoxb-123456789012-" + A[:24]),
    ("Google API key", "AIza" + A[:35]),
    ("Anthropic key", "sk-ant-api03-" + A),
    ("OpenAI key", "sk-proj-" + A[:48]),
    ("Stripe key", "sk_live_" + A[:24]),
    ("npm token", "npm_" + A[:36]),
    ("PyPI token", "pypi-AgE" + A[:60]),
    ("Telegram bot token", "123456789:AA" + A[:33]),
    ("Databricks token", "dapi" + "0123456789abcdef" * 2),
    ("JSON Web Token", "eyJ" + A[:20] + ".eyJ" + A[:30] + "." + A[:43]),
    ("Azure storage key", "AccountKey=" + (A * 2)[:86] + "=="),
    ("password in a URL", "postgres://app:s3kr1tPw@db.internal/main"),
    ("credential assignment", "api_key = 9f86d081884c7d659a2feaa0c55ad015"),
    ("credential assignment", '"client_secret": "Zk8qvT2mXc4LrN7b"'),
    ("credential assignment", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzKEY1"),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("令牌", "，请勿外传"), ("(", ")"), ("a\nb ", ".")]
)
def test_a_published_token_format_is_found_beside_any_script(
    kind: str, secret: str, before: str, after: str
) -> None:
    (match,) = find_secrets(before + secret + after)
    assert match.kind == kind
    assert match.kind in KINDS
    assert match.line == 1 + before.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "The token expires after 30 minutes and the password policy asks for 16 characters.",
        "password: see the vault entry payments-db",
        "api_key = ${PAYMENTS_API_KEY}",
        "token: <your-token-here-0123456789>",
        "secret = os.environ['SECRET_0123456789']",
        "Use https://user@example.org/path and http://localhost:8080/a@b",
        "postgres://app:${PASSWORD}@db/main",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376",
        "The flask_token_rotation_schedule is weekly",
        "task-1234567890123456789012345678901234567890",
        "トークンは三十分で失効します。",
        "hf_ is a prefix; sk- is another; eyJ starts a JWT.",
    ],
)
def test_prose_placeholders_and_hashes_are_not_secrets(text: str) -> None:
    assert find_secrets(text) == []


TOKEN = "ghp_" + A[:36]


@pytest.mark.parametrize(
    "html",
    [
        f"<p>{TOKEN}</p>",
        f"<p>{TOKEN[:9]}<b>{TOKEN[9:20]}</b>{TOKEN[20:]}</p>",
        f"<p>{TOKEN[:9]}<wbr>{TOKEN[9:]}</p>",
        f"<p>{TOKEN[:9]}<!-- x -->{TOKEN[9:]}</p>",
        f"<p>gh&#112;{TOKEN[3:]}</p>",
        f'<data value="gh&#x70;{TOKEN[3:]}">x</data>',
        f"<template>gh&#112;{TOKEN[3:]}</template>",
        f"<p>{TOKEN[:9]}\u200b{TOKEN[9:]}</p>",
        f"<p>{TOKEN[:9]}&shy;{TOKEN[9:]}</p>",
        "<p>" + "".join(chr(ord(c) + 0xFEE0) for c in TOKEN) + "</p>",
    ],
)
def test_markup_and_odd_characters_hide_no_token(html: str) -> None:
    found = find_secrets_in_markup("<!doctype html>\n<title>x</title>\n" + html)
    assert [(match.kind, match.line) for match in found] == [("GitHub token", 3)]


def test_a_key_with_slashes_is_a_key_and_a_path_is_none() -> None:
    assert find_secrets("aws_secret_access_key = wJalr/XUtnFEMI/K7MDENGbPxRfiCY1234567890ab")
    assert not find_secrets("api_key: /run/secrets/payments-key-2026-08-02")
    assert not find_secrets("token: ./config/tokens/2026/production1.json")


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_whatever_a_rule_means_is_found_by_the_quick_look_as_well(data: st.DataObject) -> None:
    kind, pattern = data.draw(st.sampled_from(secrets._RULES))
    token = data.draw(st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True))
    assert kind in {match.kind for match in find_secrets(f"Take 令牌{token}, please.")}


def test_a_tag_over_several_lines_hides_no_token_and_counts_its_lines() -> None:
    html = f"<p>\n<b\n\nlang=en>{TOKEN[:9]}<i>{TOKEN[9:20]}<br>{TOKEN[20:]}"
    assert [match.line for match in find_secrets_in_markup(html)] == [4]


def test_overlapping_rules_report_a_place_once() -> None:
    assert len(find_secrets("GITHUB_TOKEN=ghp_" + A[:36])) == 1


@pytest.mark.parametrize(
    "piece", ["token=", "a" * 50 + "_secret", "://a:", "eyJa.", "AKIA", "xox-", "M" * 30 + "."]
)
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    def cpu(repeats: int) -> float:
        text = piece * repeats
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            find_secrets(text)
            best = min(best, time.process_time() - start)
        return best

    size = 200_000 // len(piece)
    # Ten times the text may cost ten times the time; thirty leaves room for noise, not for n².
    assert cpu(size) <= 30 * cpu(size // 10) + 0.02
