"""What users import."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import memhtml

if TYPE_CHECKING:
    from pathlib import Path


def test_every_public_name_is_there() -> None:
    for name in memhtml.__all__:
        assert getattr(memhtml, name) is not None
    assert dir(memhtml) == sorted(memhtml.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        memhtml.nonsense  # noqa: B018 - the access is what is tested


def test_importing_the_package_imports_none_of_its_parts() -> None:
    code = "import sys, memhtml; print([m for m in sys.modules if m.startswith('memhtml.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_store_is_made_written_to_and_searched_in_a_few_lines(tmp_path: Path) -> None:
    memhtml.init(tmp_path / "store")
    with memhtml.open(tmp_path / "store") as corpus:
        written = corpus.write(
            memhtml.Draft(
                title="Rye starter",
                claim="The rye starter is fed at 05:40.",
                memory_type=memhtml.MemoryType.PROCEDURAL,
            )
        )
        hits = corpus.search("when do we feed the rye starter").hits
        assert [hit.path for hit in hits] == [written.path]
        memory = corpus.read(written.path)
    assert memory.document.claim == "The rye starter is fed at 05:40."
