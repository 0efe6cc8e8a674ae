"""The tables of the index.

Every memory has an integer id; tables about it are keyed by that id, so a move is one UPDATE of
`files.path`. What ranking and filtering need sits in narrow tables and the long text apart, so a
search touches few pages. The full-text table keeps no text of its own: it is fed the analysed text
of `memhtml.index.analysis` and gives back ids.

Encoded is not a file but a *text*: a piece of a body with its title and claim (`memhtml.index
.chunks`). Chunks say which file has which texts; rows and postings of the vector spaces are keyed
by the text, so a move, an edit of the head or an undone edit costs no encoding. A text that no
chunk uses any more stays for a while, unseen because every reader joins `chunks`.

Counts are kept by triggers, so they cost what changed. A rebuild fills its tables first, for rows
come in faster before there are indexes and triggers.

There is no migration: `SCHEMA_VERSION` changes with any change here or in how rows are made, and
an index of another version is built anew.
"""

from __future__ import annotations

from memhtml.model.vocabulary import Bucket, MemoryType, Rel, RelClass, TaskStatus

__all__ = [
    "CHUNK_CHARS",
    "FTS_TOKENIZER",
    "INDEXES",
    "SCHEMA_VERSION",
    "TABLES",
    "TRIGGERS",
]

SCHEMA_VERSION = 2

CHUNK_CHARS = 1800
"""Longest text to encode, in code points, its context included."""

# Marks are part of a word in the scripts of India and South-East Asia, so they are token
# characters here; private-use ones carry the punctuation of exact tokens (see `analysis`).
FTS_TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2", "categories", "L* N* M* Co")


def _quoted_words(words: type[Bucket | MemoryType | Rel | RelClass | TaskStatus]) -> str:
    return ", ".join(f"'{word}'" for word in words)


_TOKENIZE = " ".join(f"'{word}'" if " " in word else word for word in FTS_TOKENIZER)

TABLES = f"""
CREATE TABLE index_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  schema_version INTEGER NOT NULL,
  chunk_chars INTEGER NOT NULL,
  head_sha TEXT,
  files INTEGER NOT NULL,
  archived INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  texts INTEGER NOT NULL,
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
  title TEXT NOT NULL,
  gist TEXT NOT NULL,
  word_count INTEGER NOT NULL,
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  event_at TEXT,
  news_at TEXT NOT NULL,
  archived_at TEXT,
  valid_from TEXT,
  valid_until TEXT,
  reprieves INTEGER NOT NULL CHECK (reprieves >= 0),
  needs_revision INTEGER NOT NULL CHECK (needs_revision IN (0, 1)),
  author TEXT NOT NULL,
  session_id TEXT,
  prompt_id TEXT,
  turn_uuid TEXT,
  task_status TEXT CHECK (task_status IN ({_quoted_words(TaskStatus)})),
  due_at TEXT,
  near_key TEXT,
  frame_key TEXT,
  text_digest TEXT NOT NULL
);

CREATE TABLE bodies (
  file_id INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  disclosure TEXT NOT NULL
);

CREATE TABLE file_tags (
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (file_id, tag)
) WITHOUT ROWID;

CREATE TABLE file_aliases (
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  alias TEXT NOT NULL,
  PRIMARY KEY (file_id, alias)
) WITHOUT ROWID;

CREATE TABLE file_entities (
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  entity_key TEXT NOT NULL,
  entity TEXT NOT NULL,
  PRIMARY KEY (file_id, entity_key)
) WITHOUT ROWID;

CREATE TABLE file_facets (
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  numeric_value REAL,
  PRIMARY KEY (file_id, name, value)
) WITHOUT ROWID;

CREATE TABLE file_citations (
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  href TEXT,
  PRIMARY KEY (file_id, text)
) WITHOUT ROWID;

CREATE TABLE edges (
  src_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  rel TEXT NOT NULL CHECK (rel IN ({_quoted_words(Rel)})),
  dst_path TEXT NOT NULL,
  edge_class TEXT NOT NULL CHECK (edge_class IN ({_quoted_words(RelClass)})),
  PRIMARY KEY (src_id, rel, dst_path)
) WITHOUT ROWID;

CREATE VIRTUAL TABLE files_fts USING fts5 (
  title, claim, facets, names, aliases, body,
  content = '', contentless_delete = 1,
  tokenize = "{_TOKENIZE}"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (files_fts, row);

CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  uses INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE chunks (
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  start_char INTEGER NOT NULL,
  end_char INTEGER NOT NULL,
  text_id INTEGER NOT NULL,
  PRIMARY KEY (file_id, ordinal)
) WITHOUT ROWID;

CREATE TABLE spaces (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL UNIQUE CHECK (kind IN ('sparse', 'dense')),
  name TEXT NOT NULL,
  dims INTEGER,
  covered INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE sp_doc (
  space_id INTEGER NOT NULL,
  text_id INTEGER NOT NULL,
  terms BLOB NOT NULL,
  weights BLOB NOT NULL,
  PRIMARY KEY (space_id, text_id)
) WITHOUT ROWID;

CREATE TABLE sp_post (
  space_id INTEGER NOT NULL,
  term INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  docs BLOB NOT NULL,
  weights BLOB NOT NULL,
  PRIMARY KEY (space_id, term, segment)
) WITHOUT ROWID;

CREATE TABLE sp_segments (
  space_id INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  texts INTEGER NOT NULL,
  PRIMARY KEY (space_id, segment)
) WITHOUT ROWID;

CREATE TABLE dense_doc (
  space_id INTEGER NOT NULL,
  text_id INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  PRIMARY KEY (space_id, text_id)
) WITHOUT ROWID;

CREATE TABLE dense_pages (
  space_id INTEGER NOT NULL,
  page INTEGER NOT NULL,
  vectors BLOB NOT NULL,
  PRIMARY KEY (space_id, page)
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

INDEXES = """
CREATE INDEX files_content_hash ON files (content_hash);
CREATE INDEX files_near_key ON files (near_key) WHERE near_key IS NOT NULL;
CREATE INDEX files_frame_key ON files (frame_key) WHERE frame_key IS NOT NULL;
CREATE INDEX files_origin ON files (origin_path) WHERE origin_path IS NOT NULL;
CREATE INDEX files_type ON files (memory_type, path);
CREATE INDEX files_workspace ON files (workspace, path) WHERE workspace IS NOT NULL;
CREATE INDEX files_news ON files (news_at, path);
CREATE INDEX files_session ON files (session_id, news_at, path) WHERE session_id IS NOT NULL;
CREATE INDEX files_valid_until ON files (valid_until) WHERE valid_until IS NOT NULL;
CREATE INDEX files_tasks ON files (task_status, path) WHERE task_status IS NOT NULL;
CREATE INDEX file_tags_tag ON file_tags (tag);
CREATE INDEX file_aliases_alias ON file_aliases (alias);
CREATE INDEX file_entities_key ON file_entities (entity_key);
CREATE INDEX file_facets_value ON file_facets (name, value);
CREATE INDEX file_facets_number ON file_facets (name, numeric_value)
  WHERE numeric_value IS NOT NULL;
CREATE INDEX edges_dst ON edges (dst_path, rel);
CREATE INDEX chunks_text ON chunks (text_id);
"""

_HAS_ROW = """
id IN (SELECT space_id FROM sp_doc WHERE space_id = spaces.id AND text_id = new.id
  UNION ALL SELECT space_id FROM dense_doc WHERE space_id = spaces.id AND text_id = new.id)
"""
_IS_USED = "(SELECT uses > 0 FROM texts WHERE id = {row}.text_id)"

TRIGGERS = f"""
CREATE TRIGGER files_added AFTER INSERT ON files BEGIN
  UPDATE index_state SET files = files + 1, archived = archived + new.archived;
END;
CREATE TRIGGER files_removed AFTER DELETE ON files BEGIN
  UPDATE index_state SET files = files - 1, archived = archived - old.archived;
END;
CREATE TRIGGER files_archived AFTER UPDATE OF archived ON files
WHEN old.archived <> new.archived BEGIN
  UPDATE index_state SET archived = archived + new.archived - old.archived;
END;
CREATE TRIGGER skipped_added AFTER INSERT ON skipped BEGIN
  UPDATE index_state SET skipped = skipped + 1;
END;
CREATE TRIGGER skipped_removed AFTER DELETE ON skipped BEGIN
  UPDATE index_state SET skipped = skipped - 1;
END;
CREATE TRIGGER chunks_added AFTER INSERT ON chunks BEGIN
  UPDATE index_state SET chunks = chunks + 1;
  UPDATE texts SET uses = uses + 1 WHERE id = new.text_id;
END;
CREATE TRIGGER chunks_removed AFTER DELETE ON chunks BEGIN
  UPDATE index_state SET chunks = chunks - 1;
  UPDATE texts SET uses = uses - 1 WHERE id = old.text_id;
END;
CREATE TRIGGER texts_used AFTER UPDATE OF uses ON texts WHEN old.uses = 0 AND new.uses > 0 BEGIN
  UPDATE index_state SET texts = texts + 1;
  UPDATE spaces SET covered = covered + 1 WHERE {_HAS_ROW};
END;
CREATE TRIGGER texts_left AFTER UPDATE OF uses ON texts WHEN old.uses > 0 AND new.uses = 0 BEGIN
  UPDATE index_state SET texts = texts - 1;
  UPDATE spaces SET covered = covered - 1 WHERE {_HAS_ROW};
END;
CREATE TRIGGER sp_doc_added AFTER INSERT ON sp_doc BEGIN
  UPDATE spaces SET covered = covered + {_IS_USED.format(row="new")} WHERE id = new.space_id;
END;
CREATE TRIGGER sp_doc_removed AFTER DELETE ON sp_doc BEGIN
  UPDATE spaces SET covered = covered - {_IS_USED.format(row="old")} WHERE id = old.space_id;
END;
CREATE TRIGGER dense_doc_added AFTER INSERT ON dense_doc BEGIN
  UPDATE spaces SET covered = covered + {_IS_USED.format(row="new")} WHERE id = new.space_id;
END;
CREATE TRIGGER dense_doc_removed AFTER DELETE ON dense_doc BEGIN
  UPDATE spaces SET covered = covered - {_IS_USED.format(row="old")} WHERE id = old.space_id;
END;
"""  # noqa: S608 - our names
