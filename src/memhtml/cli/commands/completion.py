"""``memhtml completion``: a script that teaches a shell the command table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memhtml.cli.command import Argument, Command
from memhtml.cli.envelope import Success

if TYPE_CHECKING:
    from memhtml.cli.command import Call

__all__ = ["COMMANDS", "run"]

COMMANDS = (
    Command(
        name="completion",
        summary="Print a completion script for bash, zsh or fish; needs no store.",
        description=(
            'bash: put  eval "$(memhtml completion bash)"  in ~/.bashrc. '
            "zsh: write the script to a file named _memhtml in a folder of $fpath. "
            "fish: write it to ~/.config/fish/completions/memhtml.fish.\n\n"
            "The script is printed as it is, in a pipe too, unless --json is given."
        ),
        arguments=(
            Argument(name="shell", summary="whose script", choices=("bash", "zsh", "fish")),
        ),
        is_about_store=False,
        response_types=("cli.completion",),
        examples=("memhtml completion bash",),
    ),
)


def run(call: Call) -> Success:
    """Answer with the script for the shell that *call* names."""
    from memhtml.cli.shells import SCRIPTS  # noqa: PLC0415 - imports every command

    shell = call.text("shell")
    script = SCRIPTS[shell]()
    return Success(
        "cli.completion",
        {"shell": shell, "script": script},
        lambda _: script,
        form="text",
    )
