"""``memhtml detect``: what a fence would be labelled, and what decided it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Noun
from memhtml.cli.envelope import Success

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.format.detect import Detection, Evidence
    from memhtml.format.language_names import Score
    from memhtml.providers.languages import Ranking

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    Command(
        name="detect",
        summary="Name the language of a piece of code as a write would; needs no store.",
        description=(
            "Shows the language that an unlabelled fence with this text would be stamped with, "
            "or why it would be left alone, with the confidence and the evidence. A fence that "
            "names its language is never asked about.\n\n"
            "MEMHTML_DETECTOR chooses the detector: builtin, highlightjs (with the package file "
            "in MEMHTML_HIGHLIGHTJS) or off."
        ),
        arguments=(
            Argument(
                name="file",
                summary="the text between the fence's ticks; - or nothing for standard input",
                required=False,
                noun=Noun.FILE,
            ),
        ),
        is_about_store=False,
        response_types=("detect.result",),
        errors=("ERR_STORAGE",),
        examples=("memhtml detect snippet.txt", "memhtml detect - < snippet.txt"),
    ),
)

_WHY = {
    "stamped": "the model is sure and nothing speaks against it",
    "interpreter": "its first line names the interpreter",
    "parsed": "it is one JSON document",
    "empty": "there is nothing in it",
    "too-long": "it is longer than 4,096 characters, which no detector looks at",
    "unsure": "the confidence is below the threshold",
    "vetoed": "it reads as text of another kind",
    "unconfirmed": "its lines do not confirm it",
    "off": "the detector is off",
}


def run(call: Call) -> Success:
    """Say what the chosen detector makes of the text that *call* names."""
    from memhtml.format.language_names import is_too_long  # noqa: PLC0415 - as above
    from memhtml.providers import languages  # noqa: PLC0415 - the model loads with it

    chosen = languages.settings(call.world.env)
    code = _code(call)
    if chosen.name == "off":
        return _answer("off", "off")
    if chosen.name == "highlightjs":
        with languages.highlighter(chosen.highlightjs) as engine:
            if is_too_long(code):
                return _answer("highlightjs", "too-long")
            return _by_grammars(engine.score(code), engine.rank(code))
    from memhtml.format.detect import detect, evidence  # noqa: PLC0415 - as above

    model = languages.load_model()
    found = detect(code, model)
    return _by_model(found, evidence(code, model) if found.runner_up else ())


def _code(call: Call) -> str:
    import os.path  # noqa: PLC0415 - already loaded by the interpreter

    from memhtml.model.errors import StorageFailure  # noqa: PLC0415 - only where it is raised

    name = call.optional_text("file") or "-"
    try:
        if name == "-":
            data = call.world.stdin.read()
        else:
            with open(os.path.join(call.world.cwd, name), "rb") as file:
                data = file.read()
    except OSError as error:
        raise StorageFailure(f"{name!r} cannot be read: {error.strerror or error}") from error
    # A text editor ends a file with a newline that the fence would not have.
    return data.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n")


def _by_model(found: Detection, shown: tuple[Evidence, ...]) -> Success:
    rows: tuple[dict[str, Json], ...] = tuple(
        {"pattern": _spelt(one.pattern), "weight": one.weight, "lead": one.lead} for one in shown
    )
    return _answer(
        "builtin",
        str(found.outcome),
        language=found.language,
        confidence=found.confidence,
        reason=found.reason,
        pair=(found.candidate, found.runner_up),
        rows=rows,
    )


def _by_grammars(score: Score, ranking: Ranking) -> Success:
    outcome = "stamped" if score.stamp else "unsure" if score.language else "unconfirmed"
    rows: tuple[dict[str, Json], ...] = (
        {"grammar": ranking.top, "relevance": ranking.top_relevance},
        {"grammar": ranking.second, "relevance": ranking.second_relevance},
    )
    return _answer(
        "highlightjs",
        outcome,
        language=score.stamp,
        confidence=round(score.confidence, 4),
        pair=(ranking.top, ranking.second),
        rows=rows,
    )


def _answer(
    name: str,
    outcome: str,
    *,
    language: str | None = None,
    confidence: float = 0.0,
    reason: str = "",
    pair: tuple[str | None, str | None] = (None, None),
    rows: tuple[dict[str, Json], ...] = (),
) -> Success:
    candidate, runner_up = pair
    data: dict[str, Json] = {
        "detector": name,
        "language": language,
        "confidence": confidence,
        "outcome": outcome,
        "reason": reason,
        "candidate": candidate,
        "runnerUp": runner_up,
        "evidence": list(rows),
    }

    def text(screen: Screen) -> str:
        why = _WHY[outcome] + (f": {reason}" if reason else "")
        lines = [screen.paint(language or "no language", "bold") + f"  {why}"]
        if candidate:
            lines.append(f"  best {candidate} ({confidence:.2f}), then {runner_up or 'nothing'}")
        for row in rows:
            first, second = list(row.values())[:2]
            lines.append(f"  {second!s:>6}  {first}")
        return "\n".join(lines) + "\n"

    return Success("detect.result", data, text)


_MARKS = {"^": "line starts ", ">": "indented line starts ", "\x02": "lines ", "\x03": "size "}


def _spelt(pattern: str) -> str:
    """Return *pattern* in words where it begins with a mark of the feature alphabet."""
    if pattern == "\x01tab":
        return "indented by tabs"
    mark = _MARKS.get(pattern[0]) if len(pattern) > 1 else None
    return mark + pattern[1:] if mark else pattern
