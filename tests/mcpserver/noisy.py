"""The command line, with a corpus that prints while it searches, as a careless library may."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from memhtml.__main__ import run
from memhtml.corpus import Corpus

if TYPE_CHECKING:
    from memhtml.search.hits import Hits

_search = Corpus.search


def _noisy(self: Corpus, *args: Any, **options: Any) -> Hits:
    print("noise through print")  # noqa: T201 - what a careless library does
    os.write(1, b"noise through the descriptor\n")
    subprocess.run([sys.executable, "-c", "print('noise of a child')"], check=True)
    return _search(self, *args, **options)


if __name__ == "__main__":
    # Here and not above: whoever collects tests imports this module, and must keep its corpus.
    Corpus.search = _noisy  # type: ignore[method-assign]  # as above
    sys.exit(run())
