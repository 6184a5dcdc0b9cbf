"""The index of runs: one schema in the database of a URL, an SQLite file here, PostgreSQL for a team.

The columns are the fields of `RunRecord` and `CellRecord`; a field that is no single value is JSON. PostgreSQL compares text
byte by byte in them, as SQLite does, and `lower` changes the letters A to Z only: one query gives the same rows in the same
order everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.types import TypeEngine

from orchestrator.disk import whole_file
from orchestrator.findings.condition import Condition
from orchestrator.history.record import RUNNING, CellRecord, Evidence, Filters, Listed, RunRecord, Seen
from orchestrator.results.journal import is_held

VERSION = 10
_WAIT_S = 10  # for another orch that is writing
_MOST_WORDS = 8  # of a search

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_TYPES: dict[str, TypeEngine[Any]] = {
    "str": _TEXT,
    "Validity": _TEXT,
    "int": sa.BigInteger(),
    "float": sa.Float(),
    "bool": sa.Boolean(),
}
_Record = TypeVar("_Record")


def _columns(record: type[Any], *left_out: str, key: str = "") -> list[sa.Column[Any]]:
    return [
        sa.Column(
            field.name, _TYPES.get(str(field.type).removesuffix(" | None"), sa.JSON()), primary_key=field.name == key
        )
        for field in fields(record)
        if field.name not in left_out
    ]


METADATA = sa.MetaData()
RUNS = sa.Table(
    "runs",
    METADATA,
    *_columns(RunRecord, "cells", key="id"),
    *(sa.Column(name, sa.JSON()) for name in ("stacks", "placements")),
    *(sa.Column(name, _TEXT) for name in ("path", "signature")),
)
CELLS = sa.Table(
    "cells",
    METADATA,
    sa.Column("run", _TEXT, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    *_columns(CellRecord, key="cell"),
)
ABOUT = sa.Table("about", METADATA, sa.Column("name", _TEXT, primary_key=True), sa.Column("value", _TEXT))

sa.Index("runs_by_time", RUNS.c.started.desc(), RUNS.c.id.desc())
sa.Index("cells_by_measure", CELLS.c.measures, CELLS.c.run)
sa.Index("cells_by_stack", CELLS.c.stack, CELLS.c.measures)

_LISTED = [RUNS.c[field.name] for field in fields(Listed) if field.name in RUNS.c]
_SEARCHED = [
    *(RUNS.c[name] for name in ("id", "started", "name", "question", "verdict", "validity", "state")),
    *(RUNS.c[name] for name in ("stacks", "placements", "provider", "hosts", "notes")),
]


class Index:
    """The tables, open."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._connection: sa.Connection | None = None

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """One transaction: all that is written within the block, or nothing of it."""
        with self._engine.begin() as connection:
            self._connection = connection
            try:
                yield connection
            finally:
                self._connection = None

    def version(self) -> str | None:
        """The version of the tables; "" where the database holds others, None where it is empty."""
        names = set(sa.inspect(self._connection or self._engine).get_table_names())
        if ABOUT.name not in names:
            return "" if names else None
        query = sa.select(ABOUT.c.value).where(ABOUT.c.name == "version")
        return "".join(row["value"] for row in self._all(query))

    def make(self) -> None:
        """Make the tables."""
        with self.writing() as connection:
            METADATA.create_all(connection, checkfirst=False)
            connection.execute(sa.insert(ABOUT), {"name": "version", "value": str(VERSION)})

    def signatures(self) -> dict[str, str]:
        """By run, the signature of its folder when it was read."""
        return {row["id"]: row["signature"] for row in self._all(sa.select(RUNS.c.id, RUNS.c.signature))}

    def put(self, record: RunRecord, path: Path | str, signature: str) -> None:
        """Replace what is known of a run."""
        self.forget(record.id)
        row = {column.name: getattr(record, column.name) for column in RUNS.c if hasattr(record, column.name)}
        row["stacks"] = list(dict.fromkeys(cell.stack_label for cell in record.cells))
        row["placements"] = list(dict.fromkeys(cell.placement for cell in record.cells))
        self._write(sa.insert(RUNS), [{**row, "path": str(path), "signature": signature}])
        if cells := {cell.cell: cell for cell in record.cells}.values():
            self._write(sa.insert(CELLS), [{"run": record.id, **vars(cell)} for cell in cells])

    def forget(self, run: str) -> bool:
        """Remove a run; whether it was there."""
        return self._write(sa.delete(RUNS).where(RUNS.c.id == run)).rowcount > 0

    def runs(self, wanted: Filters) -> list[Listed]:
        """The runs that a listing shows, newest first; runs without a time are last.

        One that never wrote how it ended is `in progress` while a process holds its journal, else `interrupted`.
        """
        query = sa.select(*_LISTED).where(_condition(wanted)).order_by(RUNS.c.started.desc(), RUNS.c.id.desc())
        if wanted.limit is not None:
            query = query.limit(wanted.limit).offset(wanted.offset)
        return [_live(_record(Listed, row)) for row in self._all(query)]

    def count(self, wanted: Filters) -> int:
        """How many runs the conditions choose, whatever the limit."""
        return int(self._all(sa.select(sa.func.count().label("n")).select_from(RUNS).where(_condition(wanted)))[0]["n"])

    def cells(self, wanted: Filters | None = None) -> list[tuple[str, str, str, int]]:
        """Each cell that runs measured: its id, stack and label, and its number of runs; those of most runs first.

        Of the chosen runs.
        """
        wanted = wanted or Filters()
        query = (
            sa.select(
                sa.func.min(CELLS.c.cell).label("cell"),
                sa.func.min(CELLS.c.stack).label("stack"),
                sa.func.min(CELLS.c.label).label("label"),
                sa.func.count().label("n"),
            )
            .join_from(CELLS, RUNS)
            .where(_condition(wanted))
            .group_by(CELLS.c.measures)
            .order_by(sa.func.count().desc(), sa.func.min(CELLS.c.label), sa.func.min(CELLS.c.cell))
        )
        return [(row["cell"], row["stack"], row["label"], row["n"]) for row in self._all(query)]

    def stacks(self) -> list[str]:
        """Ids and labels of the stacks that runs measured, for suggestions."""
        columns = (CELLS.c.stack_label, CELLS.c.stack)
        return sorted(
            {row["word"] for column in columns for row in self._all(sa.select(column.label("word")).distinct())}
        )

    def seen(self, word: str, wanted: Filters) -> dict[str, list[Seen]]:
        """The cells of that id, beginning of an id, stack or stack label, oldest run first, by what they measure."""
        chosen = CELLS.alias("chosen")
        measures = sa.select(chosen.c.measures).where(
            sa.or_(
                sa.func.lower(chosen.c.cell).startswith(_lower(word), autoescape=True),
                chosen.c.stack == word,
                chosen.c.stack_label == word,
            )
        )
        of_run = (RUNS.c.started, RUNS.c.state, RUNS.c.conditions, RUNS.c.settings)
        query = (
            sa.select(CELLS, *of_run)
            .join_from(CELLS, RUNS)
            .where(CELLS.c.measures.in_(measures), _condition(wanted))
            .order_by(RUNS.c.started, RUNS.c.id)
        )
        cells: dict[str, list[Seen]] = {}
        for row in self._all(query):
            cell = _record(CellRecord, row, evidence=Evidence(**_frozen(row["evidence"])))
            conditions = tuple(Condition(**condition) for condition in row["conditions"])
            cells.setdefault(cell.measures, []).append(_record(Seen, row, cell=cell, conditions=conditions))
        return cells

    def _write(self, statement: Any, values: list[dict[str, Any]] | None = None) -> sa.CursorResult[Any]:
        assert self._connection is not None, "only within `writing`"  # noqa: S101 - of ours
        return self._connection.execute(statement, values)

    def _all(self, query: sa.Executable) -> Sequence[sa.RowMapping]:
        if self._connection is not None:
            return self._connection.execute(query).mappings().all()
        with self._engine.connect() as connection:
            return connection.execute(query).mappings().all()


def _condition(wanted: Filters) -> sa.ColumnElement[bool]:
    conditions: list[sa.ColumnElement[bool]] = [sa.true()]
    if wanted.run is not None:
        conditions.append(RUNS.c.id == wanted.run)
    words = wanted.text.split()[:_MOST_WORDS]
    conditions += [sa.or_(*(_has(column, word) for column in _SEARCHED)) for word in words]
    return sa.and_(*conditions)


def _has(column: sa.ColumnElement[Any], text: str) -> sa.ColumnElement[bool]:
    return sa.func.lower(sa.cast(column, sa.Text)).contains(_lower(text), autoescape=True)


def _lower(text: str) -> str:
    """With A to Z in lower case and nothing else, as `lower` of the index has it."""
    return re.sub(r"[A-Z]", lambda match: match[0].lower(), text)


def _record(kind: type[_Record], row: sa.RowMapping, **others: Any) -> _Record:
    """A row as a record: its lists are tuples, and `others` replace what the row has."""
    values = {field.name: _frozen(row[field.name]) for field in fields(kind) if field.name in row}  # type: ignore[arg-type]
    return kind(**{**values, **others})


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _frozen(item) for name, item in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _live(run: Listed) -> Listed:
    if run.state != RUNNING:
        return run
    return replace(run, state="in progress" if is_held(Path(run.path) / "journal.jsonl") else "interrupted")


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def engine_of(url: URL | str) -> sa.Engine:
    """The engine of a URL; SQLite keeps foreign keys and waits for other writers."""
    engine = sa.create_engine(url, json_serializer=lambda value: json.dumps(value, default=_plain, ensure_ascii=False))
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def settle(connection: Any, _: object) -> None:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA busy_timeout = {_WAIT_S * 1000}")

    return engine


def open_file(path: Path) -> Index:
    """The index in that file, made anew where there is none, or one of another version, or a damaged one.

    SQLAlchemy's errors, and OSError, where it cannot be read or written.
    """
    index = _at(path)
    try:
        if index.version() == str(VERSION):
            return index
    except OperationalError:  # another orch is writing, or no file can be made
        raise
    except DatabaseError:  # damaged
        pass
    index.close()
    for suffix in ("", "-journal", "-wal", "-shm"):  # what SQLite left beside it, too
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    with whole_file(path) as partial:  # another orch sees all tables, or none
        new = _at(partial)
        new.make()
        new.close()
    return _at(path)


def _at(path: Path) -> Index:
    return Index(engine_of(URL.create("sqlite", database=str(path))))


def in_memory() -> Index:
    """Empty tables in memory."""
    index = Index(engine_of("sqlite://"))
    index.make()
    return index
