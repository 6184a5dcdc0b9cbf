"""Publishes runs to a team's dataset, and takes them out of it.

A run's files are made here first, and then put there; its row in `runs/` comes last, so that a run that is there is whole.
What was put there is noted (`layout.claim`) before: orch replaces and removes what is noted so, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from orchestrator.disk import writing
from orchestrator.errors import UsageError
from orchestrator.exports.column import arrow_schema, fitted
from orchestrator.shapes import decode_json
from orchestrator.strict_json import parse_json
from orchestrator.teams import layout
from orchestrator.teams.leaving import Leaving
from orchestrator.teams.places import Place

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS_OF_A_FILE = 4_000_000
_MOST_BYTES = 4 << 20  # of a document of ours
_CLAIM_VERSION = 1

Outcome = Literal["published", "replaced", "there already"]


@dataclass(frozen=True, kw_only=True)
class File:
    """A file of a run: its path in the dataset, and what is in it."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What orch put into a dataset for a run. `is_whole`: whether all of it arrived."""

    version: int
    run: str
    manifest_sha256: str
    is_whole: bool
    files: tuple[File, ...]


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
    `replace`) or files at its paths that orch did not put there; MissingError for what the place or the disk refuses;
    InvalidMeasurement where the run is damaged.
    """
    is_new = require_dataset(place)
    old = _claimed(place, run.id)
    if old is not None and not replace:
        if old.manifest_sha256 != run.digest:
            raise UsageError(
                f"{place.told} holds another run {run.id}: its manifest has another digest",
                hint="--replace puts this one in its place; look at both before",
            )
        if old.is_whole and _lacking(place, old) == []:
            return Published(outcome="there already")
    _refuse_foreign(place, run, old)
    with writing(scratch, "publish again"):
        rows, made = _made(run, scratch)
    if is_new:
        _put_json(place, layout.ABOUT, layout.about(), scratch)
    new = Claim(
        version=_CLAIM_VERSION,
        run=run.id,
        manifest_sha256=run.digest,
        is_whole=False,
        files=tuple({of.path: of for of in (*(old.files if old else ()), *made)}.values()),
    )
    _put_json(place, layout.claim(run.id), asdict(new), scratch)
    for of in made:
        place.put(of.path, scratch / of.path)
    paths = {of.path for of in made}
    for of in old.files if old else ():
        if of.path not in paths:
            place.delete(of.path)
    whole = {**asdict(new), "is_whole": True, "files": [asdict(of) for of in made]}
    _put_json(place, layout.claim(run.id), whole, scratch)
    outcome: Outcome = "replaced" if old is not None and old.is_whole else "published"
    return Published(outcome=outcome, rows=rows, files=len(made), bytes=sum(of.bytes for of in made))


def withdraw(place: Place, run: str) -> tuple[bool, list[str]]:
    """Take a run out: whether it was there, and which of its files stay, as they are no longer what orch put there."""
    if require_dataset(place):
        raise UsageError(f"{place.told} holds no dataset", hint="name it as it was named to `orch publish`")
    claim = _claimed(place, run)
    if claim is None:
        return False, []
    left = []
    there: dict[str, int] = {}
    for folder in {of.path.rpartition("/")[0] for of in claim.files}:
        there |= place.sizes(folder)
    for of in sorted(claim.files, key=lambda file: not file.path.startswith("runs/")):  # the run's row goes first
        if of.path not in there:
            continue
        if there[of.path] != of.bytes:
            left.append(of.path)
        else:
            place.delete(of.path)
    place.delete(layout.claim(run))
    return True, left


def require_dataset(place: Place) -> bool:
    """Whether nothing is there yet; UsageError for what is no dataset of orch, or one of another version."""
    if place.is_empty(layout.ABOUT):
        return True
    content = place.read(layout.ABOUT, _MOST_BYTES)
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


def _claimed(place: Place, run: str) -> Claim | None:
    content = place.read(layout.claim(run), _MOST_BYTES)
    if content is None:
        return None
    where = f"{place.told}/{layout.claim(run)}"
    document = _document(content, where)
    if document.get("version") != _CLAIM_VERSION:
        raise UsageError(f"{where} is of another version", hint="install the orch that wrote it")
    try:
        claim: Claim = decode_json(Claim, document)
    except ValueError as error:
        raise UsageError(f"{where} is damaged: {error}", hint="bring it back from a copy") from error
    return claim


def _document(content: bytes, where: str) -> dict[str, Any]:
    try:
        found = parse_json(content)
    except ValueError as error:
        raise UsageError(f"{where} is damaged: {error}", hint="bring it back from a copy") from error
    if not isinstance(found, dict):
        raise UsageError(f"{where} is damaged: it is no object", hint="bring it back from a copy")
    return found


def _lacking(place: Place, claim: Claim) -> list[str]:
    """Files that are not there any more, or have another size."""
    there: dict[str, int] = {}
    for folder in {of.path.rpartition("/")[0] for of in claim.files}:
        there |= place.sizes(folder)
    return [of.path for of in claim.files if there.get(of.path) != of.bytes]


def _refuse_foreign(place: Place, run: Leaving, old: Claim | None) -> None:
    """UsageError where a file lies at the run's paths that orch did not put there."""
    known = {of.path for of in old.files} if old else set()
    for table in layout.TABLES:
        for path in place.sizes(layout.folder(table, run.record.name, run.record.started, run.id)):
            if path not in known:
                raise UsageError(
                    f"{place.told}/{path} was not put there by orch; it is left as it is",
                    hint="move it away, or name another place with --to",
                )


def _made(run: Leaving, scratch: Path) -> tuple[int, list[File]]:
    """Write all files of a run below `scratch`: how many samples, and the files, that of `runs` last."""
    files, count = [], 0
    for path, rows in _written(run, scratch):
        count += rows if path.startswith("samples/") else 0
        file = scratch / path
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        files.append(File(path=path, bytes=file.stat().st_size, sha256=digest))
    return count, files


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


def _put_json(place: Place, path: str, document: dict[str, Any], scratch: Path) -> None:
    file = scratch / "document.json"
    with writing(scratch, "publish again"):
        file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", errors="replace")
    place.put(path, file)
