"""The tables, and how an older file gets them. Each migration is one transaction with its record (sqlite-utils)."""

from __future__ import annotations

from sqlite_utils import Database, Migrations

from host.store.values import FIRST_ID as FIRST_ID

SCHEMA = 3  # PRAGMA user_version; a file with a higher one is refused
APPLICATION_ID = 0x63747868  # "ctxh"
HIGHEST_ID = "highest_id"  # in the table ``store``: the highest id of a row that was taken out, so that none is given twice
LOWEST_ID = "lowest_id"  # the lowest that was given: imported history takes the ones below it
HEAD = "head"  # and the highest that a check has seen

migrations = Migrations("ctxhost")
MIGRATIONS_TABLE: str = migrations.migrations_table

TABLES = """
CREATE TABLE store (
  key TEXT PRIMARY KEY,
  value
) WITHOUT ROWID;

CREATE TABLE conversations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  created INTEGER NOT NULL
);

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  conversation INTEGER NOT NULL REFERENCES conversations(id),
  parent INTEGER REFERENCES sessions(id),
  title TEXT UNIQUE,
  source TEXT NOT NULL DEFAULT '',
  started INTEGER NOT NULL,
  ended INTEGER,
  end_reason TEXT,
  settings TEXT NOT NULL DEFAULT '{}',
  about TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX sessions_of ON sessions(conversation, id);

CREATE TABLE segments (
  id INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  first INTEGER NOT NULL,
  session INTEGER NOT NULL REFERENCES sessions(id)
);
CREATE INDEX segments_of ON segments(conversation, id);

CREATE TABLE messages (
  id INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  position INTEGER NOT NULL,
  place INTEGER,
  time INTEGER NOT NULL,
  role TEXT NOT NULL,
  tool TEXT,
  body BLOB,
  cuts TEXT,
  digest BLOB NOT NULL,
  facts TEXT
);
CREATE UNIQUE INDEX messages_at ON messages(conversation, position);
CREATE INDEX messages_versions ON messages(conversation, place) WHERE place IS NOT NULL;

CREATE TABLE blobs (
  digest BLOB PRIMARY KEY,
  body BLOB NOT NULL
);

CREATE TABLE tombstones (
  conversation INTEGER NOT NULL,
  position INTEGER NOT NULL,
  content BLOB NOT NULL,
  receipt INTEGER NOT NULL,
  PRIMARY KEY (conversation, position)
) WITHOUT ROWID;
CREATE INDEX tombstones_of ON tombstones(conversation, content);

CREATE TABLE quarantine (
  id INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  time INTEGER NOT NULL,
  error TEXT NOT NULL,
  shown TEXT NOT NULL
);

CREATE TABLE made (
  id INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  kind TEXT NOT NULL,
  row INTEGER,
  covers TEXT NOT NULL DEFAULT '[]',
  by TEXT NOT NULL DEFAULT '',
  content BLOB NOT NULL,
  body BLOB
);
CREATE INDEX made_of ON made(conversation, content);

CREATE TABLE views (
  id INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  version INTEGER NOT NULL,
  session INTEGER NOT NULL REFERENCES sessions(id),
  time INTEGER NOT NULL,
  upto INTEGER NOT NULL,
  entries TEXT NOT NULL,
  engine TEXT NOT NULL DEFAULT '',
  trigger TEXT NOT NULL DEFAULT '',
  receipt TEXT NOT NULL DEFAULT '{}',
  undoes INTEGER,
  state TEXT,
  UNIQUE (conversation, version)
);

CREATE TABLE engine_state (
  conversation INTEGER NOT NULL,
  engine TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (conversation, engine)
) WITHOUT ROWID;

CREATE TABLE leases (
  name TEXT PRIMARY KEY,
  holder TEXT,
  fence INTEGER NOT NULL,
  expires INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE receipts (
  id INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  kind TEXT NOT NULL,
  receipt TEXT NOT NULL
);
"""
"""A segment says in which session the positions from ``first`` on were archived; the one with the higher id counts.
``place`` is NULL where it is the position, that is for all but new versions. Times are microseconds since 1970, UTC."""

READINGS = """
CREATE TABLE readings (
  id INTEGER PRIMARY KEY,
  file TEXT NOT NULL UNIQUE,
  client TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  line INTEGER NOT NULL,
  mark TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT '{}',
  seal TEXT NOT NULL DEFAULT ''
);

CREATE TABLE chapters (
  id INTEGER PRIMARY KEY,
  reading INTEGER NOT NULL REFERENCES readings(id),
  chain TEXT NOT NULL,
  conversation INTEGER NOT NULL,
  keys TEXT NOT NULL DEFAULT '{}',
  UNIQUE (reading, chain)
);
"""
"""Files of other clients that were read, and the conversation of each chain in them; its number stays when that is deleted.
``keys`` are the newest messages by the recording's own ids, 0 for what was erased. A ``seal`` is a digest of what a reader goes on
from."""

PINS = """
CREATE TABLE pins (
  id INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  position INTEGER NOT NULL,
  by TEXT NOT NULL DEFAULT '',
  time INTEGER NOT NULL,
  UNIQUE (conversation, position)
);
"""
"""``position`` is that of the message's first version; the ids rise in the order in which messages were pinned."""


@migrations()
def m001_tables(db: Database) -> None:
    """All tables of the first release."""
    _run(db, TABLES)


@migrations()
def m002_readings(db: Database) -> None:
    """How far recordings of other clients were read."""
    _run(db, READINGS)


@migrations()
def m003_pins(db: Database) -> None:
    """Messages that stay in every window."""
    _run(db, PINS)


def _run(db: Database, statements: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            db.execute(statement)


def migrate(db: Database) -> None:
    """Bring a file to ``SCHEMA``. The caller holds the store's lock file."""
    migrations.apply(db)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA}")


def heal(db: Database) -> None:
    """Add columns that a table of this schema lacks, where they may be empty or have a default; no row is touched."""
    blank = Database(memory=True)
    _run(blank, TABLES + READINGS + PINS)
    for table in set(blank.table_names()) & set(db.table_names()):
        there = {column.name for column in db[table].columns}
        for column in blank[table].columns:
            if column.name not in there and (not column.notnull or column.default_value is not None):
                default = f" NOT NULL DEFAULT {column.default_value}" if column.notnull else ""
                db.execute(f'ALTER TABLE {table} ADD COLUMN "{column.name}" {column.type}{default}')
