"""Detectors by name: who proposes a language for a fence that states none.

``builtin`` reads the model file that ships with the package. ``highlightjs`` is the seed's own
detector: the published highlight.js 11.11.2 package, run in an embedded engine, from a file that
the user names in their own configuration and that is used only if its bytes are the published
ones. ``off`` proposes nothing. A store can name none of them.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from memhtml.format.detect import detect, read_model
from memhtml.format.language_names import Score, detect_score, is_too_long
from memhtml.model.closing import Closing
from memhtml.model.errors import InvalidFlag, StorageFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from memhtml.format.detect import LanguageModel

    class _Engine(Protocol):
        def eval(self, code: str) -> object: ...

        def close(self) -> None: ...

        def call(self, expr: str, *args: object) -> object: ...


__all__ = [
    "DETECTORS",
    "HIGHLIGHTJS_SHA256",
    "MODEL_SHA256",
    "HighlightJs",
    "Ranking",
    "Settings",
    "detector",
    "highlighter",
    "load_model",
    "settings",
]

DETECTORS = ("builtin", "highlightjs", "off")

MODEL_SHA256 = "3b0c4c714440582e7c15c9d95e72d356e94b4417ca1af47f62ea436c499aa300"
"""Of the model file. Another model stamps other fences, so it is replaced on purpose only."""

HIGHLIGHTJS_SHA256 = "5737fc030ac76469b797691464564cd5a88068327519078022637d7d638c7ce9"
"""Of ``highlight.js-11.11.2.tgz`` as ``npm pack highlight.js@11.11.2`` writes it."""

_MODEL_FILE = "data/languages.bin"


class Settings(NamedTuple):
    """Which detector the user chose."""

    name: str = "builtin"
    """One of `DETECTORS`."""
    highlightjs: Path | None = None
    """The highlight.js package file, where `name` needs one."""


class Ranking(NamedTuple):
    """The two best grammars for one text and their relevances; 0 and None where there is none."""

    top: str | None
    top_relevance: float
    second: str | None
    second_relevance: float


def settings(environ: Mapping[str, str]) -> Settings:
    """Return what the user's environment chooses.

    ``MEMHTML_DETECTOR`` names a detector and ``MEMHTML_HIGHLIGHTJS`` the package file for
    ``highlightjs``.

    Raises:
        InvalidFlag: there is no detector of that name.
    """
    name = environ.get("MEMHTML_DETECTOR") or "builtin"
    if name not in DETECTORS:
        raise InvalidFlag(
            f"MEMHTML_DETECTOR names {name!r}; there is {', '.join(DETECTORS)}",
            suggestions=("unset MEMHTML_DETECTOR",),
        )
    file = environ.get("MEMHTML_HIGHLIGHTJS")
    return Settings(name, Path(file) if file else None)


@functools.cache
def detector(
    name: str = "builtin", *, highlightjs: Path | None = None
) -> Callable[[str], str | None]:
    """Return the function that proposes a language for a fence's code, or None.

    Nothing is read before the first fence is asked about.

    Raises:
        InvalidFlag: there is no detector of that name, or *highlightjs* is missing for it.
    """
    if name == "off":
        return lambda _code: None
    if name == "builtin":
        return lambda code: detect(code, load_model()).language
    if name != "highlightjs":
        raise InvalidFlag(f"no detector is called {name!r}; there is {', '.join(DETECTORS)}")
    archive = _named(highlightjs)
    return lambda code: _shared_engine(archive).score(code).stamp


def highlighter(archive: Path | None) -> HighlightJs:
    """Start the engine over the package file *archive*; the caller closes it.

    Raises:
        InvalidFlag: no file is named.
        StorageFailure: the file is not highlight.js 11.11.2, or there is no engine.
    """
    return HighlightJs(_named(archive))


@functools.cache
def load_model() -> LanguageModel:
    """Return the shipped model, read once.

    Raises:
        StorageFailure: the file is missing or is not the one this version was built with.
    """
    try:
        data = _packaged(_MODEL_FILE)
    except OSError as error:
        raise _damaged("cannot be read") from error
    if data is None or hashlib.sha256(data).hexdigest() != MODEL_SHA256:
        raise _damaged("is not the one this version was built with")
    return read_model(data)


def _packaged(file: str) -> bytes | None:
    """Return a *file* of the package; None where it was loaded in a way that brings no files."""
    # The package's own loader is asked, as pkgutil and importlib.resources do; to import those
    # costs 4 and 12 ms.
    get_data = getattr(__spec__.loader, "get_data", None)
    if get_data is None:
        return None
    data: bytes = get_data(str(Path(__file__).parents[1] / file))
    return data


@functools.cache
def _shared_engine(archive: Path) -> HighlightJs:
    engine = HighlightJs(archive)
    # An engine that is still open while the interpreter ends can keep the process waiting.
    atexit.register(engine.close)
    return engine


def _named(archive: Path | None) -> Path:
    if archive is None:
        raise InvalidFlag(
            "the highlightjs detector needs the file of highlight.js 11.11.2",
            suggestions=(
                "npm pack highlight.js@11.11.2",
                "MEMHTML_HIGHLIGHTJS=/path/to/highlight.js-11.11.2.tgz",
            ),
        )
    return archive


def _damaged(reason: str) -> StorageFailure:
    return StorageFailure(
        f"the language model memhtml/{_MODEL_FILE} {reason}",
        suggestions=("pip install --force-reinstall memhtml", "MEMHTML_DETECTOR=off"),
    )


class HighlightJs(Closing):
    """highlight.js 11.11.2 in an engine of its own, ready to rank grammars.

    Starting one reads all 192 grammars, which takes most of a second; a text of 4,096 characters
    then takes a quarter of one.
    """

    def __init__(self, archive: Path) -> None:
        self._engine = _engine()
        modules = _modules(archive)
        self._engine.eval(_LOADER)
        self._engine.call("start", json.dumps(modules))

    def close(self) -> None:
        """Stop the engine."""
        self._engine.close()

    def rank(self, code: str) -> Ranking:
        """Return the grammars that highlight *code* best."""
        found = cast("tuple[str | None, float, str | None, float]", self._engine.call("rank", code))
        return Ranking(*found)

    def score(self, code: str) -> Score:
        """Return what the seed's formula says about *code* (format-behaviour §14)."""
        # The cap comes first: the cost of ranking grows faster than the text.
        if is_too_long(code):
            return Score(None, 0.0, None)
        ranking = self.rank(code)
        return detect_score(*ranking, code=code)


_LOADER = """
var hljs;
function start(text) {
  var sources = JSON.parse(text), loaded = {};
  function load(path) {
    if (!loaded[path]) {
      var module = loaded[path] = { exports: {} };
      var folder = path.replace(/[^/]*$/, "");
      var local = function (name) { return load(folder + name.replace(/^\\.\\//, "") + ".js"); };
      new Function("module", "exports", "require", sources[path])(module, module.exports, local);
    }
    return loaded[path].exports;
  }
  hljs = load("lib/index.js");
  return hljs.listLanguages().length;
}
function rank(code) {
  var best = hljs.highlightAuto(code), other = best.secondBest;
  return [
    best.language || null, best.relevance || 0,
    other && other.language || null, other && other.relevance || 0,
  ];
}
"""


def _engine() -> _Engine:
    try:
        # V8 rather than a smaller engine: its regular expressions are those the scores of the
        # vectors were made with, and it is six times as fast on 4,096 characters.
        racer = import_module("py_mini_racer")
    except ImportError as error:
        raise StorageFailure(
            "the highlightjs detector needs a JavaScript engine that is not installed",
            suggestions=("pip install 'mini-racer>=0.14.1,<0.15'",),
        ) from error
    engine: _Engine = racer.MiniRacer()
    return engine


def _modules(archive: Path) -> dict[str, str]:
    """Return the package's CommonJS modules by path, once its bytes are the published ones."""
    import io  # noqa: PLC0415 - as below
    import tarfile  # noqa: PLC0415 - 10 ms that only this detector needs

    try:
        data = archive.read_bytes()
    except OSError as error:
        raise StorageFailure(
            f"the highlight.js package {str(archive)!r} cannot be read: {error.strerror}",
            suggestions=("npm pack highlight.js@11.11.2",),
        ) from error
    digest = hashlib.sha256(data).hexdigest()
    if digest != HIGHLIGHTJS_SHA256:
        raise StorageFailure(
            f"{str(archive)!r} is not highlight.js-11.11.2.tgz as npm serves it: its sha256 is"
            f" {digest}",
            suggestions=("npm pack highlight.js@11.11.2",),
        )
    modules = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as packed:
        for member in packed:
            path = member.name.removeprefix("package/")
            if path.startswith("lib/") and path.endswith(".js"):
                handle = packed.extractfile(member)
                if handle is not None:
                    modules[path] = handle.read().decode("utf-8")
    return modules
