"""Remote embedders, against a real HTTP server on this machine."""

from __future__ import annotations

import json
import math
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import EntryPoint, EntryPoints
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from memhtml.model.errors import InvalidFlag, ModelUnavailable
from memhtml.providers.encoders import load, remote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memhtml.model.ports import DenseEncoder, TextKind

Body = dict[str, Any]
Answer = tuple[int, dict[str, str], bytes]


class Server:
    """Answers every POST by `answer` and keeps what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], Body]] = []
        self.answer: Callable[[Body], Answer]
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, dict(self.headers), body))
                status, headers, data = outer.answer(body)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST  # noqa: N815 - http.server calls it; a followed redirect would arrive here

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def always(self, status: int, headers: dict[str, str] | None = None, data: bytes = b"") -> None:
        def answer(body: Body) -> Answer:
            del body
            return status, headers or {}, data

        self.answer = answer

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Keep the pauses between attempts instead of sleeping through them."""
    pauses: list[float] = []
    monkeypatch.setattr(remote, "_pause", pauses.append)
    return pauses


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, float(ord(text[-1]))]


def openai_answer(body: Body) -> Answer:
    data = [{"index": n, "embedding": vector(text)} for n, text in enumerate(body["input"])]
    return 200, {}, json.dumps({"data": data[::-1]}).encode()


def openai(server: Server, **options: str) -> remote.RemoteEncoder:
    given = {"url": server.url + "/v1/", "model": "m", "dims": "3"} | options
    encoder = load.provider_encoder("openai", given)
    assert isinstance(encoder, remote.RemoteEncoder)
    return encoder


def test_every_text_gets_its_own_unit_row_in_order_whatever_order_the_server_answers(
    server: Server,
) -> None:
    server.answer = openai_answer
    texts = [chr(97 + n % 26) * (1 + n % 40) for n in range(250)]
    heard: list[tuple[int, int]] = []
    rows = openai(server).encode(
        texts, "document", progress=lambda done, total: heard.append((done, total))
    )
    for row, text in zip(rows, texts, strict=True):
        length = math.hypot(*vector(text))
        assert row.tolist() == pytest.approx([x / length for x in vector(text)], abs=1e-6)
    assert rows.dtype == np.float32
    assert sorted(len(body["input"]) for _, _, body in server.asked) == [58, 96, 96]
    assert heard == [(96, 250), (192, 250), (250, 250)]


def test_no_texts_are_no_rows_and_no_request(server: Server) -> None:
    assert openai(server).encode([], "query").shape == (0, 3)
    assert server.asked == []


def test_key_kinds_prefixes_and_width_travel_as_configured(server: Server) -> None:
    server.answer = openai_answer
    encoder = openai(
        server,
        api_key="secret",
        shorten="true",
        document_type="search_document",
        query_type="search_query",
        document_prefix="passage: ",
        query_prefix="query: ",
    )
    encoder.encode(["a"], "document")
    encoder.encode(["b"], "query")
    (path, headers, first), (_, _, second) = server.asked
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == "Bearer secret"
    assert first == {
        "model": "m",
        "input": ["passage: a"],
        "encoding_format": "float",
        "dimensions": 3,
        "input_type": "search_document",
    }
    assert (second["input"], second["input_type"]) == (["query: b"], "search_query")


def test_a_server_on_this_machine_is_not_reached_through_a_proxy(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = openai_answer
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert openai(server).encode(["a"], "query").shape == (1, 3)


def test_without_a_key_none_is_sent(server: Server) -> None:
    server.answer = openai_answer
    openai(server).encode(["a"], "query")
    assert "Authorization" not in server.asked[0][1]


def test_other_prefixes_are_another_space(server: Server) -> None:
    plain = openai(server)
    assert plain.space_id == "m@3"
    assert openai(server, query_prefix="q: ").space_id.startswith("m@3+")


def test_ollama_is_asked_in_its_own_words(server: Server) -> None:
    server.answer = lambda body: (
        200,
        {},
        json.dumps({"embeddings": [vector(text) for text in body["input"]]}).encode(),
    )
    options = {"url": server.url, "model": "nomic", "dims": "3", "query_prefix": "search: "}
    encoder = load.provider_encoder("ollama", options)
    assert encoder.encode(["x", "yy"], "query").shape == (2, 3)
    assert server.asked[0][0] == "/api/embed"
    assert server.asked[0][2] == {
        "model": "nomic",
        "input": ["search: x", "search: yy"],
        "truncate": True,
    }


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_server_that_is_busy_is_asked_again(
    server: Server, no_pauses: list[float], status: int
) -> None:
    def answer(body: Body) -> Answer:
        if len(server.asked) < 3:
            return status, {"Retry-After": "7"} if len(server.asked) == 2 else {}, b""
        return openai_answer(body)

    server.answer = answer
    assert openai(server).encode(["a"], "query").shape == (1, 3)
    assert no_pauses == [0.5, 7.0]


def test_a_server_that_stays_busy_is_given_up_after_four_attempts(
    server: Server, no_pauses: list[float]
) -> None:
    server.always(503, {"Retry-After": "9999"})
    with pytest.raises(ModelUnavailable, match=r"503 .*tried 4 times"):
        openai(server).encode(["a"], "query")
    assert (len(server.asked), no_pauses) == (4, [30.0, 30.0, 30.0])


@pytest.mark.parametrize(("status", "advice"), [(401, "key"), (404, "address"), (400, None)])
def test_a_refusal_is_final_and_quotes_nothing_of_what_was_sent(
    server: Server, status: int, advice: str | None
) -> None:
    server.answer = lambda body: (status, {}, json.dumps(body).encode())
    with pytest.raises(ModelUnavailable) as caught:
        openai(server, api_key="hush").encode(["a private text"], "query")
    assert len(server.asked) == 1
    assert str(status) in caught.value.message
    assert "private" not in caught.value.message
    assert "hush" not in caught.value.message
    assert (advice is None) == (caught.value.suggestions == ())
    assert advice is None or advice in caught.value.suggestions[0]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(server: Server, status: int) -> None:
    elsewhere = Server()
    server.always(status, {"Location": elsewhere.url + "/v1/embeddings"})
    try:
        with pytest.raises(ModelUnavailable, match=str(status)):
            openai(server, api_key="secret").encode(["a"], "query")
        assert elsewhere.asked == []
    finally:
        elsewhere.close()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"<html>", id="not JSON"),
        pytest.param(b"[]", id="another JSON"),
        pytest.param(b'{"data": [{"index": 0}]}', id="no vector"),
        pytest.param(b'{"data": []}', id="too few"),
        pytest.param(b'{"data": [{"index": 0, "embedding": [1, 2]}]}', id="too narrow"),
        pytest.param(b'{"data": [{"index": 0, "embedding": [1, 2, NaN]}]}', id="not a number"),
        pytest.param(b'{"data": [{"index": 0, "embedding": [0, 0, 0]}]}', id="no direction"),
        pytest.param(b'{"data": [{"index": 0, "embedding": ["a", 2, 3]}]}', id="not numbers"),
    ],
)
def test_an_answer_of_another_shape_is_refused_whole(server: Server, data: bytes) -> None:
    server.always(200, data=data)
    with pytest.raises(ModelUnavailable):
        openai(server).encode(["a"], "query")


def test_an_endless_answer_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_LONGEST_ANSWER", 1000)
    server.always(200, data=b" " * 1001)
    with pytest.raises(ModelUnavailable, match="more than"):
        openai(server).encode(["a"], "query")


def test_a_server_that_is_not_there_is_unavailable(no_pauses: list[float]) -> None:
    gone = Server()
    gone.close()
    with pytest.raises(ModelUnavailable, match="does not answer"):
        openai(gone).encode(["a"], "query")
    assert len(no_pauses) == 3


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"url": "ftp://127.0.0.1/v1"}, "http or https"),
        ({"url": "file:///etc/passwd"}, "http or https"),
        ({"url": "/v1"}, "http or https"),
        ({"url": "http://example.org/v1", "api_key": "k"}, "plain http"),
        ({"dims": "0"}, "whole number"),
        ({"dims": "many"}, "whole number"),
        ({"colour": "red"}, "no option 'colour'"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(
    server: Server, changed: dict[str, str], reason: str
) -> None:
    with pytest.raises(InvalidFlag, match=reason):
        openai(server, **changed)


def test_an_option_that_is_missing_is_named() -> None:
    with pytest.raises(InvalidFlag, match="'url'"):
        load.provider_encoder("openai", {"model": "m", "dims": "3"})


def test_a_provider_of_another_distribution_is_found_by_its_entry_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = EntryPoints(
        [
            EntryPoint("ours", f"{__name__}:made_elsewhere", load.ENTRY_POINTS),
            EntryPoint("broken", "no.such.module:f", load.ENTRY_POINTS),
        ]
    )
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda *, group: points.select(group=group)
    )
    monkeypatch.setitem(sys.modules, __name__, _this_module())
    assert load.provider_encoder("ours", {"dims": "5"}).dims == 5
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        load.provider_encoder("broken", {})
    with pytest.raises(ModelUnavailable, match="bedrock, broken, ollama, openai, ours"):
        load.provider_encoder("other", {})


def made_elsewhere(options: dict[str, str]) -> remote.RemoteEncoder:
    def call(texts: Sequence[str], kind: TextKind) -> list[list[float]]:
        raise NotImplementedError(texts, kind)

    return remote.RemoteEncoder("elsewhere", int(options["dims"]), call)


def _this_module() -> types.ModuleType:
    module = types.ModuleType(__name__)
    module.__dict__.update(globals())
    return module


class TestBedrock:
    @pytest.fixture(autouse=True)
    def credentials(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("boto3", reason="boto3 is not installed: Bedrock is not tested")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")

    def test_cohere_is_asked_in_its_own_words(self, server: Server) -> None:
        server.answer = lambda body: (
            200,
            {"Content-Type": "application/json"},
            json.dumps({"embeddings": {"float": [vector(t) for t in body["texts"]]}}).encode(),
        )
        encoder = self.encoder(server)
        assert encoder.space_id == "cohere.embed-v4:0@3"
        assert encoder.encode(["a", "b"], "document").shape == (2, 3)
        path, _, body = server.asked[0]
        assert path == "/model/cohere.embed-v4%3A0/invoke"
        assert body == {
            "texts": ["a", "b"],
            "input_type": "search_document",
            "embedding_types": ["float"],
            "output_dimension": 3,
        }

    def test_a_refusal_gives_its_code_and_no_text(self, server: Server) -> None:
        server.always(
            400,
            {"x-amzn-ErrorType": "ValidationException", "Content-Type": "application/json"},
            json.dumps({"message": "cannot embed 'a private text'"}).encode(),
        )
        with pytest.raises(ModelUnavailable, match="ValidationException") as caught:
            self.encoder(server).encode(["a private text"], "query")
        assert "private" not in caught.value.message

    def test_no_region_is_said_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
        with pytest.raises(ModelUnavailable, match="region"):
            load.provider_encoder("bedrock", {})

    def encoder(self, server: Server) -> DenseEncoder:
        options = {"dims": "3", "region": "eu-west-1", "endpoint_url": server.url}
        return load.provider_encoder("bedrock", options)


def test_bedrock_speaks_to_cohere_only() -> None:
    with pytest.raises(InvalidFlag, match="Cohere"):
        load.provider_encoder("bedrock", {"model": "amazon.titan-embed-text-v2:0"})


def test_bedrock_without_boto3_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(ModelUnavailable, match="boto3") as caught:
        load.provider_encoder("bedrock", {})
    assert caught.value.suggestions == ("python -m pip install 'boto3>=1.35,<2'",)
