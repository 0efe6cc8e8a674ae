"""The forward pass, against the same model worked out in plain Python."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memhtml.model.errors import InvalidFlag, ModelUnavailable
from memhtml.providers import models
from memhtml.providers.encoders import load
from memhtml.providers.encoders.splade import WEIGHT_SCALE
from memhtml.providers.encoders.wordpiece import WordPiece
from tests.providers import tiny_bert

if TYPE_CHECKING:
    from pathlib import Path

    from memhtml.providers.encoders.sentence import SentenceEncoder
    from memhtml.providers.encoders.splade import Splade

TEXTS = [
    "the cat sat on the mat",
    "Undo, undoing!",
    "café house",
    "a",
    "deep blue sea tree red blue deep sea tree red blue deep sea",
]
# One word vector is stored in 255 steps, so a weight may land a few steps from the exact one.
TOLERANCE = 3


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """One cache folder with the sparse model (True), one with the dense."""
    folders = {}
    for head in (True, False):
        folders[head] = tmp_path_factory.mktemp("cache")
        wheel, spec = tiny_bert.wheel(folders[head], head=head)
        models.add(spec, folders[head], archive=wheel)
    return folders


@pytest.fixture(scope="module")
def sparse(caches: dict[bool, Path]) -> Splade:
    return load.sparse_encoder("tiny", caches[True])


@pytest.fixture(scope="module")
def dense(caches: dict[bool, Path]) -> SentenceEncoder:
    return load.dense_encoder("tiny", caches[False])


def ids(text: str) -> list[int]:
    return WordPiece(tiny_bert.VOCABULARY).ids(text, tiny_bert.LONGEST)


@pytest.mark.parametrize("text", TEXTS)
def test_a_sparse_row_is_what_the_model_says_about_each_term(sparse: Splade, text: str) -> None:
    (row,) = sparse.encode_docs([text])
    exact = tiny_bert.term_weights(ids(text))
    found = dict(zip(row.terms, row.weights, strict=True))
    assert found
    for number, piece in enumerate(tiny_bert.VOCABULARY):
        if not piece.removeprefix("##").isalnum() or not piece.isascii():
            assert number not in found, f"{piece} is no term"
        else:
            wanted = min(exact[number] * WEIGHT_SCALE, 255)
            assert found.get(number, 0) == pytest.approx(wanted, abs=TOLERANCE), piece


def test_rows_ascend_and_carry_no_zero(sparse: Splade) -> None:
    for row in sparse.encode_docs(TEXTS):
        assert list(row.terms) == sorted(set(row.terms))
        assert len(row.terms) == len(row.weights)
        assert all(row.weights)


def test_only_the_heaviest_terms_are_kept(sparse: Splade, monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = sparse.encode_docs([TEXTS[0]])
    monkeypatch.setattr("memhtml.providers.encoders.splade.KEPT_TERMS", 5)
    (cut,) = sparse.encode_docs([TEXTS[0]])
    by_weight = sorted(zip(whole.weights, whole.terms, strict=True), key=lambda x: (-x[0], x[1]))
    assert cut.terms == tuple(sorted(term for _, term in by_weight[:5]))


@pytest.mark.parametrize("text", ["", "  ", "!?", "и 京", "日本語"])
def test_a_text_with_nothing_to_read_has_an_empty_row(sparse: Splade, text: str) -> None:
    assert sparse.encode_docs([text]) == [((), b"")]


def test_a_batch_equals_its_parts_whoever_computes_it(sparse: Splade) -> None:
    alone = [sparse.encode_docs([text])[0] for text in TEXTS]
    assert sparse.encode_docs(TEXTS) == alone
    assert sparse.encode_docs(TEXTS[::-1], workers=3) == alone[::-1]


def test_progress_counts_texts_and_can_stop_the_work(sparse: Splade) -> None:
    heard: list[tuple[int, int]] = []
    sparse.encode_docs(TEXTS, workers=2, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(n, len(TEXTS)) for n in range(1, len(TEXTS) + 1)]

    def stop(done: int, _: int, /) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sparse.encode_docs(TEXTS, workers=2, progress=stop)


def test_a_question_asks_about_what_its_pieces_expand_to(sparse: Splade) -> None:
    asked = sparse.query("the cat undoing")
    wanted: dict[int, float] = {}
    for piece in ("cat", "un", "##do", "##ing"):
        number = tiny_bert.VOCABULARY.index(piece)
        exact = tiny_bert.term_weights([3, number, 4])
        terms = [n for n, name in enumerate(tiny_bert.VOCABULARY) if name.strip("#").isalnum()]
        terms = [n for n in terms if tiny_bert.VOCABULARY[n].isascii()]
        for term in sorted(terms, key=lambda n: -exact[n])[:8]:
            wanted[term] = max(wanted.get(term, 0), min(exact[term] * WEIGHT_SCALE, 255))
    # Rounding may let the eighth and the ninth change places, so compare what both have.
    common = asked.keys() & wanted.keys()
    assert len(common) >= len(wanted) - 3
    assert all(asked[n] == pytest.approx(wanted[n], abs=TOLERANCE) for n in common)


def test_a_dense_row_is_the_mean_of_the_last_layer_at_length_one(dense: SentenceEncoder) -> None:
    rows = dense.encode(TEXTS, "document")
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), dense.dims) == (len(TEXTS), tiny_bert.WIDTH)
    for row, text in zip(rows, TEXTS, strict=True):
        columns = zip(*tiny_bert.hidden(ids(text), head=False), strict=True)
        mean = [sum(column) for column in columns]
        length = math.sqrt(sum(x * x for x in mean))
        cosine = sum(float(a) * b / length for a, b in zip(row, mean, strict=True))
        # All matrices are stored in 255 steps; the direction hardly moves.
        assert cosine > 0.999
        assert float(np.linalg.norm(row)) == pytest.approx(1, abs=1e-6)


def test_questions_and_documents_are_read_alike_and_nothing_is_no_rows(
    dense: SentenceEncoder,
) -> None:
    assert np.array_equal(dense.encode(TEXTS, "query"), dense.encode(TEXTS, "document"))
    assert dense.encode([], "query").shape == (0, dense.dims)


def test_a_text_longer_than_the_model_is_read_as_far_as_it_goes(sparse: Splade) -> None:
    words = ["sea"] * (tiny_bert.LONGEST - 2)
    assert sparse.encode_docs([" ".join([*words, "cat"])]) == sparse.encode_docs([" ".join(words)])


def test_a_space_is_named_by_the_model_and_its_weights(
    sparse: Splade, dense: SentenceEncoder, caches: dict[bool, Path]
) -> None:
    for encoder, cache in ((sparse, caches[True]), (dense, caches[False])):
        digest = models._sha256(cache / "models/tiny/weights.bin")
        assert encoder.space_id == f"tiny@{digest[:12]}"
    assert sparse.space_id != dense.space_id


def test_a_model_that_was_not_added_is_unavailable_with_the_command_to_add_it(
    tmp_path: Path,
) -> None:
    for opened in (load.query_table, load.sparse_encoder, load.dense_encoder):
        with pytest.raises(ModelUnavailable, match="has not been added") as caught:
            opened("tiny", tmp_path)
        assert caught.value.suggestions == ("memhtml model add tiny",)


@pytest.mark.parametrize("name", ["../../store", "..", "a/b", "/etc", "C:x", ""])
def test_a_name_cannot_lead_out_of_the_cache_folder(tmp_path: Path, name: str) -> None:
    for opened in (load.query_table, load.sparse_encoder, load.dense_encoder):
        with pytest.raises(InvalidFlag):
            opened(name, tmp_path)


def test_damaged_files_are_unavailable_not_a_crash(tmp_path: Path) -> None:
    wheel, spec = tiny_bert.wheel(tmp_path, head=True)
    models.add(spec, tmp_path, archive=wheel)
    for name, open_ in (("weights.bin", load.sparse_encoder), ("queries.bin", load.query_table)):
        path = tmp_path / "models/tiny" / name
        path.write_bytes(path.read_bytes()[:200])
        with pytest.raises(ModelUnavailable, match="cannot be read"):
            open_("tiny", tmp_path)


def test_without_numpy_a_model_is_unavailable_with_the_command_to_install_it(
    caches: dict[bool, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [n for n in sys.modules if n.startswith("memhtml.providers.encoders.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ModelUnavailable, match="numpy") as caught:
        load.sparse_encoder("tiny", caches[True])
    assert caught.value.suggestions == ("python -m pip install 'numpy>=1.26,<3'",)
    with pytest.raises(ModelUnavailable, match="numpy") as caught:
        load.provider_encoder("ollama", {"model": "m", "dims": "3"})
    assert caught.value.suggestions == ("python -m pip install 'numpy>=1.26,<3'",)
