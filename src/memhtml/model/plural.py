"""A count with its noun, for every sentence that counts something."""

__all__ = ["plural"]


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun, and with a verb where *one* and *many* have it.

    >>> plural(1, "memory", "memories"), plural(0, "file")
    ('1 memory', '0 files')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
