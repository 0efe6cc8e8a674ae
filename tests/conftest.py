"""What several folders share: the fetched model, a loud word when there is none, and patience."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from memhtml.model.errors import ModelUnavailable
from memhtml.providers import models

# A first import or a busy neighbour must not fail a law; slowness has benchmarks of its own.
settings.register_profile("memhtml", deadline=None)
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


def pytest_unconfigure(config: pytest.Config) -> None:
    if reason := config.stash.get(_reason, ""):
        sys.stderr.write(f"\nSEMANTIC TESTS DID NOT RUN: {reason}\n")
