"""The settings of a store: the table ``[sleep]`` of its ``.memhtml/config.toml``.

The file travels with the store, so it holds numbers and nothing that could make a clone run or
reach anything.
"""

from __future__ import annotations

import math
import tomllib
from typing import TYPE_CHECKING

from memhtml.model.errors import InvalidFlag
from memhtml.sleep.settings import Settings

if TYPE_CHECKING:
    from memhtml.corpus import Corpus

__all__ = ["CONFIG", "read_settings"]

CONFIG = ".memhtml/config.toml"

_DIVISORS = frozenset({"confidence_half_life_days", "confidence_step"})


def read_settings(corpus: Corpus) -> Settings:
    """Return the settings of the store, defaults where it sets none.

    Raises:
        InvalidFlag: The file is no TOML, or sets what there is not, or not to such a number.
    """
    data = corpus.read_file(CONFIG)
    if data is None:
        return Settings()
    try:
        told = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidFlag(f"{CONFIG} cannot be read: {error}") from error
    table = told.get("sleep", {})
    if not isinstance(table, dict):
        raise InvalidFlag(f"{CONFIG}: sleep is a table of numbers")
    defaults = Settings()._asdict()
    for name, value in table.items():
        if name not in defaults:
            raise InvalidFlag(
                f"{CONFIG}: sleep has no setting {name!r}; it has {', '.join(defaults)}"
            )
        least = "more than 0" if name in _DIVISORS else "0 or more"
        kinds = (int,) if isinstance(defaults[name], int) else (int, float)
        is_number = isinstance(value, kinds) and not isinstance(value, bool)
        if not is_number or not 0 <= value < math.inf or (value == 0 and name in _DIVISORS):
            kind = "whole number" if kinds == (int,) else "number"
            raise InvalidFlag(f"{CONFIG}: sleep.{name} is a {kind} of {least}, not {value!r}")
    return Settings(**table)
