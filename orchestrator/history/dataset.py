"""A team's dataset of samples: three tables of Parquet files, one schema each for all runs, in the same Hive partitions.

`samples/`, `cells/` and `runs/` hold `experiment=<name>/date=<day>/run=<id>/part-<number>.parquet`. A run's files are made
here first, and then put there; its row in `runs/` comes last and goes first, so that a run whose row is there is whole. The
files of a run are those with a name of orch in its partitions; orch writes and removes no others.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from orchestrator.disk import writing
from orchestrator.errors import UsageError
from orchestrator.exports import cell_columns, findings, samples
from orchestrator.exports.typed_table import Column, Row, arrow_schema, fitted
from orchestrator.findings.summary import RunSummary
from orchestrator.history import run_record
from orchestrator.history.dataset_place import Place
from orchestrator.history.noted import Annotations
from orchestrator.history.record import RunRecord
from orchestrator.results.folder import RunFolder
from orchestrator.strict_json import parse_json

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
"""Of the schema: raised whenever a column of one of the tables changes."""

ROWS_OF_A_FILE = 4_000_000
ABOUT = "_orch_dataset.json"
"""What describes the dataset; readers of datasets pass over names that begin with `_`."""

_WHAT = "a dataset of orch"
PARTITIONS = ("experiment", "date", "run")
_NOTHING = "__HIVE_DEFAULT_PARTITION__"
_MOST_OF_A_VALUE = 180  # bytes: a name of a folder has 255

Outcome = Literal["published", "replaced", "there already"]


def _text(name: str, meaning: str) -> Column:
    return Column(name=name, type="text", meaning=meaning)


RUNS: tuple[Column, ...] = (
    _text("name", "name of the experiment, as its file has it"),
    *(column for column in findings.RUN_COLUMNS if column.name not in PARTITIONS),
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
    "cells": tuple(column for column in cell_columns.COLUMNS if column.name not in PARTITIONS),
    "runs": RUNS,
}
"""The columns of each table's files; partitions are columns besides, and stand in no file."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """The result of publishing a run: `rows` of samples, files and bytes in all."""

    outcome: Outcome
    rows: int = 0
    files: int = 0
    bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class PublishedRun:
    """A finished run as it leaves the machine: from manifest and samples, which name no host, person or folder."""

    folder: RunFolder
    summary: RunSummary
    record: RunRecord
    noted: Annotations

    def row(self) -> Row:
        """The run's row of `RUNS`, and its experiment and id."""
        record = self.record
        return {
            "name": record.name,
            **findings.run_row(self.summary),
            "validity": record.validity,
            "provider": record.provider,
            "hosts": json.dumps(record.hosts, ensure_ascii=False),
            "trials": record.trials,
            "requests": record.samples,
            "orch_version": record.orch_version,
            "plan": record.plan_id,
            "manifest_sha256": record.manifest_sha256,
            "conditions": json.dumps(dict(record.conditions), ensure_ascii=False),
            "settings": json.dumps(record.settings, ensure_ascii=False, default=str),
        }

    def tables(self) -> Iterator[tuple[str, Iterable[pa.Table]]]:
        """Each table's name and its parts, the run's row last."""
        import pyarrow as pa

        yield "samples", (piece.table for piece in samples.pieces(self.folder, self.summary))
        for table, rows in (("cells", cell_columns.cell_table(self.summary).rows), ("runs", [self.row()])):
            fitting = [fitted(TABLES[table], row) for row in rows]
            yield table, [pa.Table.from_pylist(fitting, schema=_schema(table))]


def published_run(folder: RunFolder, summary: RunSummary, noted: Annotations) -> PublishedRun:
    """The run as it leaves; InvalidMeasurement where a file of it is damaged."""
    record = replace(run_record.read_run(folder), **run_record.of_summary(summary), trouble="")
    digest = record.manifest_sha256
    if not digest:  # of a run that was killed, and has no manifest.json yet
        document = json.dumps(asdict(folder.manifest()), sort_keys=True, allow_nan=False)
        digest = hashlib.sha256(document.encode()).hexdigest()
    run = summary.run_id
    record = replace(record, id=run, run_id=run, manifest_sha256=digest)
    return PublishedRun(folder=folder, summary=summary, record=record, noted=noted)


def require_finished(folder: RunFolder) -> None:
    """UsageError for a run that may not be published."""
    if folder.is_in_progress:
        raise UsageError(f"run {folder.id} is still in progress", hint="wait until it has ended")


def publish(place: Place, run: PublishedRun, scratch: Path, *, replace: bool = False) -> Published:
    """Put a run into the dataset. `scratch` is an empty folder for its files meanwhile.

    UsageError where the place is something else than a dataset of this version, or holds another run of this id (unless
    `replace`); MissingError for what the place or the disk refuses; InvalidMeasurement where the run is damaged.
    """
    is_new = require_dataset(place)
    old = _files_of(place, run.record.id)
    stored = _digest(place, old)
    if stored is not None and not replace:
        if stored != run.record.manifest_sha256:
            raise UsageError(
                f"{place.address} holds another run {run.record.id}: its manifest has another digest",
                hint="--replace puts this one in its place; compare both before",
            )
        return Published(outcome="there already")
    with writing(scratch, "publish again"):
        rows = dict(_write(run, scratch))
        if is_new:
            (scratch / ABOUT).write_text(json.dumps(_about(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            place.put(ABOUT, scratch / ABOUT)
    *others, row = rows  # that of `runs` is the last one
    if stored is not None:
        place.delete(old.pop(0))
    for path in others:
        place.put(path, scratch / path)
    for path in old:
        if path not in rows:
            place.delete(path)
    place.put(row, scratch / row)
    return Published(
        outcome="published" if stored is None else "replaced",
        rows=sum(count for path, count in rows.items() if path.startswith("samples/")),
        files=len(rows),
        bytes=sum((scratch / path).stat().st_size for path in rows),
    )


def withdraw(place: Place, run: str) -> bool:
    """Take a run out; whether it was there."""
    if require_dataset(place):
        raise UsageError(f"{place.address} holds no dataset", hint="name it as it was named to `orch runs publish`")
    paths = _files_of(place, run)
    for path in paths:
        place.delete(path)
    return bool(paths)


def require_dataset(place: Place) -> bool:
    """Whether nothing is there yet; UsageError for what is no dataset of orch, or one of another version."""
    if place.is_empty(ABOUT):
        return True
    content = place.read(ABOUT)
    if content is None:
        raise UsageError(
            f"{place.address} holds something else, and no dataset of orch; it is left as it is",
            hint="name an empty or a new folder with --to",
        )
    try:
        about = parse_json(content)
        what, version = about["what"], int(about["version"])
    except (ValueError, TypeError, LookupError) as error:
        raise UsageError(f"{place.address}/{ABOUT} is damaged: {error}", hint="bring it back from a copy") from error
    if what != _WHAT:
        raise UsageError(f"{place.address} is not a dataset of orch", hint="name an empty or a new folder with --to")
    if version != VERSION:
        raise UsageError(
            f"{place.address} has schema {version}, and this orch has {VERSION}",
            hint="use the orch that made it, or publish the runs to a new dataset",
        )
    return False


def folder_of(table: str, experiment: str, started: str, run: str) -> str:
    """Where the files of a run lie, relative to the dataset; `started` is ISO 8601."""
    values = zip(PARTITIONS, (experiment, started[:10], run), strict=True)
    return "/".join([table, *(f"{key}={in_path(value)}" for key, value in values)])


def in_path(value: str) -> str:
    """A partition's value as a part of a path, as Hive writes it: codes for what is no letter, digit or one of `_.-~`.

    One that is too long for a folder's name ends with `~` and 16 digits of its SHA-256.

    >>> in_path("a/b=50 %"), in_path("")
    ('a%2Fb%3D50%20%25', '__HIVE_DEFAULT_PARTITION__')
    """
    if not value:
        return _NOTHING
    quoted = quote(value, safe="", errors="replace")
    if len(quoted) <= _MOST_OF_A_VALUE:
        return quoted
    digest = hashlib.sha256(value.encode(errors="replace")).hexdigest()[:16]
    whole_codes = re.sub("%.?$", "", quoted[: _MOST_OF_A_VALUE - len(digest) - 1])
    return f"{whole_codes}~{digest}"


def _files_of(place: Place, run: str) -> list[str]:
    """The files of a run, its row in `runs/` first."""
    name = rf"/experiment=[^/]+/date=[^/]+/run={re.escape(in_path(run))}/part-\d{{5}}\.parquet"
    return [path for table in reversed(TABLES) for path in place.files(table) if re.fullmatch(table + name, path)]


def _digest(place: Place, paths: list[str]) -> str | None:
    """The SHA-256 of the manifest of the run with these files; None where its row is not there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = place.read(paths[0]) if paths and paths[0].startswith("runs/") else None
    if content is None:
        return None
    try:
        return str(pq.read_table(pa.BufferReader(content), columns=["manifest_sha256"])["manifest_sha256"][0])
    except (pa.ArrowException, LookupError) as error:
        raise UsageError(f"{place.address}/{paths[0]} is damaged: {error}", hint="bring it back from a copy") from error


def _write(run: PublishedRun, scratch: Path) -> Iterator[tuple[str, int]]:
    """Each file's path, once it is whole, and its rows: at most about `ROWS_OF_A_FILE`, each part a row group."""
    import pyarrow.parquet as pq

    for table, parts in run.tables():
        schema, left = _schema(table), iter(parts)
        folder = folder_of(table, run.record.name, run.record.started, run.record.id)
        (scratch / folder).mkdir(parents=True, exist_ok=True)
        for number, first in enumerate(left):
            path, rows = f"{folder}/part-{number:05}.parquet", 0
            with (
                (scratch / path).open("wb") as file,  # pyarrow takes no path that is not UTF-8
                pq.ParquetWriter(file, schema, compression="zstd") as writer,
            ):
                for part in chain([first], left):
                    writer.write_table(part.select(schema.names).cast(schema))
                    rows += part.num_rows
                    if rows >= ROWS_OF_A_FILE:
                        break
            yield path, rows


def _schema(table: str) -> pa.Schema:
    return arrow_schema(TABLES[table]).with_metadata({"orch_dataset": str(VERSION)})


def _about() -> dict[str, Any]:
    tables = {name: [column.to_dict() for column in columns] for name, columns in TABLES.items()}
    return {"what": _WHAT, "version": VERSION, "partitions": list(PARTITIONS), "tables": tables}
