"""Encoders on another machine: batching, retries, and a distrustful reading of what comes back.

Texts go out 96 to a request, six requests at a time. What comes back must have one finite vector of
the agreed width for every text, or nothing of it is used.

The HTTP is the standard library's. A request here is one POST of JSON; what a client library would
add, we must not have: a redirect would carry the key and the texts to an address nobody named.
"""

from __future__ import annotations

import json
import time
from hashlib import sha256
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from memhtml.model.errors import InvalidFlag, ModelUnavailable
from memhtml.providers.encoders.arrays import np
from memhtml.providers.encoders.parallel import mapped
from memhtml.scoring.vectors import unit_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy import float32
    from numpy.typing import NDArray

    from memhtml.model.ports import Progress, TextKind

__all__ = ["Options", "RemoteEncoder", "post_json"]

_TEXTS_PER_REQUEST = 96
_REQUESTS_IN_FLIGHT = 6
_ATTEMPTS = 4
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_RETRIED = (408, 429, 500, 502, 503, 504)
# 96 vectors of 4,096 numbers written out take 8 MB; this is a server gone wrong.
_LONGEST_ANSWER = 64 << 20
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class RemoteEncoder:
    """A dense encoder (`memhtml.model.ports.DenseEncoder`) behind a *call* to somewhere else."""

    def __init__(
        self,
        model: str,
        dims: int,
        call: Callable[[Sequence[str], TextKind], list[list[float]]],
        *,
        prefixes: tuple[str, str] = ("", ""),
    ) -> None:
        """*call* embeds up to 96 texts. *prefixes* go before documents and before questions."""
        self.space_id = f"{model}@{dims}"
        if any(prefixes):
            # The same model with other prefixes makes other vectors.
            self.space_id += "+" + sha256("\0".join(prefixes).encode()).hexdigest()[:6]
        self.dims = dims
        self._model = model
        self._call = call
        self._prefixes: dict[TextKind, str] = {"document": prefixes[0], "query": prefixes[1]}

    def encode(
        self, texts: Sequence[str], kind: TextKind, *, progress: Progress | None = None
    ) -> NDArray[float32]:
        """Return unit rows, float32, ``(len(texts), dims)``; see `DenseEncoder.encode`."""
        prefix = self._prefixes[kind]
        size = _TEXTS_PER_REQUEST
        batches = [
            [prefix + text for text in texts[start : start + size]]
            for start in range(0, len(texts), size)
        ]

        def tell(done: int, _: int, /) -> None:
            if progress:
                progress(min(done * size, len(texts)), len(texts))

        blocks = mapped(
            lambda batch: self._rows(batch, kind),
            batches,
            workers=_REQUESTS_IN_FLIGHT,
            progress=tell,
        )
        return np.concatenate([np.empty((0, self.dims), np.float32), *blocks])

    def _rows(self, texts: Sequence[str], kind: TextKind) -> NDArray[float32]:
        try:
            answer = self._call(texts, kind)
        except (ValueError, TypeError, KeyError, IndexError) as error:
            reason = "its answer is not a list of vectors of equal width"
            raise ModelUnavailable(self._model, reason) from error
        return unit_rows(answer, len(texts), self.dims, model=self._model)


class Options:
    """The options of one provider, each read once; `done` refuses those that nobody read."""

    def __init__(self, provider: str, values: Mapping[str, str]) -> None:
        self._provider = provider
        self._values = dict(values)

    def text(self, name: str, default: str | None = None) -> str:
        """Return an option; without a *default* it must be given.

        Raises:
            InvalidFlag: It is missing.
        """
        value = self._values.pop(name, default)
        if value is None:
            raise InvalidFlag(f"the embedder {self._provider!r} needs the option {name!r}")
        return value

    def number(self, name: str, default: int | None = None) -> int:
        """Return an option that is a whole number above 0.

        Raises:
            InvalidFlag: It is missing or not such a number.
        """
        value = self.text(name, None if default is None else str(default))
        if not (value.isascii() and value.isdigit() and int(value)):
            raise InvalidFlag(
                f"option {name!r} of the embedder {self._provider!r} is a whole number above 0, "
                f"not {value!r}"
            )
        return int(value)

    def url(self, name: str, default: str | None = None, *, secret: bool = False) -> str:
        """Return an option that is an http or https address, without a slash at its end.

        Raises:
            InvalidFlag: It is missing or no such address; or a *secret* goes with it, and it would
                cross a network in the clear.
        """
        value = self.text(name, default)
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidFlag(f"option {name!r} is an http or https address, not {value!r}")
        if secret and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise InvalidFlag(f"a key is not sent over plain http to {parts.hostname}; use https")
        return value.rstrip("/")

    def done(self) -> None:
        """Refuse what is left.

        Raises:
            InvalidFlag: An option was given that does not exist.
        """
        if self._values:
            name = min(self._values)
            raise InvalidFlag(f"the embedder {self._provider!r} has no option {name!r}")


def post_json(
    url: str,
    payload: Mapping[str, Any],
    *,
    model: str,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 60.0,
) -> Any:  # noqa: ANN401 - JSON
    """Return what *url* answers to *payload*, both JSON; try again when the server asks for it.

    Redirects are not followed, and a loopback address is never reached through a proxy.

    Raises:
        ModelUnavailable: There was no answer, or not one we can use. The message has none of the
            texts, nor anything that the server said, which may quote them.
    """
    body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
    request = Request(  # noqa: S310 - `Options.url` has let http and https through only
        url, body, {"Content-Type": "application/json", **(headers or {})}, method="POST"
    )
    opener = _opener(request.host)
    pause = _FIRST_PAUSE_S
    for attempt in range(1, _ATTEMPTS + 1):
        wait = pause
        try:
            with opener.open(request, timeout=timeout_s) as answer:
                data = answer.read(_LONGEST_ANSWER + 1)
        except HTTPError as error:
            with error:
                reason = f"{url} answered {error.code} {error.reason}"
                wait = max(pause, _seconds(error.headers.get("Retry-After")))
            if error.code not in _RETRIED:
                raise ModelUnavailable(model, reason, suggestions=_advice(error.code)) from error
        except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
            reason = f"{url} does not answer: {getattr(error, 'reason', error)}"
        else:
            return _parsed(data, url, model)
        if attempt < _ATTEMPTS:
            _pause(min(wait, _LONGEST_PAUSE_S))
            pause *= 2
    raise ModelUnavailable(model, f"{reason} (tried {_ATTEMPTS} times)")


_pause = time.sleep


def _opener(host: str) -> OpenerDirector:
    opener = OpenerDirector()
    # What `build_opener` has, less the handlers for redirects, other schemes and passwords.
    handlers = [HTTPHandler(), HTTPSHandler(), HTTPErrorProcessor(), HTTPDefaultErrorHandler()]
    if urlsplit(f"//{host}").hostname not in _LOOPBACK:
        handlers.append(ProxyHandler())
    for handler in handlers:
        opener.add_handler(handler)
    return opener


def _parsed(data: bytes, url: str, model: str) -> Any:  # noqa: ANN401 - JSON
    if len(data) > _LONGEST_ANSWER:
        raise ModelUnavailable(model, f"{url} answered more than {_LONGEST_ANSWER >> 20} MB")
    try:
        return json.loads(data)
    except ValueError as error:
        raise ModelUnavailable(model, f"{url} did not answer JSON") from error


def _seconds(value: str | None) -> float:
    # The header may also be a date; the pause we have is then as good as any.
    return float(value) if value and value.isascii() and value.isdigit() else 0.0


def _advice(status: int) -> tuple[str, ...]:
    if status in (401, 403):
        return ("check the key in your configuration",)
    if status == 404:
        return ("check the address and the model's name in your configuration",)
    return ()
