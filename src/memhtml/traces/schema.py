"""The tables of what is known of transcripts, as the numbered steps that lead to them.

A transcript may be gone tomorrow (agents sweep their folders), and which sessions were consolidated
stands in no file. So nothing here is ever dropped, and a change of these tables is one more step at
the end. SQLite keeps the number of the last step taken in ``user_version``.

Everything is keyed by file. A session is what its files say together, so a subagent's transcript
adds to its session and takes nothing from it.
"""

from __future__ import annotations

__all__ = ["MIGRATIONS"]

_TRACES = """
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  root TEXT NOT NULL,
  session_id TEXT NOT NULL,
  agent_id TEXT,
  slug TEXT NOT NULL DEFAULT '',
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  byte_off INTEGER NOT NULL CHECK (byte_off >= 0),
  lines INTEGER NOT NULL DEFAULT 0,
  head TEXT NOT NULL DEFAULT '',
  cwd TEXT,
  branch TEXT,
  entrypoint TEXT,
  version TEXT,
  title TEXT,
  first_prompt TEXT,
  started_at TEXT,
  ended_at TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  dropped INTEGER NOT NULL DEFAULT 0,
  unknown INTEGER NOT NULL DEFAULT 0,
  missing INTEGER NOT NULL DEFAULT 0 CHECK (missing IN (0, 1)),
  scanned_at TEXT NOT NULL
);
CREATE INDEX files_session ON files (session_id);
CREATE INDEX files_started ON files (started_at);

CREATE TABLE models (
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  model TEXT NOT NULL,
  turns INTEGER NOT NULL,
  PRIMARY KEY (file_id, model)
) WITHOUT ROWID;

CREATE TABLE passages (
  id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'title')),
  line INTEGER NOT NULL,
  at TEXT,
  turn_uuid TEXT,
  prompt_id TEXT,
  agent_id TEXT,
  text TEXT NOT NULL
);
CREATE INDEX passages_file ON passages (file_id, role);
CREATE INDEX passages_turn ON passages (file_id, turn_uuid);

CREATE VIRTUAL TABLE words USING fts5 (
  text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER passages_gone AFTER DELETE ON passages BEGIN
  DELETE FROM words WHERE rowid = old.id;
END;

CREATE TABLE consolidations (
  session_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  consolidated_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX consolidations_run ON consolidations (run_id);
"""

MIGRATIONS = (_TRACES,)
"""Step n makes version n + 1 out of version n."""
