"""One function over many items, by threads when that helps, and with word of how far it got."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memhtml.model.ports import Progress

__all__ = ["mapped"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def mapped(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Result]:
    """Return *function* of each of *items*, in order, computed by *workers* threads.

    *progress* is called in the caller's thread after each item, in order. When it or *function*
    raises, what has not begun is dropped and the exception passes on.
    """
    results: list[Result] = []

    def keep(result: Result) -> None:
        results.append(result)
        if progress:
            progress(len(results), len(items))

    if workers <= 1 or len(items) <= 1:
        for item in items:
            keep(function(item))
        return results
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - imports logging

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            for future in futures:
                keep(future.result())
        finally:
            for future in futures:
                future.cancel()
    return results
