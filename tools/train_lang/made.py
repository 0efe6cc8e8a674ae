"""Text that is no language, made by rule: the kinds that fill real unlabelled fences.

Most fences without a label hold output, trees, tables and notes, and few packages label those.
The words are plain and drawn by a seeded generator, so the same text comes out every time.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tools.train_lang.samples import OTHER, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["made"]

_WORDS = """account address agent alert archive array asset backup batch bench block branch broker
browser bucket budget buffer build cache calendar canvas catalog channel chart check chunk client
cluster column command commit config console consumer content context core count cursor customer
daemon data deploy device diff disk docs domain draft driver edge editor email engine entry error
event export feature feed field file filter flag folder format frame gateway graph group guard guide
handler header health history hook host image import index input instance invoice item job journal
kernel key label layer ledger level library limit link list loader local lock log login mail manager
map market memory menu merge message meta metric migration mirror model module monitor mount network
node note notice number object offer option order output owner package page panel parser patch path
payment peer phase pipeline plan player plugin point policy pool port post price print process
product profile program project proxy query queue quota range rate reader record region release
remote render replica report request reset resource result review role root route rule runner sample
scale schedule schema scope search section server service session setup shard share shell signal
site slot source stage state station status step storage store stream style subject summary support
switch symbol sync system table target task team template tenant test thread ticket timer token
tool topic trace track trade trigger type unit update upload user value vendor version view volume
wallet watch widget window worker workspace zone""".split()

_ENDINGS = ".py .ts .js .go .rs .json .yaml .toml .md .html .css .sql .sh .txt .png .lock".split()
_VERBS = (
    "start stop load save fetch send drop skip retry merge parse build check open close".split()
)
_LEVELS = "INFO WARN WARNING ERROR DEBUG TRACE info warn error debug".split()


def made(each: int = 60) -> list[Sample]:
    """Return *each* samples of every kind, the same on every call."""
    found = []
    for kind, make in _KINDS.items():
        chance = random.Random(f"made {kind}")  # noqa: S311 - the same every time, not secret
        for number in range(each):
            text = "\n".join(make(chance)).rstrip()
            # Packages stand for independence when patterns are counted; a kind is one source.
            found.append(Sample(f"made {kind} {number % 2}", OTHER, kind, "made", text))
    return found


def _word(chance: random.Random) -> str:
    return chance.choice(_WORDS)


def _name(chance: random.Random) -> str:
    join = chance.choice(["-", "_", "", "."])
    return join.join(_word(chance) for _ in range(chance.randint(1, 2)))


def _file(chance: random.Random) -> str:
    return _name(chance) + chance.choice(_ENDINGS)


def _phrase(chance: random.Random, low: int = 3, high: int = 9) -> str:
    glue = ["the", "a", "of", "to", "in", "for", "with", "and", "is", "on", "from", "when", "that"]
    return " ".join(
        chance.choice(glue) if chance.random() < 0.35 else _word(chance)
        for _ in range(chance.randint(low, high))
    )


def _count(chance: random.Random) -> int:
    return chance.randint(2, 14)


def _stamp(chance: random.Random) -> str:
    day = f"20{chance.randint(18, 29)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
    clock = f"{chance.randrange(24):02}:{chance.randrange(60):02}:{chance.randrange(60):02}"
    return chance.choice([f"{day} {clock}", f"{day}T{clock}Z", f"[{clock}]", f"{day} {clock},123"])


def _tree(chance: random.Random) -> Iterator[str]:
    ascii_only = chance.random() < 0.4
    tee, last, bar = ("|-- ", "`-- ", "|   ") if ascii_only else ("├── ", "└── ", "│   ")
    yield chance.choice([".", _name(chance) + "/"])
    for _ in range(_count(chance)):
        note = f"  # {_phrase(chance, 2, 5)}" if chance.random() < 0.3 else ""
        lead = bar * chance.randint(0, 2) + chance.choice([tee, tee, last])
        yield lead + (_file(chance) if chance.random() < 0.6 else _name(chance) + "/") + note


def _indented_tree(chance: random.Random) -> Iterator[str]:
    yield _name(chance) + "/"
    for _ in range(_count(chance)):
        note = f"    # {_phrase(chance, 2, 5)}" if chance.random() < 0.4 else ""
        name = _file(chance) if chance.random() < 0.6 else _name(chance) + "/"
        yield "  " * chance.randint(1, 3) + name + note


def _log(chance: random.Random) -> Iterator[str]:
    shape = chance.randint(0, 3)
    for _ in range(_count(chance)):
        level, said = chance.choice(_LEVELS), _phrase(chance)
        if shape == 0:
            yield f"{_stamp(chance)} {level} {_name(chance)}: {said}"
        elif shape == 1:
            yield f"[{level}] {said}"
        elif shape == 2:
            yield f"{level}: {said} {_word(chance)}={chance.randint(0, 999)}"
        else:
            head = f'time={_stamp(chance)} level={level} msg="{said}"'
            yield f"{head} {_word(chance)}={_word(chance)}"


def _traceback(chance: random.Random) -> Iterator[str]:
    if chance.random() < 0.5:
        yield "Traceback (most recent call last):"
        for _ in range(chance.randint(1, 4)):
            where = f'  File "/{_word(chance)}/{_word(chance)}.py", line {chance.randint(1, 900)}'
            yield f"{where}, in {_word(chance)}"
            yield f"    {_word(chance)}({_word(chance)})"
        yield f"{_word(chance).title()}Error: {_phrase(chance)}"
        return
    yield f"{chance.choice(['TypeError', 'Error', 'ReferenceError'])}: {_phrase(chance)}"
    for _ in range(chance.randint(2, 6)):
        where = f"    at {_word(chance)}.{_word(chance)} (/{_word(chance)}/{_word(chance)}.js"
        yield f"{where}:{chance.randint(1, 900)}:{chance.randint(1, 80)})"


def _table(chance: random.Random) -> Iterator[str]:
    width = chance.randint(2, 5)
    shape = chance.randint(0, 2)
    rows = [
        [
            _name(chance) if chance.random() < 0.7 else str(chance.randint(0, 9999))
            for _ in range(width)
        ]
        for _ in range(_count(chance))
    ]
    if shape == 0:
        yield "| " + " | ".join(_word(chance) for _ in range(width)) + " |"
        yield "|" + "---|" * width
        for row in rows:
            yield "| " + " | ".join(row) + " |"
    elif shape == 1:
        line = "+" + "+".join(["-" * 14] * width) + "+"
        yield line
        for row in rows:
            yield "| " + " | ".join(f"{one:12}" for one in row) + " |"
        yield line
    else:
        yield "  ".join(f"{_word(chance).upper():16}" for _ in range(width))
        for row in rows:
            yield "  ".join(f"{one:16}" for one in row)


def _grammar(chance: random.Random) -> Iterator[str]:
    shape = chance.randint(0, 3)
    for _ in range(_count(chance)):
        parts = [
            chance.choice(
                [
                    _name(chance),
                    f'"{_word(chance)}"',
                    f"[ {_word(chance)} ]",
                    f"{{ {_word(chance)} }}",
                    f"<{_word(chance)}>",
                    f"{_word(chance)}*",
                    f"({_word(chance)} | {_word(chance)})",
                ]
            )
            for _ in range(chance.randint(1, 5))
        ]
        right = (" | " if chance.random() < 0.5 else " ").join(parts)
        if shape == 0:
            yield f"{_name(chance)} = {right} ;"
        elif shape == 1:
            yield f"{_name(chance)} ::= {right}"
        elif shape == 2:
            yield f"{_name(chance)}: {right}"
        else:
            yield f"{_name(chance)} -> {right}"


def _synopsis(chance: random.Random) -> Iterator[str]:
    head = f"{_word(chance).upper()} {_word(chance)} [ {_word(chance).upper()} ]"
    yield f"{head} ( {_word(chance)} [, ...] )"
    for _ in range(chance.randint(1, 8)):
        yield f"    [ {_word(chance).upper()} {{ {_word(chance)} | {_word(chance)} }} ]"


def _diff(chance: random.Random) -> Iterator[str]:
    if chance.random() < 0.6:
        path = f"{_word(chance)}/{_file(chance)}"
        yield f"--- a/{path}"
        yield f"+++ b/{path}"
        yield f"@@ -{chance.randint(1, 90)},6 +{chance.randint(1, 90)},7 @@"
    for _ in range(_count(chance)):
        yield (
            chance.choice(["+", "-", " "]) + f" {_word(chance)} = {_word(chance)}({_word(chance)})"
        )


def _prose_list(chance: random.Random) -> Iterator[str]:
    shape = chance.randint(0, 3)
    for number in range(_count(chance)):
        lead = ("- ", "* ", f"{number + 1}. ", "")[shape]
        yield lead + _phrase(chance, 3, 12).capitalize() + chance.choice([".", "", ":", "!"])


def _note(chance: random.Random) -> Iterator[str]:
    for _ in range(chance.randint(2, 8)):
        yield _phrase(chance, 6, 16).capitalize() + chance.choice([".", ",", ""])


def _flow(chance: random.Random) -> Iterator[str]:
    arrow = chance.choice([" -> ", " --> ", " => ", " → ", " <- "])
    for _ in range(_count(chance)):
        yield arrow.join(_name(chance).title() for _ in range(chance.randint(2, 4)))


def _pseudo(chance: random.Random) -> Iterator[str]:
    for _ in range(_count(chance)):
        deep = "  " * chance.randint(0, 2)
        yield deep + chance.choice(
            [
                f"if {_phrase(chance, 2, 4)} then",
                f"for each {_word(chance)} in {_word(chance)}",
                f"{chance.choice(_VERBS)} {_phrase(chance, 2, 4)}",
                f"{_word(chance)} := {_phrase(chance, 1, 3)}",
                f"return {_word(chance)}",
                f"{_step_number(chance)}. {chance.choice(_VERBS)} {_word(chance)}",
            ]
        )


def _step_number(chance: random.Random) -> int:
    return chance.randint(1, 9)


def _status(chance: random.Random) -> Iterator[str]:
    for _ in range(_count(chance)):
        name = f"{_phrase(chance, 1, 3).title():<24}"
        values = [
            str(chance.randint(0, 99999)),
            _word(chance),
            f"{chance.random():.2f} ms",
            "yes",
            f"{chance.randint(1, 900)} MB",
        ]
        yield f"{name}: {chance.choice(values)}"


def _steps(chance: random.Random) -> Iterator[str]:
    mark = chance.choice(["✔", "✓", "[ok]", "=>", "==>", "*", "PASS", "ok", "INFO"])
    for _ in range(_count(chance)):
        doing = f"{mark} {chance.choice(_VERBS).title()}ing {_phrase(chance, 2, 5)}..."
        ends = ["done", "ok", f"({chance.randint(1, 900)}ms)", ""]
        yield f"{doing} {chance.choice(ends)}"


def _help(chance: random.Random) -> Iterator[str]:
    tool = _word(chance)
    yield (
        chance.choice(["Usage: ", "usage: ", "USAGE\n  $ "]) + f"{tool} [options] <{_word(chance)}>"
    )
    yield ""
    yield chance.choice(["Options:", "OPTIONS", "Commands:", "optional arguments:"])
    for _ in range(_count(chance)):
        option = _word(chance)
        yield f"  -{option[0]}, --{option:<18} {_phrase(chance, 3, 8)}"


def _listing(chance: random.Random) -> Iterator[str]:
    yield f"total {chance.randint(8, 900)}"
    for _ in range(_count(chance)):
        mode = chance.choice(["drwxr-xr-x", "-rw-r--r--", "-rwxr-xr-x"])
        owner = f"{mode}  {chance.randint(1, 9)} {_word(chance)} {_word(chance)}"
        size = f"{chance.randint(10, 99999):>7}"
        when = f"Jan {chance.randint(1, 28):>2} 12:{chance.randint(10, 59)}"
        yield f"{owner} {size} {when} {_file(chance)}"


def _paths(chance: random.Random) -> Iterator[str]:
    for _ in range(_count(chance)):
        lead = chance.choice(["/", "./", "", "~/", "https://example.com/"])
        yield (
            lead
            + "/".join(_word(chance) for _ in range(chance.randint(1, 4)))
            + chance.choice(["", "/", chance.choice(_ENDINGS)])
        )


def _properties(chance: random.Random) -> Iterator[str]:
    join = chance.choice(["=", " = ", ": "])
    if chance.random() < 0.5:
        yield f"[{_word(chance)}]"
    for _ in range(_count(chance)):
        value = chance.choice(
            [
                _word(chance),
                _file(chance),
                f"{_word(chance)} {_word(chance)}",
                f"/{_word(chance)}/{_word(chance)}",
                f"{_word(chance)},{_word(chance)}",
                str(chance.randint(0, 999)),
            ]
        )
        yield f"{_name(chance)}{'=' if join == ': ' else join}{value}"


def _csv(chance: random.Random) -> Iterator[str]:
    width = chance.randint(3, 6)
    join = chance.choice([",", ",", ";", "\t"])
    for _ in range(_count(chance)):
        yield join.join(
            _word(chance) if chance.random() < 0.6 else str(chance.randint(0, 9999))
            for _ in range(width)
        )


def _chat(chance: random.Random) -> Iterator[str]:
    left, right = chance.choice(
        [("User", "Assistant"), ("Q", "A"), ("human", "ai"), ("Client", "Server")]
    )
    for number in range(chance.randint(2, 8)):
        said = _phrase(chance, 4, 14).capitalize() + chance.choice(["?", ".", ""])
        yield f"{right if number % 2 else left}: {said}"


def _prompt(chance: random.Random) -> Iterator[str]:
    yield f"You are a {_phrase(chance, 2, 5)}."
    for _ in range(chance.randint(1, 8)):
        yield chance.choice(["- ", "", "## ", "<", "{"]) + _phrase(chance, 4, 12).capitalize() + "."


def _shape_notes(chance: random.Random) -> Iterator[str]:
    for _ in range(_count(chance)):
        yield chance.choice(
            [
                f"{_name(chance)}({_word(chance)}, {_word(chance)}) -> {_word(chance)}",
                f"{_name(chance)}: {_word(chance)} | {_word(chance)}",
                f"{_name(chance)} = {_word(chance)} * {_word(chance)} / {chance.randint(2, 99)}",
                f"{_word(chance)}[{_word(chance)}]",
                f"<{_word(chance)}> {_word(chance)} <{_word(chance)}>",
                f"O({_word(chance)[0]} log {_word(chance)[0]})",
            ]
        )


def _boxes(chance: random.Random) -> Iterator[str]:
    for _ in range(chance.randint(1, 3)):
        name = _name(chance)
        yield "+" + "-" * (len(name) + 2) + "+"
        yield f"| {name} |" + chance.choice(["", f" ---> | {_word(chance)} |"])
        yield "+" + "-" * (len(name) + 2) + "+"
        yield chance.choice(["      |", "      v", ""])


def _report(chance: random.Random) -> Iterator[str]:
    for _ in range(_count(chance)):
        yield chance.choice(
            [
                (
                    f"{_file(chance)}:{chance.randint(1, 900)}:{chance.randint(1, 80)}:"
                    f" {_phrase(chance, 3, 7)}"
                ),
                (
                    f"  {chance.randint(1, 99)}:{chance.randint(1, 80)}  error"
                    f"  {_phrase(chance, 3, 7)}  {_name(chance)}"
                ),
                (
                    f"{chance.randint(1, 99)} passed, {chance.randint(0, 9)} failed"
                    f" in {chance.random():.2f}s"
                ),
                f"{_file(chance)} .....F..  [{chance.randint(1, 100)}%]",
                f"added {chance.randint(1, 900)} packages in {chance.randint(1, 90)}s",
                (
                    f"{_name(chance)}@{chance.randint(0, 9)}.{chance.randint(0, 9)}"
                    f".{chance.randint(0, 9)}"
                ),
                f"Successfully built {_name(chance)}",
                f"commit {chance.getrandbits(160):040x}",
                f"    {_phrase(chance, 3, 8)}",
            ]
        )


_KINDS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "boxes": _boxes,
    "chat": _chat,
    "csv": _csv,
    "diff": _diff,
    "flow": _flow,
    "grammar": _grammar,
    "help": _help,
    "indented tree": _indented_tree,
    "listing": _listing,
    "log": _log,
    "note": _note,
    "paths": _paths,
    "prompt": _prompt,
    "properties": _properties,
    "prose list": _prose_list,
    "pseudo": _pseudo,
    "report": _report,
    "shapes": _shape_notes,
    "status": _status,
    "steps": _steps,
    "synopsis": _synopsis,
    "table": _table,
    "traceback": _traceback,
    "tree": _tree,
}
