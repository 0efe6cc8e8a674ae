"""``memhtml init`` and ``memhtml status``: a store made, and how it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Command
from memhtml.cli.envelope import Success
from memhtml.cli.stores import open_store, root_of, skipped_json

if TYPE_CHECKING:
    from memhtml.cli.command import Call
    from memhtml.cli.screen import Screen

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    Command(
        name="init",
        summary="Make a store, or complete one; does nothing where nothing is missing.",
        description=(
            "The store is --repo, else MEMHTML_ROOT, else ~/memhtml. A folder inside another "
            "repository becomes a repository of its own."
        ),
        response_types=("repo.init",),
        errors=("ERR_GIT", "ERR_STORAGE", "ERR_BUSY"),
        examples=("memhtml init", "memhtml init --repo ./memories"),
    ),
    Command(
        name="status",
        summary="Show how the store and its index are.",
        response_types=("status.health",),
        errors=("ERR_NOT_A_STORE", "ERR_INDEX_STALE", "ERR_GIT", "ERR_STORAGE"),
        examples=("memhtml status",),
    ),
)


def run(call: Call) -> Success:
    """Make a store, or tell how it is."""
    return _init(call) if call.command.name == "init" else _status(call)


def _init(call: Call) -> Success:
    from memhtml.corpus import Corpus  # noqa: PLC0415 - help needs none

    made = Corpus.init(root_of(call))

    def text(screen: Screen) -> str:
        from memhtml.cli.views.health import init_lines  # noqa: PLC0415 - only for people

        return init_lines(made, screen)

    return Success(
        "repo.init",
        {
            "root": made.root,
            "created": made.created,
            "headSha": made.head,
            "wrote": list(made.wrote),
            "kept": list(made.kept),
            "author": made.author,
            "hasOwnIdentity": made.has_own_identity,
        },
        text,
    )


def _status(call: Call) -> Success:
    from memhtml.cli.commands.index import coverage_json  # noqa: PLC0415 - help needs none
    from memhtml.cli.encoders import find_installed  # noqa: PLC0415 - as above
    from memhtml.index.state_file import has_usage  # noqa: PLC0415 - as above
    from memhtml.providers.languages import settings  # noqa: PLC0415 - as above

    with open_store(call) as corpus:
        health = corpus.status()

    def text(screen: Screen) -> str:
        from memhtml.cli.views.health import health_page  # noqa: PLC0415 - only for people

        return health_page(health, screen)

    index = health.index_status
    space = health.coverage[0] if health.coverage else None
    model = space and find_installed(call, space.space.partition("@")[0])
    return Success(
        "status.health",
        {
            "root": health.root,
            "headSha": health.head,
            "dirty": bool(health.dirty),
            "dirtyPaths": list(health.dirty),
            "countsByType": dict(health.counts_by_type),
            "archivedCount": health.archived,
            "indexFresh": index.is_fresh,
            "indexHeadSha": index.indexed,
            "chunks": index.chunks,
            "embeddings": space.covered if space else 0,
            "embedModel": space.space if space else None,
            "embedderUp": bool(space and space.covered and model and model.space_id == space.space),
            "vectorCoverage": space.share if space else 0.0,
            "coverage": coverage_json(health.coverage),
            "hasState": has_usage(health.root),
            "skipped": [skipped_json(file) for file in health.skipped],
            "detector": settings(call.world.env).name,
        },
        text,
    )
