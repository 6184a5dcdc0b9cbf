"""The tables of an index of runs, for every database that SQLAlchemy knows.

PostgreSQL compares text byte by byte in them, as SQLite does, and `lower` changes the letters A to Z only: one query gives
the same rows in the same order everywhere.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Float, ForeignKey, Index, MetaData, Table, Text
from sqlalchemy.types import TypeEngine

VERSION = 2

METADATA = MetaData()
_TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def _columns(kind: TypeEngine[Any], names: str, key: str = "") -> list[Column[Any]]:
    return [Column(name, kind, primary_key=name in key.split()) for name in names.split()]


def _of_run() -> Column[Any]:
    return Column("run", _TEXT, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


RUNS = Table(
    "runs",
    METADATA,
    *_columns(
        _TEXT,
        "id run_id name question started ended state plan_id orch_version provider hosts verdict validity trouble "
        "manifest_sha256 path stacks placements signature",
        key="id",
    ),
    *_columns(BigInteger(), "passed warned failed trials samples"),
    Column("is_ours", Boolean),
    *_columns(Float(), "matters"),
)
ENVIRONMENTS = Table("environments", METADATA, _of_run(), *_columns(_TEXT, "conditions settings"))
CELLS = Table(
    "cells",
    METADATA,
    _of_run(),
    *_columns(
        _TEXT,
        "cell label stack stack_label operation placement connection factors measures failed_checks evidence",
        key="cell",
    ),
    *_columns(BigInteger(), "concurrency requests errors trials"),
    *_columns(
        Float(), "rate median median_low median_high p99 p99_low p99_high throughput throughput_low throughput_high"
    ),
)
TAGS = Table("tags", METADATA, *_columns(_TEXT, "run tag", key="run tag"))
NOTES = Table(
    "notes",
    METADATA,
    *_columns(_TEXT, "run", key="run"),
    Column("place", BigInteger, primary_key=True),
    *_columns(_TEXT, "at text"),
)
ABOUT = Table("about", METADATA, *_columns(_TEXT, "name value", key="name"))

Index("runs_by_time", RUNS.c.started.desc(), RUNS.c.id.desc())
Index("cells_by_measure", CELLS.c.measures, CELLS.c.run)
Index("cells_by_stack", CELLS.c.stack, CELLS.c.measures)
