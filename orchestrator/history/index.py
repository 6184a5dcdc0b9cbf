"""The index of all runs: one SQLite file that can be made again from the run folders at any time, and holds no truth.

A file that is missing, damaged, or of another schema version is made anew. Where it cannot be written, the same tables
are kept in memory for the one call, and `trouble` says why.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from orchestrator.errors import MissingError
from orchestrator.history import rows
from orchestrator.history.filters import Filters
from orchestrator.history.record import Listed, Note, RunRecord, Seen

SCHEMA_VERSION = 1
_APPLICATION = 0x6F726368  # "orch"
_WAIT_S = 10.0  # for another orch that is writing

_SCHEMA = """
CREATE TABLE runs (
  id TEXT PRIMARY KEY, run_id TEXT, kind TEXT, name TEXT, question TEXT, started TEXT, ended TEXT, state TEXT,
  plan_id TEXT, orch_version TEXT, provider TEXT, hosts TEXT, verdict TEXT, passed INTEGER, warned INTEGER,
  failed INTEGER, validity TEXT, trials INTEGER, samples INTEGER, is_ours INTEGER, trouble TEXT, matters REAL,
  manifest_sha256 TEXT, path TEXT, stacks TEXT, placements TEXT, signature TEXT
) WITHOUT ROWID;
CREATE INDEX runs_by_time ON runs (started DESC, id DESC);
CREATE TABLE environments (
  run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, conditions TEXT, settings TEXT
) WITHOUT ROWID;
CREATE TABLE cells (
  run TEXT REFERENCES runs (id) ON DELETE CASCADE, cell TEXT, label TEXT, stack TEXT, stack_label TEXT, operation TEXT,
  placement TEXT, connection TEXT, concurrency INTEGER, rate REAL, factors TEXT, measures TEXT, median REAL,
  median_low REAL, median_high REAL, p99 REAL, p99_low REAL, p99_high REAL, throughput REAL, throughput_low REAL,
  throughput_high REAL, requests INTEGER, errors INTEGER, trials INTEGER, failed_checks TEXT, is_valid INTEGER,
  evidence TEXT, PRIMARY KEY (run, cell)
) WITHOUT ROWID;
CREATE INDEX cells_by_measure ON cells (measures, run);
CREATE INDEX cells_by_stack ON cells (stack, measures);
CREATE TABLE tags (run TEXT, tag TEXT, PRIMARY KEY (run, tag)) WITHOUT ROWID;
CREATE TABLE notes (run TEXT, place INTEGER, at TEXT, text TEXT, PRIMARY KEY (run, place)) WITHOUT ROWID;
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""

_NEWEST = "ORDER BY started DESC, id DESC"


class Index:
    """The tables, open. `trouble`: why they are kept in memory alone, as a clause; "" where they are kept."""

    def __init__(self, connection: sqlite3.Connection, *, trouble: str = "") -> None:
        self._connection = connection
        self.trouble = trouble
        connection.execute("PRAGMA foreign_keys = ON")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is written within the block, or nothing of it."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def signatures(self) -> dict[str, str]:
        """By run, what told its folder from a changed one when it was read."""
        return {row["id"]: row["signature"] for row in self._connection.execute("SELECT id, signature FROM runs")}

    def about(self, name: str) -> str:
        """What was noted of the index itself; "" where nothing was."""
        found = self._connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return str(found["value"]) if found else ""

    def put(self, record: RunRecord, path: Path, signature: str) -> None:
        """Replace what is known of a run."""
        self.forget(record.id)
        self._insert("runs", {**rows.of_run(record), "path": str(path), "signature": signature})
        self._insert("environments", rows.of_environment(record))
        for cell in record.cells:
            self._insert("cells", rows.of_cell(record.id, cell))

    def forget(self, run: str) -> None:
        """Remove a run, but for its notes and tags."""
        self._connection.execute("DELETE FROM runs WHERE id = ?", (run,))

    def annotate(self, signature: str, tags: Mapping[str, Iterable[str]], notes: Mapping[str, Iterable[Note]]) -> None:
        """Replace all tags and notes, by run; `signature` tells their files from changed ones."""
        self._connection.execute("DELETE FROM tags")
        self._connection.execute("DELETE FROM notes")
        tagged = [(run, tag) for run, of in tags.items() for tag in of]
        self._connection.executemany("INSERT INTO tags VALUES (?, ?)", tagged)
        written = [(run, place, note.at, note.text) for run, of in notes.items() for place, note in enumerate(of)]
        self._connection.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", written)
        self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", ("notes", signature))

    def runs(self, wanted: Filters) -> list[Listed]:
        """The runs that a listing shows, newest first; those of which no time is known stand last."""
        where, values = wanted.sql()
        limit = "" if wanted.limit is None else f" LIMIT {int(wanted.limit)} OFFSET {int(wanted.offset)}"
        found = self._all(f"SELECT * FROM runs WHERE {where} {_NEWEST}{limit}", values)  # noqa: S608 - no value in it
        tags, notes = self._tags(), self._notes()
        return [rows.listed(row, tags.get(row["id"], ()), notes.get(row["id"], ())) for row in found]

    def count(self, wanted: Filters) -> int:
        """How many runs there are of those, whatever the limit."""
        where, values = wanted.sql()
        return int(self._all(f"SELECT count(*) AS n FROM runs WHERE {where}", values)[0]["n"])  # noqa: S608

    def cells(self) -> list[tuple[str, str, str, int]]:
        """Each cell that runs measured: its id, stack and label, and in how many runs it was; those of most runs first."""
        found = self._all(
            "SELECT cell, stack, label, count(*) AS n FROM cells JOIN runs ON runs.id = cells.run "
            "WHERE kind = 'run' GROUP BY measures ORDER BY n DESC, label",
            (),
        )
        return [(row["cell"], row["stack"], row["label"], row["n"]) for row in found]

    def seen(self, word: str, wanted: Filters) -> dict[str, list[Seen]]:
        """The cells of that id, beginning of one, stack or stack label, oldest run first, by what they measure."""
        where, values = wanted.sql()
        begins = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        chosen = "SELECT measures FROM cells WHERE cell LIKE ? ESCAPE '\\' OR stack = ? OR stack_label = ?"
        found: dict[str, list[Seen]] = {}
        told = "runs.started, runs.state, runs.is_ours, runs.matters, environments.conditions, environments.settings"
        tables = "cells JOIN runs ON runs.id = cells.run JOIN environments ON environments.run = runs.id"
        which = f"measures IN ({chosen}) AND kind = 'run' AND {where}"
        query = f"SELECT {told}, cells.* FROM {tables} WHERE {which} ORDER BY started, runs.id"  # noqa: S608 - no value
        for row in self._all(query, (begins, word, word, *values)):
            found.setdefault(row["measures"], []).append(rows.seen(row))
        return found

    def _tags(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for row in self._all("SELECT run, tag FROM tags ORDER BY run, tag", ()):
            found[row["run"]] = (*found.get(row["run"], ()), row["tag"])
        return found

    def _notes(self) -> dict[str, tuple[Note, ...]]:
        found: dict[str, tuple[Note, ...]] = {}
        for row in self._all("SELECT run, at, text FROM notes ORDER BY run, place", ()):
            found[row["run"]] = (*found.get(row["run"], ()), Note(at=row["at"], text=row["text"]))
        return found

    def _insert(self, table: str, values: Mapping[str, Any]) -> None:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        statement = f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - names of columns
        self._connection.execute(statement, tuple(values.values()))

    def _all(self, query: str, values: Iterable[Any]) -> list[sqlite3.Row]:
        try:
            return self._connection.execute(query, tuple(values)).fetchall()
        except sqlite3.DatabaseError as error:
            raise MissingError(
                f"the index of runs cannot be read: {error}", hint="make it anew: orch history --rebuild"
            ) from error


def connect(path: Path) -> sqlite3.Connection:
    """The index in that file, made where there is none, or one of another version; sqlite3.Error where it is damaged.

    A link is refused, as MissingError: what it points to may be somebody's.
    """
    if path.is_symlink():
        raise MissingError("it is a link, and the index is a file of orch's own", hint=f"remove the link: {path}")
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")  # refused where it cannot be written, and waits for another orch
        if not _is_current(connection):
            _make_anew(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def in_memory(kept: Path) -> sqlite3.Connection:
    """The tables in memory, with what the file at `kept` holds where that can be read."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.row_factory = sqlite3.Row
    with suppress(sqlite3.Error, OSError):
        if kept.is_file() and not kept.is_symlink():
            source = sqlite3.connect(f"{kept.resolve().as_uri()}?mode=ro", uri=True)
            try:
                if _is_current(source):
                    source.backup(connection)
            finally:
                source.close()
    if not _is_current(connection):
        _make_anew(connection)
    return connection


def remove(path: Path) -> None:
    """Remove the file and what SQLite may have left beside it; a link goes, and not what it points to."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _is_current(connection: sqlite3.Connection) -> bool:
    versions = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    return versions == [_APPLICATION, SCHEMA_VERSION]


def _make_anew(connection: sqlite3.Connection) -> None:
    """Drop what another version has, and make the tables."""
    made = connection.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    for kind, name in made:
        if kind in ("table", "view"):
            quoted = str(name).replace('"', '""')
            connection.execute(f'DROP {kind} "{quoted}"')
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
