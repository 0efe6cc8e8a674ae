"""Language models, of any vendor or on this machine, through pydantic-ai.

Which model, and where it is, comes from the caller or the user's environment and never from a
store: a cloned store must not be able to reach anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from memhtml.model.errors import InvalidFlag, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai.models import Model

__all__ = ["ModelChoice", "choose_model", "open_model"]

_OFF = frozenset({"", "off", "none"})
_name_re = re.compile(r"[a-z][a-z0-9-]*:\S+")


class ModelChoice(NamedTuple):
    """A model, and how to reach it."""

    name: str
    """``vendor:model`` as pydantic-ai knows it, such as ``anthropic:claude-sonnet-4-5``."""
    url: str | None = None
    """Of an endpoint that speaks OpenAI's chat protocol; *name* is then the model's name there."""
    key: str | None = None
    """What the endpoint at *url* asks for; vendors' own keys are read by their libraries."""


def choose_model(environ: Mapping[str, str], name: str | None = None) -> ModelChoice | None:
    """Return the model that *name*, or else ``MEMHTML_LLM``, means; None for ``off`` or nothing.

    ``MEMHTML_LLM_URL`` names an endpoint that speaks OpenAI's chat protocol, such as one on this
    machine, and ``MEMHTML_LLM_KEY`` its key.

    Raises:
        InvalidFlag: The name is not of the form ``vendor:model``, and no endpoint is named.
    """
    wanted = (environ.get("MEMHTML_LLM", "") if name is None else name).strip()
    if wanted.lower() in _OFF:
        return None
    url = environ.get("MEMHTML_LLM_URL") or None
    if url is None and not _name_re.fullmatch(wanted):
        raise InvalidFlag(
            f"{wanted!r} names no language model; write vendor:model, such as ollama:qwen3, or set "
            "MEMHTML_LLM_URL to an endpoint that speaks OpenAI's chat protocol"
        )
    return ModelChoice(wanted, url, environ.get("MEMHTML_LLM_KEY") or None)


def open_model(choice: ModelChoice) -> Model:
    """Return the model; nothing is sent yet.

    Raises:
        ModelUnavailable: The library for it is not installed, or there is no such vendor or key.
    """
    try:
        return _endpoint(choice) if choice.url else _vendor(choice)
    except ImportError as error:
        raise ModelUnavailable(
            choice.name,
            f"{error.name or 'pydantic_ai'} is not installed",
            suggestions=('pip install "memhtml[llm]"',),
        ) from error


def _endpoint(choice: ModelChoice) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - heavy and optional
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - as above

    # A server on this machine asks for no key, and the library insists on one.
    provider = OpenAIProvider(base_url=choice.url, api_key=choice.key or "none")
    return OpenAIChatModel(choice.name.removeprefix("openai:"), provider=provider)


def _vendor(choice: ModelChoice) -> Model:
    from pydantic_ai.exceptions import UserError  # noqa: PLC0415 - heavy and optional
    from pydantic_ai.models import infer_model  # noqa: PLC0415 - as above

    try:
        model: Any = infer_model(choice.name)
    except (UserError, ValueError) as error:
        raise ModelUnavailable(choice.name, _first_line(error)) from error
    return model  # type: ignore[no-any-return]


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
