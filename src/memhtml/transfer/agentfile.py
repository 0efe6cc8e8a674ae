"""Files of instructions and memories that coding agents keep: each point is one memory.

``CLAUDE.md``, ``AGENTS.md`` and their like are lists of things to know and to do. A list item or a
paragraph is a fact of its own; the headings above it become its tags.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memhtml.format.passages import split_passages
from memhtml.model.errors import MemhtmlError
from memhtml.model.vocabulary import MemoryType
from memhtml.transfer.drafts import item_of, skipped
from memhtml.transfer.item import Item

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memhtml.transfer.item import Options
    from memhtml.transfer.source import Source

__all__ = ["NAMES", "facts", "is_agent_file", "read_agent_files"]

NAMES = frozenset(
    "claude.md claude.local.md agents.md agent.md gemini.md memory.md .cursorrules .windsurfrules"
    " copilot-instructions.md memories.md".split()
)
"""What such files are called, in lower case."""

_import_re = re.compile(r"@[^\s@]+")


def is_agent_file(name: str) -> bool:
    """Whether *name* is that of such a file.

    >>> is_agent_file("work/CLAUDE.md"), is_agent_file("notes.md")
    (True, False)
    """
    return name.rpartition("/")[2].casefold() in NAMES


def read_agent_files(source: Source, options: Options) -> Iterator[Item]:
    """Yield each point of each such file of *source*; of a lone file, whatever it is called."""
    is_alone = len(source.names) == 1
    for name in source.names:
        if not is_alone and not is_agent_file(name):
            continue
        try:
            text = source.text(name)
            yield from facts(text, name, options, memory_type=MemoryType.PROCEDURAL)
        except MemhtmlError as error:
            yield Item(name, error=error)


def facts(
    text: str,
    origin: str,
    options: Options,
    *,
    memory_type: MemoryType,
    tags: tuple[str, ...] = (),
    valid_from: str | None = None,
) -> Iterator[Item]:
    """Yield each passage of *text* as an item, tagged with the heading it stands under.

    Raises:
        InvalidFlag: *text* is too long to be read.
    """
    for passage in split_passages(text):
        place = f"{origin}:{passage.line}"
        if passage.text.startswith("<!--"):
            yield skipped(place, "it is a comment")
        elif _import_re.fullmatch(passage.text):
            yield skipped(place, f"it imports {passage.text[1:]!r}; import that file itself")
        else:
            # The outermost heading names the file, not the topic.
            topic = passage.headings[-1:] if len(passage.headings) > 1 else ()
            yield item_of(
                passage.text,
                place,
                options,
                memory_type=memory_type,
                tags=(*tags, *topic),
                valid_from=valid_from,
                line=passage.line,
            )
