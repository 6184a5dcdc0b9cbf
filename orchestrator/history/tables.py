"""The tables of an index of runs, defined once, for SQLite (`index`) and for PostgreSQL (`postgresql`).

Text is compared byte by byte in both, and `lower` changes the letters A to Z alone, so that the same query gives the same
rows in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

VERSION = 1

Kind: TypeAlias = Literal["text", "whole", "real"]


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What a database calls each kind of column, and what stands behind a table."""

    types: Mapping[Kind, str]
    end: str = ""


SQLITE = Dialect(types={"text": "TEXT", "whole": "INTEGER", "real": "REAL"}, end=" WITHOUT ROWID")
POSTGRESQL = Dialect(types={"text": 'text COLLATE "C"', "whole": "bigint", "real": "double precision"})


@dataclass(frozen=True, kw_only=True)
class _Table:
    """Names of columns by kind; the key's columns; whether a row goes with its run."""

    key: str
    text: str
    whole: str = ""
    real: str = ""
    of_run: bool = False

    def columns(self) -> dict[str, Kind]:
        kinds: tuple[tuple[Kind, str], ...] = (("text", self.text), ("whole", self.whole), ("real", self.real))
        return {name: kind for kind, names in kinds for name in names.split()}


_TABLES = {
    "runs": _Table(
        key="id",
        text="id run_id kind name question started ended state plan_id orch_version provider hosts verdict validity "
        "trouble manifest_sha256 path stacks placements signature",
        whole="passed warned failed trials samples is_ours",
        real="matters",
    ),
    "environments": _Table(key="run", text="run conditions settings", of_run=True),
    "cells": _Table(
        key="run, cell",
        text="run cell label stack stack_label operation placement connection factors measures failed_checks evidence",
        whole="concurrency requests errors trials is_valid",
        real="rate median median_low median_high p99 p99_low p99_high throughput throughput_low throughput_high",
        of_run=True,
    ),
    "tags": _Table(key="run, tag", text="run tag"),
    "notes": _Table(key="run, place", text="run at text", whole="place"),
    "about": _Table(key="name", text="name value"),
}
_INDICES = {
    "runs_by_time": "runs (started DESC, id DESC)",
    "cells_by_measure": "cells (measures, run)",
    "cells_by_stack": "cells (stack, measures)",
}

COLUMNS: Mapping[str, Mapping[str, Kind]] = {name: table.columns() for name, table in _TABLES.items()}
"""The kinds of all columns, by table and name."""


def statements(dialect: Dialect, schema: str = "") -> Iterator[str]:
    """What makes the tables; `schema` is a quoted name with its dot, or nothing."""
    for name, table in _TABLES.items():
        told = [f"{column} {dialect.types[kind]}" for column, kind in table.columns().items()]
        if table.of_run:
            told.append(f"FOREIGN KEY (run) REFERENCES {schema}runs (id) ON DELETE CASCADE")
        yield f"CREATE TABLE {schema}{name} ({', '.join(told)}, PRIMARY KEY ({table.key})){dialect.end}"
    for name, of in _INDICES.items():
        yield f"CREATE INDEX {name} ON {schema}{of}"


class Cursor(Protocol):
    """What a statement gives: rows whose values have names."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """All rows."""


class Connection(Protocol):
    """A database that holds the tables. Values stand for question marks."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Cursor:
        """Ask for one statement."""

    def close(self) -> None:
        """Let go of the database."""
