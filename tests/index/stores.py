"""A real store in a temporary folder, edited as people and other tools edit it."""

from __future__ import annotations

import html
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from memhtml.index.database import Index

NOW = "2026-03-01T00:00:00Z"

# Virtual and internal tables are compared through what they answer.
_TABLES = {
    "files": "SELECT {file} FROM files f",
    "bodies": "SELECT f.path, t.text, t.disclosure FROM bodies t JOIN files f ON f.id = t.file_id",
    "file_tags": "SELECT f.path, t.tag FROM file_tags t JOIN files f ON f.id = t.file_id",
    "file_entities": "SELECT f.path, t.entity_key, t.entity FROM file_entities t "
    "JOIN files f ON f.id = t.file_id",
    "file_facets": "SELECT f.path, t.name, t.value, t.numeric_value FROM file_facets t "
    "JOIN files f ON f.id = t.file_id",
    "file_aliases": "SELECT f.path, t.alias FROM file_aliases t JOIN files f ON f.id = t.file_id",
    "file_citations": "SELECT f.path, t.text, t.href FROM file_citations t "
    "JOIN files f ON f.id = t.file_id",
    "edges": "SELECT f.path, t.rel, t.dst_path, t.edge_class FROM edges t "
    "JOIN files f ON f.id = t.src_id",
    "chunks": "SELECT f.path, c.ordinal, c.start_char, c.end_char, t.hash, t.uses FROM chunks c "
    "JOIN files f ON f.id = c.file_id JOIN texts t ON t.id = c.text_id",
    "spaces": "SELECT kind, name, dims, covered FROM spaces",
    "sp_doc": "SELECT t.hash, d.terms, d.weights FROM sp_doc d JOIN texts t ON t.id = d.text_id "
    "WHERE t.uses > 0",
    "skipped": "SELECT path, blob_sha, reason, diagnostics FROM skipped",
    "overlay": "SELECT path, disk, committed_sha, committed_reason FROM overlay",
    "index_state": "SELECT schema_version, chunk_chars, head_sha, files, archived, skipped, "
    "chunks, texts FROM index_state",
    "files_fts": 'SELECT f.path, t.term, t.col, t."offset" FROM temp.terms t '
    "JOIN files f ON f.id = t.doc",
}


class Store:
    """A git repository with memories."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")
        self.git("config", "core.autocrlf", "false")

    def git(self, *args: str) -> str:
        who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
        done = subprocess.run(
            ("git", "-C", str(self.root), *who, *args), check=True, capture_output=True, text=True
        )
        return done.stdout

    def put(self, path: str, data: bytes | str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)

    def delete(self, path: str) -> None:
        (self.root / path).unlink()

    def move(self, source: str, target: str) -> None:
        file = self.root / target
        file.parent.mkdir(parents=True, exist_ok=True)
        (self.root / source).replace(file)

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD").strip()


def memory(
    claim: str,
    *,
    body: str = "",
    memory_type: str = "semantic",
    title: str | None = None,
    created: str = "2026-01-01T00:00:00Z",
    tags: tuple[str, ...] = (),
    entities: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    facets: tuple[tuple[str, str], ...] = (),
    links: tuple[tuple[str, str], ...] = (),
) -> str:
    """Return a valid memory file."""
    named = [("tag", tag) for tag in tags] + [("entity", entity) for entity in entities]
    named += [("alias", alias) for alias in aliases]
    metas = [
        ("type", memory_type),
        ("status", "active"),
        ("created", created),
        ("updated", created),
        *named,
    ]
    if memory_type == "task":
        metas.append(("task-status", "todo"))
    lines = [f'<meta name="memhtml-{n}" content="{html.escape(v)}">' for n, v in metas]
    lines += [f'<link rel="memhtml-{rel}" href="/{html.escape(path)}">' for rel, path in links]
    listed = "".join(f"<dt>{html.escape(n)}</dt><dd>{html.escape(v)}</dd>" for n, v in facets)
    head = "\n".join(lines)
    facet_list = f"<dl>{listed}</dl>" if listed else ""
    text = f"<p>{html.escape(body)}</p>" if body else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title or claim[:60])}</title>\n{head}\n</head>\n<body>\n"
        f"<article>\n<p><mark>{html.escape(claim)}</mark></p>\n{text}{facet_list}\n"
        f"</article>\n</body>\n</html>\n"
    )


def tables(index: Index) -> dict[str, list[tuple[object, ...]]]:
    """Return every table's content without ids and times of indexing, in a fixed order."""
    connection = index.connection
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, files_fts, instance)"
    )
    columns = [row[1] for row in connection.execute("PRAGMA table_info(files)") if row[1] != "id"]
    file = ", ".join(f"f.{column}" for column in columns)
    return {
        name: sorted(connection.execute(sql.format(file=file)).fetchall(), key=repr)
        for name, sql in _TABLES.items()
    }
