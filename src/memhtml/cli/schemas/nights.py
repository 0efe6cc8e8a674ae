"""Schemas of what the sleep commands answer; declared in `memhtml.answers.slept`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.answers import slept
from memhtml.answers.casing import camel_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memhtml.answers.schema import Schema

__all__ = ["NIGHTS"]

NIGHTS: Mapping[str, Schema] = {
    "sleep.report": camel_schema(slept.REPORT),
    "sleep.review": camel_schema(slept.REVIEW),
    "sleep.merge": camel_schema(slept.MERGED),
    "sleep.dropped": camel_schema(slept.DROPPED),
    "sleep.undone": camel_schema(slept.UNDONE),
    "sleep.runs": camel_schema(slept.RUNS),
    "sleep.plan": camel_schema(slept.OUTLOOK),
}
