"""What a module of ours imports, read from its source: shared by the layer and purity tests."""

from __future__ import annotations

import ast
import gc
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SRC = Path(__file__).parents[1] / "src" / "memhtml"
PACKAGE = "memhtml"


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    """Dotted, such as ``memhtml.model.paths``; a package bears its own name."""
    is_package: bool
    tree: ast.Module

    @property
    def home(self) -> str:
        """The part of the house it stands in: ``model``; "" for the root package itself."""
        return home_of(self.name)


def home_of(name: str) -> str:
    return [*name.split("."), ""][1]


def parsed(source: str, name: str = "<source>") -> ast.Module:
    """Return the tree of *source*.

    Nothing is collected meanwhile: a collection in the middle of it can end a parse of Python 3.11
    with a SystemError about recursion depth (python/cpython#106905).
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source, name)
    finally:
        if was_enabled:
            gc.enable()


def read_modules() -> tuple[Module, ...]:
    return tuple(read_module(path) for path in sorted(SRC.rglob("*.py")))


def read_module(path: Path) -> Module:
    parts = [PACKAGE, *path.relative_to(SRC).with_suffix("").parts]
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    return Module(name, is_package, parsed(path.read_text(encoding="utf-8"), str(path)))


def imports_of(module: Module) -> Iterator[str]:
    """Yield the dotted name of each import, wherever it stands: type-only and lazy ones too.

    ``from a import b`` yields ``a.b``, whether *b* is a module or a name in one.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node)
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _is_import_call(node):
            argument = node.args[0]
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value


def _base(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    # One dot is the package a module stands in, and a package itself in its own `__init__`.
    kept = len(parts) - node.level + module.is_package
    return ".".join([*parts[:kept], *(node.module.split(".") if node.module else ())])


def _is_import_call(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in {"import_module", "__import__"} and bool(node.args)
