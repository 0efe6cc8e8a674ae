"""The tables of the index.

Every memory has an integer id; tables about it are keyed by that id, so a move is one UPDATE of
`files.path`. What ranking and filtering need sits in narrow tables and the long text apart, so a
search touches few pages. The full-text table keeps no text of its own: it is fed the analysed text
of `memhtml.index.analysis` and gives back ids.

There is no migration: `SCHEMA_VERSION` changes with any change here or in how rows are made, and
an index of another version is built anew.
"""

from __future__ import annotations

from memhtml.model.vocabulary import Bucket, MemoryType, Rel

__all__ = ["FTS_TOKENIZER", "SCHEMA", "SCHEMA_VERSION"]

SCHEMA_VERSION = 1

# Marks are part of a word in the scripts of India and South-East Asia, so they are token
# characters here; private-use ones carry the punctuation of exact tokens (see `analysis`).
FTS_TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2", "categories", "L* N* M* Co")


def _quoted_words(words: type[Bucket | MemoryType | Rel]) -> str:
    return ", ".join(f"'{word}'" for word in words)


_TOKENIZE = " ".join(f"'{word}'" if " " in word else word for word in FTS_TOKENIZER)

SCHEMA = f"""
CREATE TABLE index_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  schema_version INTEGER NOT NULL,
  head_sha TEXT,
  files INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  rebuilt_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  blob_sha TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  memory_type TEXT NOT NULL CHECK (memory_type IN ({_quoted_words(MemoryType)})),
  para TEXT NOT NULL CHECK (para IN ({_quoted_words(Bucket)})),
  workspace TEXT,
  archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
  origin_path TEXT,
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  event_at TEXT,
  title TEXT NOT NULL,
  gist TEXT NOT NULL,
  near_key TEXT,
  frame_key TEXT
);
CREATE INDEX files_content_hash ON files (content_hash);
CREATE INDEX files_near_key ON files (near_key) WHERE near_key IS NOT NULL;
CREATE INDEX files_frame_key ON files (frame_key) WHERE frame_key IS NOT NULL;

CREATE TABLE bodies (
  file_id INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
  text TEXT NOT NULL
);

CREATE TABLE file_tags (
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (file_id, tag)
) WITHOUT ROWID;
CREATE INDEX file_tags_tag ON file_tags (tag);

CREATE TABLE file_entities (
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  entity_key TEXT NOT NULL,
  entity TEXT NOT NULL,
  PRIMARY KEY (file_id, entity_key)
) WITHOUT ROWID;
CREATE INDEX file_entities_key ON file_entities (entity_key);

CREATE TABLE file_facets (
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (file_id, name, value)
) WITHOUT ROWID;
CREATE INDEX file_facets_name ON file_facets (name, value);

CREATE TABLE edges (
  src_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  rel TEXT NOT NULL CHECK (rel IN ({_quoted_words(Rel)})),
  dst_path TEXT NOT NULL,
  PRIMARY KEY (src_id, rel, dst_path)
) WITHOUT ROWID;
CREATE INDEX edges_dst ON edges (dst_path, rel);

CREATE VIRTUAL TABLE files_fts USING fts5 (
  title, claim, facets, names, aliases, body,
  content = '', contentless_delete = 1,
  tokenize = "{_TOKENIZE}"
);

CREATE TABLE skipped (
  path TEXT PRIMARY KEY,
  blob_sha TEXT,
  reason TEXT NOT NULL,
  diagnostics TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE overlay (
  path TEXT PRIMARY KEY,
  disk TEXT,
  committed_sha TEXT,
  committed_reason TEXT
) WITHOUT ROWID;
"""
