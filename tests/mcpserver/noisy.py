"""The command line, with a corpus that prints while it searches, as a careless library may."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from memhtml.__main__ import run
from memhtml.corpus import Corpus

if TYPE_CHECKING:
    from memhtml.search.scope import Scope
    from memhtml.search.search import Hits

_search = Corpus.search


def _noisy(
    self: Corpus, text: str, scope: Scope | None = None, *, limit: int = 10, scan: bool = True
) -> Hits:
    print("noise through print")  # noqa: T201 - what a careless library does
    os.write(1, b"noise through the descriptor\n")
    subprocess.run([sys.executable, "-c", "print('noise of a child')"], check=True)
    return _search(self, text, scope, limit=limit, scan=scan)


Corpus.search = _noisy  # type: ignore[method-assign, assignment]  # as above

if __name__ == "__main__":
    sys.exit(run())
