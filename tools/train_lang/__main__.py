"""``python -m tools.train_lang pin|fetch|build|recalibrate|measure|report --cache DIR``."""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.train_lang.manifest import MANIFEST, Package, fetch, pin, read_manifest


def main() -> None:
    """Run one step; ``build`` is the one that makes the model file from the registries."""
    parser = argparse.ArgumentParser(prog="python -m tools.train_lang", description=main.__doc__)
    parser.add_argument(
        "step", choices=("pin", "fetch", "build", "recalibrate", "measure", "report")
    )
    parser.add_argument(
        "--cache", type=Path, help="where archives are kept, outside the repository"
    )
    chosen = parser.parse_args()
    if chosen.step == "report":
        from tools.train_lang.report import report  # noqa: PLC0415 - brings matplotlib

        report()
        return
    if chosen.cache is None:
        parser.error("--cache is required")
    if chosen.step == "pin":
        rows = ["\t".join(package) for package in pin(chosen.cache)]
        head = "# " + "\t".join(Package._fields)
        MANIFEST.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
        return
    packages = read_manifest()
    fetch(chosen.cache, packages)
    if chosen.step == "fetch":
        return
    from tools.train_lang.build import build, measure, recalibrate  # noqa: PLC0415 - brings scikit-learn

    steps = {"build": build, "recalibrate": recalibrate, "measure": measure}
    steps[chosen.step](chosen.cache, packages)


if __name__ == "__main__":
    main()
