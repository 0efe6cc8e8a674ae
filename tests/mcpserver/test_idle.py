"""What servers do while nobody asks: encode and follow, and be out of the way."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, cast

from memhtml.corpus import Corpus
from memhtml.index.database import cache_folder
from memhtml.mcpserver import idle as idle_module
from memhtml.mcpserver.desk import Desk
from memhtml.mcpserver.idle import LOCK_NAME, Idle
from memhtml.model.memory import Draft
from memhtml.model.vocabulary import MemoryType
from memhtml.providers.encoders.load import sparse_encoder
from memhtml.store.lock import Lock
from tests.mcpserver.peers import StdioPeer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pytest

    from memhtml.model.ports import SparseEncoder, SparseRow


def fill(root: Path, count: int) -> None:
    with Corpus.open(root, durability="none") as corpus:
        corpus.apply(
            [
                Draft(
                    title=f"Gate {n}",
                    memory_type=MemoryType.SEMANTIC,
                    claim=f"Gate number {n} opens at {n % 24}:00 for lorries of firm {n * 7}.",
                )
                for n in range(count)
            ]
        )


def covered(root: Path) -> float:
    with Corpus.open(root) as corpus:
        spaces = corpus.coverage()
    return spaces[0].share if spaces else 0.0


def until(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)


class Counting:
    """An encoder that counts the texts it was given."""

    def __init__(self, cache: Path) -> None:
        self._encoder = sparse_encoder("splade-tiny", cache)
        self.space_id = self._encoder.space_id
        self.texts: list[str] = []
        self.may_go = threading.Event()
        self.may_go.set()

    def encode_docs(self, texts: Sequence[str], **named: Any) -> list[SparseRow]:
        self.may_go.wait(30)
        self.texts += texts
        return self._encoder.encode_docs(texts, **named)


def test_two_servers_encode_what_was_written_while_nobody_asks(
    root: Path, splade_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMHTML_CACHE", str(splade_cache))
    fill(root, 40)
    with StdioPeer(root) as one, StdioPeer(root) as two:
        one.open()
        two.open()
        until(lambda: covered(root) == 1.0)
        one.call("memory_write", title="Dog", memory_type="semantic", body="A dog guards it.")
        assert covered(root) < 1.0
        until(lambda: covered(root) == 1.0)
        found = two.call("memory_search", query="which animal protects the place")
        assert found["structuredContent"]["degraded"] is False
        assert found["structuredContent"]["vector_coverage"] == 1.0
        assert one.finish() == []
        assert two.finish() == []
        assert one.stderr + two.stderr == b""


def test_a_call_that_comes_in_ends_the_work_and_a_quiet_moment_takes_it_up_again(
    root: Path, splade_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle_module, "_QUIET_SECONDS", 0.05)
    fill(root, 40)
    encoder = Counting(splade_cache)
    desk = Desk(lambda: Corpus.open(root, durability="none"))
    encoder.may_go.clear()
    with Idle(desk, lambda _: cast("SparseEncoder", encoder)):
        until((root / ".memhtml" / "cache" / LOCK_NAME).exists)
        desk.calls += 1
        desk._waiting += 1  # a call runs
        encoder.may_go.set()
        until(lambda: len(encoder.texts) == idle_module.BATCH_TEXTS)
        until(lambda: covered(root) > 0)  # what was encoded is kept
        time.sleep(0.3)
        assert len(encoder.texts) == idle_module.BATCH_TEXTS, "it went on beside a call"
        assert covered(root) < 1.0
        desk._waiting -= 1
        until(lambda: covered(root) == 1.0)
    desk.close()
    assert len(encoder.texts) == len({*encoder.texts}) == 40, "a text was encoded twice"


def test_while_another_server_encodes_this_one_does_not(
    root: Path, splade_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle_module, "_QUIET_SECONDS", 0.05)
    monkeypatch.setattr(idle_module, "_PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(idle_module, "_LOOK_SECONDS", 0.2)
    fill(root, 9)
    encoder = Counting(splade_cache)
    desk = Desk(lambda: Corpus.open(root, durability="none"))
    other = Lock(f"{cache_folder(str(root))}/{LOCK_NAME}", wait_seconds=0)
    other.acquire()
    with Idle(desk, lambda _: cast("SparseEncoder", encoder)):
        time.sleep(0.5)
        assert encoder.texts == []
        other.release()
        until(lambda: covered(root) == 1.0)
    desk.close()


def test_what_goes_wrong_is_told_once_and_costs_no_call_anything(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(idle_module, "_QUIET_SECONDS", 0.02)
    monkeypatch.setattr(idle_module, "_PATIENCE_SECONDS", 0.02)
    monkeypatch.setattr(idle_module, "_LOOK_SECONDS", 0.02)
    fill(root, 2)
    asked: list[str | None] = []

    def fail(name: str | None) -> None:
        asked.append(name)
        raise RuntimeError("the model is made of cheese")

    desk = Desk(lambda: Corpus.open(root, durability="none"))
    with Idle(desk, fail):
        until(lambda: len(asked) > 3)
    desk.close()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "cheese" in caplog.text
    assert set(asked) == {None}


def test_files_edited_by_hand_are_indexed_without_a_call(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle_module, "_QUIET_SECONDS", 0.02)
    monkeypatch.setattr(idle_module, "_LOOK_SECONDS", 0.1)
    fill(root, 1)
    desk = Desk(lambda: Corpus.open(root, durability="none"))
    with Idle(desk, lambda _: None), Corpus.open(root) as reader:
        path = next(iter(reader.indexed_files()))
        before = reader.indexed_files()[path]
        file = root / path
        file.write_bytes(file.read_bytes().replace(b"lorries", b"bicycles"))
        until(lambda: reader.indexed_files()[path] != before)
    desk.close()


def test_a_server_without_a_model_is_silent_about_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(root, 3)
    monkeypatch.setenv("MEMHTML_CACHE", str(tmp_path / "empty"))
    with StdioPeer(root) as peer:
        peer.open()
        time.sleep(2 * idle_module._QUIET_SECONDS)
        assert peer.call("memory_status")["structuredContent"]["vector_coverage"] == 0.0
        assert peer.finish() == []
        assert peer.stderr == b""
