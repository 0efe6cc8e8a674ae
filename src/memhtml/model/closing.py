"""`Closing`: what holds a file, a child process or a connection, and is used in a ``with``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["Closing"]


class Closing(ABC):
    """Closes itself at the end of a ``with``, also when the block fails."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything that is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
