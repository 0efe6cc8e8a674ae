from __future__ import annotations

import pytest

from memhtml.store.legal import violation


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "areas//x.html",
        "areas/",
        ".",
        "areas/../../x.html",
        "areas/./x.html",
        ".git/config",
        "areas/.git/hooks/x",
        ".GiT/config",
        "git~1/config",
        "GIT~1/config",
        ".g\u200cit/config",
        "\ufeff.git/config",
        ".git /config",
        ".git./config",
        ".git::$INDEX_ALLOCATION/config",
        "areas\\x.html",
        "C:/x.html",
        "c:x.html",
        "areas/a\nb.html",
        "areas/a\0b.html",
        "areas/" + "x" * 256,
    ],
)
def test_what_no_tree_may_hold_is_refused(path: str) -> None:
    assert violation(path) is not None


@pytest.mark.parametrize(
    "path",
    [
        ".gitignore",
        ".gitattributes",
        ".memhtml/state/.gitkeep",
        "areas/inbox/x.html",
        "areas/日本語.html",
        "areas/a b'c.html",
        "areas/git~2.html",
        "areas/.github/x.html",
    ],
)
def test_what_a_tree_may_hold_passes(path: str) -> None:
    assert violation(path) is None
