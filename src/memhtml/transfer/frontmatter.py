"""The YAML at the top of a note, as text: nothing is coerced, and nothing expands.

YAML makes dates, numbers and truths of words (``no`` is false), and aliases let a few lines stand
for gigabytes. Notes need neither, so every scalar stays the text it is and an alias is an error.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.model.errors import InvalidFlag, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FrontMatter", "split_front_matter"]

MAX_CHARS = 64 * 1024

_block_re = re.compile(
    r"\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE | re.DOTALL
)


class FrontMatter(NamedTuple):
    """A note in two parts."""

    values: Mapping[str, Any]
    """Texts, lists and maps by key, the keys as they are written."""
    body: str
    lines: int
    """How many lines stand before the body."""
    raw: str = ""
    """The block as it is, where it is no YAML that we read."""
    fault: str = ""


def split_front_matter(text: str) -> FrontMatter:
    """Return the front matter of *text* and what follows it.

    Raises:
        UsageError: there is some, and PyYAML is not installed.
    """
    match = _block_re.match(text)
    if match is None:
        return FrontMatter({}, text, 0)
    body, raw = text[match.end() :], match[1]
    count = text.count("\n", 0, match.end())
    try:
        values = _load(raw)
    except InvalidFlag as error:
        return FrontMatter({}, body, count, raw, error.message)
    return FrontMatter(values, body, count)


def _load(raw: str) -> dict[str, Any]:
    try:
        import yaml  # noqa: PLC0415 - an extra, and only notes need it
    except ImportError:
        raise UsageError(
            "reading the front matter of notes needs the package 'pyyaml'",
            suggestions=("pip install 'pyyaml>=6,<7'",),
        ) from None

    class _Plain(yaml.BaseLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401 - theirs
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("it has aliases")
            return super().compose_node(parent, index)

    if len(raw) > MAX_CHARS:
        raise InvalidFlag(f"it has more than {MAX_CHARS:,} characters")
    try:
        values = yaml.load(raw, Loader=_Plain)  # noqa: S506 - a loader that makes texts only
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidFlag(str(error).partition("\n")[0] or "it cannot be read") from None
    if values in (None, ""):
        return {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise InvalidFlag("it is no list of names with values")
    return values
