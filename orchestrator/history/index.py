"""The index of all runs: one SQLite file that can be made again from the run folders at any time, and holds no truth.

A file that is missing, damaged, or of another schema version is made anew. Where it cannot be written, the same tables
are kept in memory for the one call, and `trouble` says why.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Literal

from orchestrator.errors import MissingError
from orchestrator.history import rows, tables
from orchestrator.history.filters import Filters, like
from orchestrator.history.record import Listed, Note, RunRecord, Seen

SCHEMA_VERSION = tables.VERSION
_APPLICATION = 0x6F726368  # "orch"
_WAIT_S = 10.0  # for another orch that is writing

Known = Literal["experiment", "stack", "placement", "tag"]
_KNOWN: dict[Known, tuple[tuple[str, str], ...]] = {  # tables and columns that a condition is held against
    "experiment": (("runs", "name"),),
    "stack": (("cells", "stack_label"), ("cells", "stack")),
    "placement": (("cells", "placement"),),
    "tag": (("tags", "tag"),),
}

_NEWEST = "ORDER BY started DESC, id DESC"


class Index:
    """The tables, open. `trouble`: why they are kept in memory alone, as a clause; "" where they are kept."""

    _BEGIN: ClassVar[str] = "BEGIN IMMEDIATE"
    _ERRORS: ClassVar[tuple[type[Exception], ...]] = (sqlite3.Error,)

    def __init__(self, connection: tables.Connection, *, trouble: str = "") -> None:
        self._connection = connection
        self.trouble = trouble

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All that is written within the block, or nothing of it."""
        self._connection.execute(self._BEGIN)
        try:
            yield
        except BaseException:
            with suppress(*self._ERRORS):
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def signatures(self) -> dict[str, str]:
        """By run, what told its folder from a changed one when it was read."""
        found = self._connection.execute("SELECT id, signature FROM runs").fetchall()
        return {row["id"]: row["signature"] for row in found}

    def about(self, name: str) -> str:
        """What was noted of the index itself; "" where nothing was."""
        found = self._connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return str(found["value"]) if found else ""

    def put(self, record: RunRecord, path: Path | str, signature: str) -> None:
        """Replace what is known of a run."""
        self.forget(record.id)
        self._insert("runs", {**rows.of_run(record), "path": str(path), "signature": signature})
        self._insert("environments", rows.of_environment(record))
        for cell in {cell.cell: cell for cell in record.cells}.values():
            self._insert("cells", rows.of_cell(record.id, cell))

    def forget(self, run: str) -> None:
        """Remove a run, but for its notes and tags."""
        self._connection.execute("DELETE FROM runs WHERE id = ?", (run,))

    def annotate(self, signature: str, tags: Mapping[str, Iterable[str]], notes: Mapping[str, Iterable[Note]]) -> None:
        """Replace all tags and notes, by run; `signature` tells their files from changed ones."""
        self._connection.execute("DELETE FROM tags")
        self._connection.execute("DELETE FROM notes")
        for run, of in tags.items():
            self._tag(run, of)
        for run, written in notes.items():
            self._note(run, written)
        self._connection.execute("DELETE FROM about WHERE name = 'notes'")
        self._insert("about", {"name": "notes", "value": signature})

    def runs(self, wanted: Filters) -> list[Listed]:
        """The runs that a listing shows, newest first; those of which no time is known stand last."""
        where, values = wanted.sql()
        limit = "" if wanted.limit is None else f" LIMIT {int(wanted.limit)} OFFSET {int(wanted.offset)}"
        found = self._all(f"SELECT * FROM runs WHERE {where} {_NEWEST}{limit}", values)  # noqa: S608 - no value in it
        tags, notes = self._tags(), self._notes()
        with self._as_written():
            return [rows.listed(row, tags.get(row["id"], ()), notes.get(row["id"], ())) for row in found]

    def count(self, wanted: Filters) -> int:
        """How many runs there are of those, whatever the limit."""
        where, values = wanted.sql()
        return int(self._all(f"SELECT count(*) AS n FROM runs WHERE {where}", values)[0]["n"])  # noqa: S608

    def cells(self, wanted: Filters | None = None) -> list[tuple[str, str, str, int]]:
        """Each cell that runs measured: its id, stack and label, and in how many runs it was; those of most runs first.

        Of the runs that are wanted; of a wanted stack or placement its own cells alone.
        """
        where, values = (wanted or Filters()).sql()
        if wanted is not None and wanted.stack is not None:
            where, values = f"{where} AND (cells.stack = ? OR cells.stack_label = ?)", [*values, *[wanted.stack] * 2]
        if wanted is not None and wanted.placement is not None:
            where, values = f"{where} AND cells.placement = ?", [*values, wanted.placement]
        found = self._all(
            "SELECT min(cell) AS cell, min(cells.stack) AS stack, min(label) AS label, count(*) AS n "  # noqa: S608 - no value
            f"FROM cells JOIN runs ON runs.id = cells.run WHERE kind = 'run' AND {where} "
            "GROUP BY measures ORDER BY n DESC, label, cell",
            values,
        )
        return [(row["cell"], row["stack"], row["label"], row["n"]) for row in found]

    def known(self, condition: Known) -> list[str]:
        """What that condition of `Filters` may be, for suggestions: names of experiments, labels and ids of stacks, ..."""
        queries = (f"SELECT {column} AS word FROM {table}" for table, column in _KNOWN[condition])  # noqa: S608 - no value
        return sorted({row["word"] for query in queries for row in self._all(query, ())} - {""})

    def seen(self, word: str, wanted: Filters) -> dict[str, list[Seen]]:
        """The cells of that id, beginning of one, stack or stack label, oldest run first, by what they measure."""
        where, values = wanted.sql()
        chosen = "SELECT measures FROM cells WHERE lower(cell) LIKE ? ESCAPE '!' OR stack = ? OR stack_label = ?"
        found: dict[str, list[Seen]] = {}
        told = "runs.started, runs.state, runs.is_ours, runs.matters, environments.conditions, environments.settings"
        joined = "cells JOIN runs ON runs.id = cells.run JOIN environments ON environments.run = runs.id"
        which = f"measures IN ({chosen}) AND kind = 'run' AND {where}"
        query = f"SELECT {told}, cells.* FROM {joined} WHERE {which} ORDER BY started, runs.id"  # noqa: S608 - no value
        with self._as_written():
            for row in self._all(query, (f"{like(word)}%", word, word, *values)):
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

    def _tag(self, run: str, tags: Iterable[str]) -> None:
        for tag in dict.fromkeys(tags):
            self._insert("tags", {"run": run, "tag": tag})

    def _note(self, run: str, notes: Iterable[Note]) -> None:
        for place, note in enumerate(notes):
            self._insert("notes", {"run": run, "place": place, "at": note.at, "text": note.text})

    def _insert(self, table: str, values: Mapping[str, Any]) -> None:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - names of columns
        self._connection.execute(statement, tuple(values.values()))

    def _all(self, query: str, values: Iterable[Any]) -> list[Any]:
        try:
            return self._connection.execute(query, tuple(values)).fetchall()
        except sqlite3.DatabaseError as error:
            raise _unreadable(error) from error

    @contextmanager
    def _as_written(self) -> Iterator[None]:
        """MissingError where a row is not one that orch wrote."""
        try:
            yield
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise self._not_ours(error) from error

    def _not_ours(self, error: Exception) -> MissingError:
        return _unreadable(error)


def _unreadable(error: Exception) -> MissingError:
    return MissingError(f"the index of runs cannot be read: {error}", hint="make it anew: orch history --rebuild")


def connect(path: Path) -> sqlite3.Connection:
    """The index in that file, made where there is none, or one of another version; sqlite3.Error where it is damaged.

    A link is refused, as MissingError: what it points to may be somebody's. So is a file with a second name: it is
    written to in place, and that would change too.
    """
    if path.is_symlink() or _has_other_names(path):
        raise MissingError("it is a link, and the index is a file of orch's own", hint=f"remove the link: {path}")
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("BEGIN IMMEDIATE")  # refused where it cannot be written, and waits for another orch
        if not _is_current(connection):
            _make_anew(connection)
        _require_ours(connection)
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
                    _require_ours(source)
                    source.backup(connection)
            finally:
                source.close()
    if not _is_current(connection):
        _make_anew(connection)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _has_other_names(path: Path) -> bool:
    try:
        return path.lstat().st_nlink > 1
    except FileNotFoundError:
        return False


def remove(path: Path) -> None:
    """Remove the file and what SQLite may have left beside it; a link goes, and not what it points to."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _is_current(connection: sqlite3.Connection) -> bool:
    versions = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    return versions == [_APPLICATION, SCHEMA_VERSION]


def _require_ours(connection: sqlite3.Connection) -> None:
    """sqlite3.DatabaseError where the file holds more than our tables: a trigger or a view would act as we write."""
    found = {row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    if found != set(tables.statements(tables.SQLITE)):
        raise sqlite3.DatabaseError("it has other tables than orch makes")


def _make_anew(connection: sqlite3.Connection) -> None:
    """Drop what another version has, and make the tables."""
    made = connection.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
    for kind, name in made:
        if kind in ("table", "view"):
            quoted = str(name).replace('"', '""')
            connection.execute(f'DROP {kind} "{quoted}"')
    for statement in tables.statements(tables.SQLITE):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
