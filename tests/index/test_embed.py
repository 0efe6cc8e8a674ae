from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memhtml.index import embed as embed_module
from memhtml.index import vectors
from memhtml.index.chunks import chunk_text
from memhtml.index.embed import coverage, embed
from memhtml.index.indexer import rebuild, update
from memhtml.model.errors import EmbedModelMismatch, IndexStale
from memhtml.scoring.sparse import inverted, scores, unpack_row
from tests.index.encoders import WordEncoder, term
from tests.index.stores import NOW, Store, memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float32
    from numpy.typing import NDArray

    from memhtml.index.database import Index
    from memhtml.model.ports import Progress, SparseRow, TextKind
    from memhtml.store.repo import Repo

A, B = "areas/a.html", "areas/b.html"


class HashVectors:
    space_id = "hashes@000000000001"
    dims = 3

    def encode(
        self, texts: Sequence[str], kind: TextKind, *, progress: Progress | None = None
    ) -> NDArray[float32]:
        import numpy as np  # noqa: PLC0415 - only where it is installed

        del progress
        assert kind == "document"
        rows = np.array([[len(text), text.count("o"), 1] for text in texts], np.float32)
        unit: NDArray[float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def fill(store: Store, count: int) -> None:
    for number in range(count):
        store.put(f"areas/{number}.html", memory(f"fact number {number} about owls {number % 7}"))
    store.commit()


def space(index: Index, name: str = "words@000000000001") -> vectors.Space:
    found = vectors.find_space(index.connection, "sparse", name)
    assert found is not None
    return found


def paths_scored(index: Index, word: str) -> dict[str, int]:
    """Score each file as a search does: postings, then the chunks of the texts that scored."""
    connection = index.connection
    found = vectors.postings(connection, space(index), [term(word)])
    totals = scores([(1, posting) for _, posting in found], vectors.text_limit(connection))
    rows = connection.execute(
        "SELECT f.path, c.text_id FROM chunks c JOIN files f ON f.id = c.file_id"
    )
    return {path: totals[text_id] for path, text_id in rows if totals[text_id]}


def stored_rows(index: Index) -> dict[bytes, tuple[bytes, bytes]]:
    sql = "SELECT t.hash, d.terms, d.weights FROM sp_doc d JOIN texts t ON t.id = d.text_id"
    return {text: (terms, weights) for text, terms, weights in index.connection.execute(sql)}


def postings_agree_with_rows(index: Index) -> bool:
    connection = index.connection
    rows = list(connection.execute("SELECT text_id, terms, weights FROM sp_doc"))
    wanted = inverted((n, unpack_row(terms, weights)) for n, terms, weights in rows)
    found: dict[int, list[tuple[int, int]]] = {}
    for number, posting in vectors.postings(connection, space(index), list(wanted)):
        pairs = zip(memoryview(posting.docs).cast("I"), posting.weights, strict=True)
        found.setdefault(number, []).extend(pairs)
    return {number: sorted(pairs) for number, pairs in found.items()} == {
        number: sorted(zip(memoryview(p.docs).cast("I"), p.weights, strict=True))
        for number, p in wanted.items()
    }


def test_every_text_is_encoded_once_with_its_title_and_claim(
    store: Store, repo: Repo, index: Index
) -> None:
    long = " ".join(f"Sentence {n} is about barns." for n in range(200))
    store.put(A, memory("Owls hunt at night", title="On owls", body=long))
    store.commit()
    update(index, repo, now=NOW)
    encoder = WordEncoder()
    done = embed(index, encoder)
    assert done.written == len(encoder.encoded) == done.coverage.texts > 2
    assert all(text.startswith("On owls\n") for text in encoder.encoded)
    assert all("Owls hunt at night" in text for text in encoder.encoded)
    assert all(len(text) <= index.chunk_chars for text in encoder.encoded)
    assert "Sentence 199" in encoder.encoded[-1]
    assert embed(index, encoder).written == 0
    assert done.coverage.share == 1


def test_an_interrupted_run_is_taken_up_where_it_stopped(
    store: Store, repo: Repo, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed_module, "BATCH_TEXTS", 4)
    fill(store, 30)
    update(index, repo, now=NOW)
    encoder = WordEncoder()

    def stop(done: int, total: int) -> None:
        assert total == 30
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(index, encoder, progress=stop)
    assert [(c.covered, c.texts) for c in coverage(index)] == [(8, 30)]
    done = embed(index, encoder)
    assert (done.written, len(encoder.encoded), len(set(encoder.encoded))) == (22, 30, 30)
    segments = index.connection.execute("SELECT count(*), sum(texts) FROM sp_segments")
    ((count, texts),) = segments
    assert count <= vectors.MAX_SEGMENTS
    assert texts == 30
    assert postings_agree_with_rows(index)
    assert len(paths_scored(index, "owls")) == 30
    assert set(paths_scored(index, "17")) == {"areas/17.html"}


def test_moves_head_edits_and_undone_edits_cost_no_encoding(
    store: Store, repo: Repo, index: Index
) -> None:
    first = memory("Owls hunt at night", tags=("one",))
    store.put(A, first)
    store.put(B, memory("Bats too"))
    store.commit()
    update(index, repo, now=NOW)
    embed(index, WordEncoder())
    encoder = WordEncoder()
    store.put(A, memory("Owls hunt at night", tags=("two",)))
    store.move(B, f"archive/2026/{B}")
    update(index, repo, now=NOW)
    assert embed(index, encoder).written == 0
    store.put(A, memory("Owls hunt by day"))
    update(index, repo, now=NOW)
    assert coverage(index)[0].covered == 1
    assert not paths_scored(index, "owls")
    store.put(A, first)
    update(index, repo, now=NOW)
    assert coverage(index)[0].share == 1
    assert embed(index, encoder).written == 0
    assert paths_scored(index, "owls") == {A: 4}


def test_vectors_survive_a_rebuild(store: Store, repo: Repo, index: Index) -> None:
    fill(store, 20)
    update(index, repo, now=NOW)
    embed(index, WordEncoder())
    before = stored_rows(index)
    store.put("areas/3.html", memory("something new"))
    store.delete("areas/4.html")
    rebuild(index, repo, now=NOW)
    assert [(c.covered, c.texts) for c in coverage(index)] == [(18, 19)]
    assert stored_rows(index) == before
    encoder = WordEncoder()
    embed(index, encoder)
    assert [text.rpartition("\n")[2] for text in encoder.encoded] == ["something new"]
    assert postings_agree_with_rows(index)
    assert "areas/4.html" not in paths_scored(index, "owls")


def test_another_space_is_refused_or_migrated_and_never_mixed(
    store: Store, repo: Repo, index: Index
) -> None:
    fill(store, 3)
    update(index, repo, now=NOW)
    embed(index, WordEncoder())
    other = WordEncoder("words@000000000002")
    with pytest.raises(EmbedModelMismatch) as caught:
        embed(index, other)
    assert (caught.value.indexed, caught.value.configured) == (
        "words@000000000001",
        "words@000000000002",
    )
    assert vectors.find_space(index.connection, "sparse", other.space_id) is None
    assert embed(index, other, migrate=True).written == 3
    assert [c.space for c in coverage(index)] == [other.space_id]
    assert vectors.find_space(index.connection, "sparse", "words@000000000001") is None
    for table in ("sp_doc", "sp_post", "sp_segments"):
        spaces = index.connection.execute(f"SELECT DISTINCT space_id FROM {table}")  # noqa: S608 - ours
        assert list(spaces) == [(space(index, other.space_id).id,)]


def test_texts_that_no_file_has_any_more_leave_when_they_are_many(
    store: Store, repo: Repo, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, 12)
    update(index, repo, now=NOW)
    embed(index, WordEncoder())
    for number in range(1, 12):
        store.delete(f"areas/{number}.html")
    store.commit()
    update(index, repo, now=NOW)
    embed(index, WordEncoder())
    assert len(stored_rows(index)) == 12
    monkeypatch.setattr(vectors, "FEW_TEXTS", 3)
    embed(index, WordEncoder())
    assert len(stored_rows(index)) == 1
    assert postings_agree_with_rows(index)
    assert [(c.covered, c.texts) for c in coverage(index)] == [(1, 1)]


def test_a_batch_of_an_index_that_was_rebuilt_meanwhile_names_no_other_text(
    store: Store, repo: Repo, index: Index
) -> None:
    store.put(A, memory("Owls hunt at night"))
    store.commit()
    update(index, repo, now=NOW)

    class Meddler(WordEncoder):
        def encode_docs(self, texts: Sequence[str], **_: object) -> list[SparseRow]:
            with index.writing("number texts anew") as connection:
                connection.execute("UPDATE texts SET hash = ?", (b"another text",))
            return super().encode_docs(texts)

    assert embed(index, Meddler()).written == 0
    assert stored_rows(index) == {}


def test_dense_vectors_come_back_as_they_went_in_across_pages(
    store: Store, repo: Repo, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")
    monkeypatch.setattr(embed_module, "BATCH_TEXTS", 50)
    fill(store, 150)
    update(index, repo, now=NOW)
    encoder = HashVectors()
    assert embed(index, encoder).written == 150
    connection = index.connection
    found = vectors.find_space(connection, "dense", encoder.space_id)
    assert found is not None
    assert found.covered == 150
    wanted = {}
    rows = connection.execute(
        "SELECT c.text_id, f.title, f.gist, b.text FROM chunks c "
        "JOIN files f ON f.id = c.file_id JOIN bodies b ON b.file_id = c.file_id"
    )
    for text_id, title, claim, body in rows:
        (vector,) = encoder.encode([chunk_text(title, claim, body)], "document")
        wanted[text_id] = vector.tobytes()
    some = list(wanted)[::7]
    assert vectors.dense_vectors(connection, found, some) == {n: wanted[n] for n in some}
    texts, pages = vectors.dense_pages(connection, found)
    data = b"".join(pages)
    assert len(pages) == 3
    assert {n: data[12 * slot : 12 * slot + 12] for slot, n in enumerate(texts)} == wanted
    rebuild(index, repo, now=NOW)
    assert embed(index, encoder).written == 0


def test_vectors_of_texts_that_no_file_has_leave_their_pages(
    store: Store, repo: Repo, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")
    monkeypatch.setattr(vectors, "FEW_TEXTS", 3)
    fill(store, 80)
    update(index, repo, now=NOW)
    encoder = HashVectors()
    embed(index, encoder)
    for number in range(40):
        store.delete(f"areas/{number}.html")
    store.commit()
    update(index, repo, now=NOW)
    connection = index.connection
    kept = [text_id for (text_id,) in connection.execute("SELECT text_id FROM chunks")]

    def found() -> dict[int, bytes]:
        space = vectors.find_space(connection, "dense", encoder.space_id)
        assert space is not None
        assert space.covered == 40
        return vectors.dense_vectors(connection, space, kept)

    before = found()
    assert len(before) == 40
    assert embed(index, encoder).written == 0
    assert found() == before
    assert [len(page) for (page,) in connection.execute("SELECT vectors FROM dense_pages")] == [480]


def test_without_an_index_there_is_nothing_to_encode(index: Index) -> None:
    with pytest.raises(IndexStale):
        embed(index, WordEncoder())
    assert coverage(index) == ()
