from __future__ import annotations

import ast

import pytest

from tests.imports import PACKAGE, Module, home_of, imports_of, read_modules

LAYERS = (
    {"model"},
    {"format", "scoring", "workers"},
    {"store", "index", "traces", "providers"},
    {"search"},
    {"corpus"},
    {"sleep", "tasks", "doctor", "publish", "evals", "checkfiles", "ops", "transfer", "digest"},
    {"answers"},
    {"mcpserver", "viewer", "aio", "adapters"},
    {"cli"},
    # The front door lists what users may rely on, so it may import everything and none of ours
    # may import it: whoever inside needs a name takes it from where it is defined.
    {"", "__main__"},
)
FLOOR = {home: floor for floor, layer in enumerate(LAYERS) for home in layer}


def test_imports_point_down() -> None:
    faults = [fault for module in read_modules() for fault in upward_imports(module)]
    assert not faults, "\n".join(faults)


def test_every_module_stands_in_a_layer() -> None:
    assert {module.home for module in read_modules()} <= FLOOR.keys()


@pytest.mark.parametrize(
    "source",
    [
        "import memhtml.search.query",
        "from memhtml.search import query",
        "from memhtml import search",
        "from memhtml import parse",
        "import memhtml",
        "from ..search import query",
        "from .. import search",
        "from .. import parse",
        "if TYPE_CHECKING:\n    from memhtml.search.query import Query",
        "def late():\n    import memhtml.search",
        "import_module('memhtml.search')",
        "from memhtml.index import rows",
    ],
)
def test_an_upward_or_sideways_import_is_found_in_every_spelling(source: str) -> None:
    module = Module("memhtml.store.plan", is_package=False, tree=ast.parse(source))
    assert list(upward_imports(module))


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "from memhtml.model.paths import place",
        "from memhtml import model",
        "from . import git",
        "from .git import run",
        "from ..model import paths",
    ],
)
def test_imports_downward_at_home_and_abroad_are_fine(source: str) -> None:
    module = Module("memhtml.store.plan", is_package=False, tree=ast.parse(source))
    assert not list(upward_imports(module))


def test_one_dot_in_a_package_means_the_package_itself() -> None:
    package = Module("memhtml.store", is_package=True, tree=ast.parse("from . import git"))
    assert list(imports_of(package)) == ["memhtml.store.git"]


def upward_imports(module: Module) -> list[str]:
    # A home that is in no layer is the business of another test, not one fault an import.
    floor = FLOOR.get(module.home, len(LAYERS))
    return [
        f"{module.name} imports {name}"
        for name in imports_of(module)
        if name.split(".")[0] == PACKAGE
        and (home := home_in_the_house(name)) != module.home
        and FLOOR[home] >= floor
    ]


def home_in_the_house(name: str) -> str:
    # `from memhtml import parse` names no part of the house, so it is the front door.
    home = home_of(name)
    return home if home in FLOOR else ""
