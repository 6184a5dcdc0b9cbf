"""How a team's dataset lies: three tables of Parquet files, one schema each for all runs, in the same Hive partitions.

`samples/`, `cells/` and `runs/` hold `experiment=<name>/date=<day>/run=<id>/part-<number>.parquet`. What orch keeps of the
dataset itself begins with `_`, which readers of datasets pass over.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any
from urllib.parse import quote

from orchestrator.exports import cells, samples
from orchestrator.exports.column import Column
from orchestrator.exports.findings import RUN_COLUMNS

VERSION = 1
"""Of the schema: raised whenever a column of one of the tables changes."""

ABOUT = "_orch_dataset.json"
PARTITIONS = ("experiment", "date", "run")
NOTHING = "__HIVE_DEFAULT_PARTITION__"
_MOST_OF_A_VALUE = 180  # bytes: a name of a folder has 255


def _text(name: str, meaning: str) -> Column:
    return Column(name=name, type="text", meaning=meaning)


RUNS: tuple[Column, ...] = (
    _text("name", "name of the experiment, as its file has it"),
    *(column for column in RUN_COLUMNS if column.name not in PARTITIONS),
    _text("validity", "valid, warned or invalid"),
    _text("provider", "who made the hosts"),
    _text("hosts", "JSON: roles, CPUs and machine types of the hosts"),
    Column(name="trials", type="whole", meaning="trials that succeeded"),
    Column(name="requests", type="whole", meaning="measured requests"),
    _text("orch_version", "the orch that made it"),
    _text("plan", "id of its plan"),
    _text("manifest_sha256", "digest of its manifest: tells two runs of one id apart"),
    _text("conditions", "JSON: what it was made under, by name"),
    _text("settings", "JSON: settings of the machines"),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "samples": tuple(column for column in samples.COLUMNS if column.name not in PARTITIONS),
    "cells": tuple(column for column in cells.COLUMNS if column.name not in PARTITIONS),
    "runs": RUNS,
}
"""The columns of each table's files; partitions are columns besides, and stand in no file."""

_PARTITION = r"experiment=[^/]+/date=[^/]+/run={}/part-\d{{5}}\.parquet"


def about() -> dict[str, Any]:
    """What the dataset says of itself in `ABOUT`."""
    return {
        "what": "a dataset of orch",
        "version": VERSION,
        "partitions": list(PARTITIONS),
        "tables": {name: [column.to_dict() for column in columns] for name, columns in TABLES.items()},
    }


def folder(table: str, experiment: str, started: str, run: str) -> str:
    """Where the files of a run lie, relative to the dataset; `started` is ISO 8601."""
    values = zip(PARTITIONS, (experiment, started[:10], run), strict=True)
    return "/".join([table, *(f"{key}={in_path(value)}" for key, value in values)])


def file(table: str, experiment: str, started: str, run: str, number: int) -> str:
    """The path of a file, relative to the dataset."""
    return f"{folder(table, experiment, started, run)}/part-{number:05}.parquet"


def is_of(path: str, run: str) -> bool:
    """Whether a path is one that a file of this run has."""
    tables = "|".join(TABLES)
    return re.fullmatch(f"(?:{tables})/{_PARTITION.format(re.escape(in_path(run)))}", path) is not None


def in_path(value: str) -> str:
    """A partition's value as a part of a path, as Hive writes it: codes for what is no letter, digit or one of `_.-~`.

    One that is too long for a folder's name ends with `~` and 16 digits of its SHA-256.

    >>> in_path("a/b=50 %"), in_path("")
    ('a%2Fb%3D50%20%25', '__HIVE_DEFAULT_PARTITION__')
    """
    if not value:
        return NOTHING
    quoted = quote(value, safe="", errors="replace")
    if len(quoted) <= _MOST_OF_A_VALUE:
        return quoted
    digest = hashlib.sha256(value.encode(errors="replace")).hexdigest()[:16]
    kept = ""
    for character in value:
        more = kept + quote(character, safe="", errors="replace")
        if len(more) > _MOST_OF_A_VALUE - len(digest) - 1:
            break
        kept = more
    return f"{kept}~{digest}"
