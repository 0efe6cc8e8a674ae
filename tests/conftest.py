"""What several folders share: the fetched model, a loud word when there is none, and patience."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from memhtml.model.errors import MemhtmlError, ModelUnavailable
from memhtml.providers import models
from tests.suggestions import fault_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

# A first import or a busy neighbour must not fail a law; slowness has benchmarks of its own.
# The same examples each time, so that a test that fails was broken by the change at hand;
# "make fuzz" looks for new ones.
settings.register_profile("memhtml", deadline=None, derandomize=True)
settings.register_profile("fuzz", deadline=None, max_examples=1000)
settings.load_profile("memhtml")

_reason = pytest.StashKey[str]()


@pytest.fixture(scope="session")
def splade_cache(request: pytest.FixtureRequest) -> Path:
    """A cache folder that has splade-tiny: ``$MEMHTML_CACHE``, or one inside the environment."""
    cache = Path(os.environ.get("MEMHTML_CACHE") or Path(sys.prefix, ".memhtml-cache"))
    try:
        models.add(models.find("splade-tiny"), cache, workers=os.cpu_count() or 1)
    except ModelUnavailable as error:
        request.config.stash[_reason] = str(error)
        pytest.skip(f"SEMANTIC TESTS DID NOT RUN: {error}")
    return cache


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Let no test make an error that suggests what reads like a command and is none."""
    heard: set[str] = set()
    begin = MemhtmlError.__init__

    def hear(self: MemhtmlError, message: str, *, suggestions: Sequence[str] = ()) -> None:
        begin(self, message, suggestions=suggestions)
        heard.update(suggestions)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemhtmlError, "__init__", hear)
        done = yield
    for fault in filter(None, map(fault_of, sorted(heard))):
        pytest.fail(fault)
    return done


def pytest_unconfigure(config: pytest.Config) -> None:
    if reason := config.stash.get(_reason, ""):
        sys.stderr.write(f"\nSEMANTIC TESTS DID NOT RUN: {reason}\n")
