"""Pure modules know values only: no files, processes, sockets, databases, clock or chance."""

from __future__ import annotations

import ast

import pytest

from tests.imports import PACKAGE, Module, imports_of, read_modules

PURE_HOMES = {"model", "format", "scoring"}
PURE_MODULES = {
    f"{PACKAGE}.{name}"
    for name in (
        # Planners, and what they plan with.
        "store.archive",
        "store.batch",
        "store.correct",
        "store.edit",
        "store.gate",
        "store.legal",
        "store.link",
        "store.plan",
        "store.put",
        "store.task",
        "store.write",
        "store.plumbing",
        # A file as rows.
        "index.analysis",
        "index.chunks",
        "index.project",
        "index.rows",
        "index.schema",
        # What a transcript says, and what of it is worth keeping.
        "traces.asked",
        "traces.candidates",
        "traces.corrections",
        "traces.cut",
        "traces.errors",
        "traces.mine",
        "traces.prose",
        "traces.record",
        "traces.words",
    )
}
"""The pure modules of layers that also have impure ones."""

IMPURE_IMPORTS = {
    "apsw",
    "asyncio",
    "glob",
    "http",
    "io",
    "multiprocessing",
    "os",
    "pathlib",
    "random",
    "secrets",
    "shutil",
    "signal",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "urllib",
    "uuid",
}
IMPURE_CALLS = {"input", "open", "print"}
CLOCK_CALLS = {"now", "today", "utcnow"}

MODULES = {module.name: module for module in read_modules()}
PURE = {name for name, module in MODULES.items() if module.home in PURE_HOMES} | PURE_MODULES


def test_every_module_said_to_be_pure_exists() -> None:
    assert MODULES.keys() >= PURE


def test_pure_modules_do_no_input_or_output_and_read_no_clock() -> None:
    faults = [f"{name}: {fault}" for name in sorted(PURE) for fault in impurities(MODULES[name])]
    assert not faults, "\n".join(faults)


def test_pure_modules_import_only_pure_modules_of_ours() -> None:
    faults = [
        f"{name} imports {imported}"
        for name in sorted(PURE)
        for imported in imports_of(MODULES[name])
        if imported.split(".")[0] == PACKAGE and not is_pure(imported)
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "source",
    [
        "import os.path",
        "from pathlib import Path",
        "if TYPE_CHECKING:\n    from pathlib import Path",
        "def late():\n    import subprocess",
        "datetime.now(UTC)",
        "dt.datetime.utcnow()",
        "date.today()",
        "open('x')",
        "print(1)",
    ],
)
def test_an_impurity_is_found(source: str) -> None:
    assert impurities(Module("memhtml.model.x", is_package=False, tree=ast.parse(source)))


def impurities(module: Module) -> list[str]:
    found = [
        f"imports {name}" for name in imports_of(module) if name.split(".")[0] in IMPURE_IMPORTS
    ]
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            found.append(f"line {node.lineno} calls {node.func.id}")
        if isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK_CALLS:
            found.append(f"line {node.lineno} reads the clock")
    return found


def is_pure(imported: str) -> bool:
    # The last part may be a name inside the module.
    return imported in PURE or imported.rpartition(".")[0] in PURE
