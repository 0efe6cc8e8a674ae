"""The tables of the state plane, as the numbered steps that lead to them.

Unlike the index this is no projection: how often a memory was opened and what came of it stands in
no file. So nothing here is ever dropped, and a change of these tables is one more step at the end.
SQLite keeps the number of the last step taken in ``user_version``.
"""

from __future__ import annotations

__all__ = ["MIGRATIONS"]

_USAGE = """
CREATE TABLE usage (
  path TEXT PRIMARY KEY,
  access_count INTEGER NOT NULL DEFAULT 0 CHECK (access_count >= 0),
  reinforcement_count INTEGER NOT NULL DEFAULT 0 CHECK (reinforcement_count >= 0),
  outcome_score REAL NOT NULL DEFAULT 0 CHECK (outcome_score BETWEEN -1 AND 1),
  warmth REAL NOT NULL DEFAULT 0 CHECK (warmth >= 0),
  last_accessed_at TEXT,
  last_reinforced_at TEXT,
  updated_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE bursts (
  path TEXT NOT NULL,
  signal TEXT NOT NULL CHECK (signal IN ('positive', 'negative')),
  signals INTEGER NOT NULL CHECK (signals > 0),
  last_at TEXT NOT NULL,
  PRIMARY KEY (path, signal)
) WITHOUT ROWID;

CREATE TABLE session_links (
  path TEXT NOT NULL,
  session_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('read', 'corrected', 'reinforced')),
  at TEXT NOT NULL,
  prompt_id TEXT,
  turn_uuid TEXT,
  PRIMARY KEY (path, session_id, kind, at)
) WITHOUT ROWID;
CREATE INDEX session_links_session ON session_links (session_id);
"""

MIGRATIONS = (_USAGE,)
"""Step n makes version n + 1 out of version n."""
