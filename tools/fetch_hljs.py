"""Fetch the highlight.js package that the seed pins, and print where it lies.

``make conformance`` puts the printed path into ``MEMHTML_HIGHLIGHTJS``. Where npm is missing or
cannot reach its registry nothing is printed, the reason goes to standard error, and the vectors
that need the library are skipped and counted as such.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from memhtml.providers.languages import HIGHLIGHTJS_SHA256

NAME = "highlight.js-11.11.2.tgz"


def main() -> None:
    """Print the path of the checked package file, fetching it if it is not there yet."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--folder", type=Path, default=Path(".venv/share/highlightjs"))
    folder: Path = parser.parse_args().folder
    file = folder / NAME
    if not file.exists():
        npm = shutil.which("npm")
        if npm is None:
            sys.exit(f"{NAME} is not here and npm is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(
            [npm, "pack", "--silent", "highlight.js@11.11.2"],
            cwd=folder,
            stdout=sys.stderr,
            check=False,
        )
        if packed.returncode or not file.exists():
            sys.exit(f"npm could not fetch {NAME}")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest != HIGHLIGHTJS_SHA256:
        sys.exit(f"{file} has another sha256: {digest}")
    print(file.resolve())


if __name__ == "__main__":
    main()
