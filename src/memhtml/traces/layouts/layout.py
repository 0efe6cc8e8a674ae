"""What every layout is, and what reading JSON of unknown hands needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.traces.files import Found, Walk
    from memhtml.traces.record import Record, Skip

__all__ = ["Json", "Layout", "call_text", "string", "text_of"]

Json = dict[str, Any]
"""A decoded JSON object."""


class Layout(Protocol):
    """How one agent keeps its transcripts."""

    NAME: str
    """As ``--agent`` takes it."""
    TITLE: str
    HOME: str
    """The root below a person's home folder."""
    HOME_VARIABLE: str | None
    """The agent's own variable that moves its root, or the folder its root is in."""
    BELOW_VARIABLE: str
    """What to append to that variable."""

    def find(self, walk: Walk, root: str) -> Iterator[Found]:
        """Yield the transcripts below *root*, which need not exist."""

    def read(self, value: Json) -> Record | Skip:
        """Return what one JSON value of a transcript says."""


def string(value: object) -> str | None:
    r"""Return *value* if it is a string that says something.

    Half of a surrogate pair, which JSON can spell and a database cannot hold, becomes a "?".

    >>> string("call-\ud83d"), string(" "), string(7)
    ('call-?', None, None)
    """
    if not isinstance(value, str) or not value.strip():
        return None
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def text_of(content: object) -> str:
    r"""Return the text of a message: a string, or blocks of which some have text.

    >>> text_of([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}])
    'a\nb'
    """
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ""
    texts = (
        block if isinstance(block, str) else block.get("text")
        for block in content
        if isinstance(block, (str, dict))
    )
    return "\n".join(text for text in texts if isinstance(text, str) and text)


_TELLING = "command cmd script file_path absolute_path path notebook_path url pattern query".split()


def call_text(arguments: object) -> str:
    """Return the one argument of a tool call that tells most: its command, or its file.

    >>> call_text({"command": ["bash", "-lc", "make test"], "timeout": 5})
    'make test'
    """
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return ""
    for name in _TELLING:
        value = arguments.get(name)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            wrapped = len(value) == 3 and value[1] in {"-c", "-lc"}
            value = value[2] if wrapped else " ".join(value)
        if isinstance(value, str) and value.strip():
            return value
    return ""
