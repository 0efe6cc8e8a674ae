"""What several folders share: the fetched model, a loud word when there is none, and patience."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from memhtml.model.errors import Busy, MemhtmlError, ModelUnavailable
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
_NOT_RUN = "SEMANTIC TESTS DID NOT RUN"
_QUOTES = "'\")"
_PATIENCE_SECONDS = 300


@pytest.fixture(scope="session")
def splade_cache() -> Path:
    """A cache folder that has splade-tiny: ``$MEMHTML_CACHE``, or one inside the environment."""
    cache = Path(os.environ.get("MEMHTML_CACHE") or Path(sys.prefix, ".memhtml-cache"))
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            models.add(models.find("splade-tiny"), cache, workers=os.cpu_count() or 1)
        except ModelUnavailable as error:
            pytest.skip(f"{_NOT_RUN}: {error}")
        except Busy:
            # Another process of this test run fetches it.
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
        else:
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


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Remember that the model was missing; tests may have run in other processes."""
    for report in terminalreporter.getreports("skipped"):
        if _NOT_RUN in str(report.longrepr):
            config.stash[_reason] = str(report.longrepr)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say so in the last line, where nobody can miss it."""
    if reason := config.stash.get(_reason, ""):
        sys.stderr.write(f"\n{reason[reason.find(_NOT_RUN) :].rstrip(_QUOTES)}\n")
