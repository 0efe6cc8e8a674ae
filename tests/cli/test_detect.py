from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.calls import call

if TYPE_CHECKING:
    from pathlib import Path

RUST = b"fn main() {\n    let mut x = Vec::new();\n    x.push(1u8);\n}\n"


def test_a_stamp_comes_with_its_confidence_and_evidence() -> None:
    data = call("detect", stdin=RUST).data
    assert data["language"] == data["candidate"] == "rust"
    assert data["outcome"] == "stamped"
    assert data["confidence"] >= 0.8
    assert data["runnerUp"] not in {None, "rust"}
    assert all(set(one) == {"pattern", "weight", "lead"} for one in data["evidence"])
    assert data["evidence"][0]["weight"] > 0


def test_a_file_reads_like_standard_input(tmp_path: Path) -> None:
    (tmp_path / "snippet.txt").write_bytes(RUST.replace(b"\n", b"\r\n"))
    assert call("detect", "snippet.txt", cwd=tmp_path).out == call("detect", "-", stdin=RUST).out


def test_text_that_gets_no_stamp_says_why() -> None:
    data = call("detect", stdin=b"x" * 4097).data
    assert (data["language"], data["outcome"], data["evidence"]) == (None, "too-long", [])
    log = b"[INFO] the kiln is hot\n[WARN] the door is open\n"
    assert call("detect", stdin=log).data["language"] is None


def test_people_read_the_language_first() -> None:
    shown = call("detect", "--text", stdin=RUST).out.splitlines()
    assert shown[0].startswith("rust  the model is sure")
    assert "best rust" in shown[1]
    assert len(shown) > 3
    assert "\x02" not in "".join(shown)


def test_a_detector_that_is_off_stamps_nothing() -> None:
    data = call("detect", stdin=RUST, env={"MEMHTML_DETECTOR": "off"}).data
    assert (data["detector"], data["language"]) == ("off", None)


def test_a_file_that_is_not_there_is_a_storage_error(tmp_path: Path) -> None:
    result = call("detect", "none.txt", cwd=tmp_path)
    assert result.status == 1
    assert result.json["code"] == "ERR_STORAGE"


def test_a_detector_of_another_name_is_a_usage_error() -> None:
    result = call("detect", stdin=RUST, env={"MEMHTML_DETECTOR": "magic"})
    assert result.status == 2
    assert result.json["code"] == "ERR_INVALID_FLAG"
