"""Publishes runs to a team's dataset, and takes them out of it.

A run's files are made here first, and then put there; its row in `runs/` comes last and goes first, so that a run whose
row is there is whole. The files of a run are those with a name of orch in its partitions; orch writes and removes no others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from orchestrator.disk import writing
from orchestrator.errors import UsageError
from orchestrator.exports.column import arrow_schema, fitted
from orchestrator.strict_json import parse_json
from orchestrator.teams import layout
from orchestrator.teams.leaving import Leaving
from orchestrator.teams.places import Place

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS_OF_A_FILE = 4_000_000

Outcome = Literal["published", "replaced", "there already"]


@dataclass(frozen=True, kw_only=True)
class Published:
    """What publishing a run did; `rows` of samples, files and bytes in all."""

    outcome: Outcome
    rows: int = 0
    files: int = 0
    bytes: int = 0


def publish(place: Place, run: Leaving, scratch: Path, *, replace: bool = False) -> Published:
    """Have the dataset hold this run. `scratch` is an empty folder for its files meanwhile.

    UsageError where the place is something else than a dataset of this version, or holds another run of this id (unless
    `replace`); MissingError for what the place or the disk refuses; InvalidMeasurement where the run is damaged.
    """
    is_new = require_dataset(place)
    old = files_of(place, run.id)
    stored = _digest(place, old)
    if stored is not None and not replace:
        if stored != run.digest:
            raise UsageError(
                f"{place.told} holds another run {run.id}: its manifest has another digest",
                hint="--replace puts this one in its place; compare both before",
            )
        return Published(outcome="there already")
    with writing(scratch, "publish again"):
        rows = dict(_written(run, scratch))
    if is_new:
        _put_about(place, scratch)
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
    """Take a run out: whether it was there."""
    if require_dataset(place):
        raise UsageError(f"{place.told} holds no dataset", hint="name it as it was named to `orch publish`")
    paths = files_of(place, run)
    for path in paths:
        place.delete(path)
    return bool(paths)


def files_of(place: Place, run: str) -> list[str]:
    """The files of a run, its row in `runs/` first."""
    tables = sorted(layout.TABLES, key=lambda table: table != "runs")
    return [path for table in tables for path in place.files(table) if layout.is_of(path, run)]


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
        raise UsageError(f"{place.told}/{paths[0]} is damaged: {error}", hint="bring it back from a copy") from error


def require_dataset(place: Place) -> bool:
    """Whether nothing is there yet; UsageError for what is no dataset of orch, or one of another version."""
    if place.is_empty(layout.ABOUT):
        return True
    content = place.read(layout.ABOUT)
    if content is None:
        raise UsageError(
            f"{place.told} holds something else, and no dataset of orch; it is left as it is",
            hint="name an empty or a new folder with --to",
        )
    about = _document(content, f"{place.told}/{layout.ABOUT}")
    version = about.get("version")
    if about.get("what") != layout.about()["what"] or type(version) is not int:
        raise UsageError(f"{place.told} is not a dataset of orch", hint="name an empty or a new folder with --to")
    if version != layout.VERSION:
        which = "newer" if version > layout.VERSION else "older"
        raise UsageError(
            f"{place.told} was made by a{'n' if which == 'older' else ''} {which} orch (schema {version}; this one has "
            f"{layout.VERSION})",
            hint="install that orch" if which == "newer" else "publish the runs to a new dataset",
        )
    return False


def _document(content: bytes, where: str) -> dict[str, Any]:
    try:
        document = parse_json(content)
    except ValueError as error:
        raise UsageError(f"{where} is damaged: {error}", hint="bring it back from a copy") from error
    if not isinstance(document, dict):
        raise UsageError(f"{where} is damaged: it is no object", hint="bring it back from a copy")
    return document


def _written(run: Leaving, scratch: Path) -> Iterator[tuple[str, int]]:
    """Each file's path, once it is whole, and its rows."""
    import pyarrow as pa

    yield from _write_table("samples", run, scratch, run.pieces())
    for table, rows in (("cells", run.cells()), ("runs", [run.about()])):
        columns = layout.TABLES[table]
        whole = [fitted(columns, row) for row in rows]
        arrays = pa.Table.from_pylist(whole, schema=_schema(table))
        yield from _write_table(table, run, scratch, [arrays])


def _write_table(table: str, run: Leaving, scratch: Path, parts: Iterable[pa.Table]) -> Iterator[tuple[str, int]]:
    """Files of at most about `ROWS_OF_A_FILE` rows; each part is a row group."""
    schema, left = _schema(table), iter(parts)
    for number, first in enumerate(left):
        path, rows = layout.file(table, run.record.name, run.record.started, run.id, number), 0
        with _writer(scratch / path, schema) as writer:
            for part in chain([first], left):
                writer.write_table(part.select(schema.names).cast(schema))
                rows += part.num_rows
                if rows >= ROWS_OF_A_FILE:
                    break
        yield path, rows


@contextmanager
def _writer(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        yield writer


def _schema(table: str) -> pa.Schema:
    return arrow_schema(layout.TABLES[table]).with_metadata({"orch_dataset": str(layout.VERSION)})


def _put_about(place: Place, scratch: Path) -> None:
    file = scratch / "about.json"
    with writing(scratch, "publish again"):
        file.write_text(json.dumps(layout.about(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    place.put(layout.ABOUT, file)
