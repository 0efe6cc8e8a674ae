"""Where something was said: what "this repository" means is the folder that its session was in.

A folder goes by its own name. Its whole path is of one machine, and tells who works there.
"""

from __future__ import annotations

import re

__all__ = ["folder_name", "is_pointing", "pointing_out"]

_parts_re = re.compile(r"[/\\]+")
_home_re = re.compile(
    r"(?:[a-z]:)?(?:[/\\]+(?:home|users)[/\\]+[^/\\]+|[/\\]+root)?[/\\]*", re.IGNORECASE
)

_THINGS = "repository|repo|monorepo|project|code ?base|package|workspace|folder|directory"
_this_re = re.compile(
    rf"\bthis (?:{_THINGS})\b"
    r"|\bdiese[mnrs]? (?:Repository|Repo|Projekt|Verzeichnis|Ordner)s?\b"
    r"|\bce (?:dépôt|projet|dossier)\b"
    r"|\best[ea] (?:repositorio|proyecto|carpeta|directorio)\b"
    r"|この(?:リポジトリ|プロジェクト|フォルダ)|[这這]个?(?:仓库|项目|代码库|文件夹)",
    re.IGNORECASE,
)


def folder_name(path: str | None) -> str | None:
    r"""Return the name of the folder at *path*; None where it tells nothing, as somebody's home.

    >>> folder_name("/home/ada/work/shop/"), folder_name("C:\\Users\\Ada\\shop")
    ('shop', 'shop')
    >>> folder_name("/home/ada"), folder_name("/"), folder_name("C:\\Users\\Ada")
    (None, None, None)
    """
    if path is None or _home_re.fullmatch(path):
        return None
    name = next((part for part in reversed(_parts_re.split(path)) if part.strip()), "")
    return name if name and name.isprintable() else None


def is_pointing(claim: str) -> bool:
    """Tell whether *claim* points at where it was said."""
    return _this_re.search(claim) is not None


def pointing_out(claim: str, folder: str) -> str:
    """Return *claim* with *folder* named after the first words that point at where it was said.

    >>> pointing_out("Use pnpm in this repository.", "shop")
    'Use pnpm in this repository (shop).'
    >>> pointing_out("Use pnpm in shop.", "shop")
    'Use pnpm in shop.'
    """
    if folder.casefold() in claim.casefold():
        return claim
    return _this_re.sub(lambda found: f"{found[0]} ({folder})", claim, count=1)
