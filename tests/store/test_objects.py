from __future__ import annotations

import subprocess
from struct import unpack_from
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memhtml.store import packs
from memhtml.store.durability import Barrier, Durability
from memhtml.store.objects import LooseWriter, object_sha, read_loose
from memhtml.store.packs import PackWriter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.store.sandbox import Sandbox


@pytest.fixture(params=list(Durability))
def barrier(request: pytest.FixtureRequest, tmp_path: Path) -> Barrier:
    return Barrier(request.param, str(tmp_path))


def write_objects(
    make: Callable[[str, str, Barrier], LooseWriter | PackWriter],
    store: Sandbox,
    barrier: Barrier,
    blobs: list[bytes],
) -> list[str]:
    tmp = store.root / ".git" / "tmp"
    tmp.mkdir(exist_ok=True)
    writer = make(str(store.root / ".git" / "objects"), str(tmp), barrier)
    shas = [writer.add("blob", blob) for blob in blobs]
    if isinstance(writer, PackWriter):
        writer.seal()
    barrier.settle()
    writer.finish()
    assert list(tmp.iterdir()) == []
    return shas


@pytest.mark.parametrize("make", [LooseWriter, PackWriter])
def test_git_reads_back_every_object_we_write(
    make: Callable[[str, str, Barrier], LooseWriter | PackWriter], store: Sandbox, barrier: Barrier
) -> None:
    # Sizes around the places where a pack's variable-length size grows by a byte.
    sizes = [0, 1, 15, 16, 127, 128, 2047, 2048, 300_000]
    blobs = [bytes([size % 251]) * size for size in sizes] + [b"twice", b"twice"]
    shas = write_objects(make, store, barrier, blobs)
    for sha, blob in zip(shas, blobs, strict=True):
        read = subprocess.run(
            ["git", "-C", str(store.root), "cat-file", "blob", sha], capture_output=True, check=True
        )
        assert read.stdout == blob
    assert store.git("fsck", "--strict", "--full", "--no-dangling") == ""


def test_an_object_that_exists_is_made_young_and_not_written_again(
    store: Sandbox, tmp_path: Path
) -> None:
    barrier = Barrier(Durability.NONE, str(tmp_path))
    (sha,) = write_objects(LooseWriter, store, barrier, [b"once"])
    place = store.root / ".git" / "objects" / sha[:2] / sha[2:]
    inode = place.stat().st_ino
    subprocess.run(["touch", "-d", "2001-01-01", str(place)], check=True)
    write_objects(LooseWriter, store, barrier, [b"once"])
    assert place.stat().st_ino == inode
    assert place.stat().st_mtime > 1_000_000_000


def test_a_damaged_loose_object_is_left_for_git_to_explain(store: Sandbox, tmp_path: Path) -> None:
    (sha,) = write_objects(LooseWriter, store, Barrier(Durability.NONE, str(tmp_path)), [b"whole"])
    objects = store.root / ".git" / "objects"
    assert read_loose(str(objects), sha) == ("blob", b"whole")
    place = objects / sha[:2] / sha[2:]
    place.chmod(0o644)
    place.write_bytes(place.read_bytes()[:-4])
    assert read_loose(str(objects), sha) is None
    assert read_loose(str(objects), "0" * 40) is None


def test_a_pack_beyond_two_gigabytes_has_its_far_offsets_in_eight_bytes() -> None:
    near, far = object_sha("blob", b"near"), object_sha("blob", b"far")
    index = packs._index({near: (12, 1), far: (5 << 30, 2)}, b"t" * 20) + b"s" * 20
    shown = subprocess.run(["git", "show-index"], input=index, capture_output=True, check=True)
    rows = {sha: int(at) for at, sha, *_ in map(str.split, shown.stdout.decode().splitlines())}
    assert rows == {near: 12, far: 5 << 30}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.integers(1, 3), size=st.integers(0, 1 << 40))
def test_a_pack_entrys_header_holds_its_kind_and_size(kind: int, size: int) -> None:
    header = packs._entry_header(kind, size)
    found, shift = header[0] & 15, 4
    for byte in header[1:]:
        found |= (byte & 127) << shift
        shift += 7
    assert (found, header[0] >> 4 & 7) == (size, kind)
    assert [byte >> 7 for byte in header] == [1] * (len(header) - 1) + [0]
    assert unpack_from(">B", header)
