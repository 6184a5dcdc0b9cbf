"""A run as it travels inside a report: analysis reads it as it reads a run folder, without a folder."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.experiment.plan.plan import Plan, read_plan
from orchestrator.findings.summary import RunSummary
from orchestrator.record_layout import COLUMNS
from orchestrator.report.dataset import packed_rows
from orchestrator.report.dataset.packed_rows import FileOfRows
from orchestrator.results.columns import read_numbers
from orchestrator.results.manifest import Manifest
from orchestrator.shapes import decode, decode_json
from orchestrator.strict_json import parse_json
from orchestrator.summarise import summarise

FORMAT = 3
MOST_ROWS = 2_000_000
_ABOUT, _MANIFEST, _SAMPLES = "dataset.json", "manifest.json", "samples.parquet"
_MOST_BYTES: Mapping[str, int] = {_ABOUT: 1 << 26, _MANIFEST: 1 << 28, _SAMPLES: MOST_ROWS * len(COLUMNS) * 8}
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, kw_only=True)
class About:
    """What a dataset says of itself.

    `orch`: the version that wrote it. `manifest_sha256`: of the run's manifest.json; "" where there was none.
    """

    format: int
    orch: str
    run_id: str
    manifest_sha256: str
    rows: tuple[FileOfRows, ...]


@dataclass(frozen=True)
class Dataset:
    """A `run_evidence.Run` whose files are in memory. `columns`: by the path of each samples and baselines file."""

    about: About
    document: bytes  # the manifest
    columns: dict[str, dict[str, npt.NDArray[Any]]] = field(repr=False)
    packed: bytes = field(repr=False)

    @property
    def path(self) -> Path:
        """What stands for a folder in messages: the run's id."""
        return Path(self.about.run_id)

    @property
    def samples_inside(self) -> int:
        """How many samples there are: rows of all files, warm-up and baselines included."""
        return sum(file.rows for file in self.about.rows)

    def manifest(self) -> Manifest:
        """The run in one document."""
        return self._manifest

    def manifest_bytes(self) -> bytes:
        """Never there: what is inside is the manifest's content, not its file."""
        raise InvalidMeasurement(f"{self.path}: manifest.json itself is not inside a report")

    def samples(self, relative_path: str, columns: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
        """Columns of one file; InvalidMeasurement when they are not inside."""
        known = self.columns.get(relative_path, {})
        if not set(columns) <= known.keys():
            raise InvalidMeasurement(f"{relative_path}: its samples are not inside this report")
        return {name: known[name] for name in columns}

    def summary(self) -> RunSummary:
        """What follows from the samples; computed once."""
        return self._summary

    @cached_property
    def _summary(self) -> RunSummary:
        return replace(summarise(self), manifest_sha256=self.about.manifest_sha256)

    def to_bytes(self) -> bytes:
        """The content of the data block, a zip file; the same dataset gives the same bytes with the same zlib."""
        about = json.dumps(asdict(self.about), separators=(",", ":"), ensure_ascii=False).encode()
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in ((_ABOUT, about), (_MANIFEST, self.document), (_SAMPLES, self.packed)):
                info = zipfile.ZipInfo(name, date_time=_EPOCH)
                info.compress_type = zipfile.ZIP_STORED if name == _SAMPLES else zipfile.ZIP_DEFLATED
                info.external_attr = 0o644 << 16
                archive.writestr(info, content, compresslevel=9)
        return file.getvalue()

    @cached_property
    def plan(self) -> Plan:
        """The plan of the run."""
        return read_plan(self._manifest.plan)

    @cached_property
    def _manifest(self) -> Manifest:
        manifest: Manifest = decode(Manifest, parse_json(self.document))
        return manifest


def opened(content: bytes, where: Path) -> Dataset:
    """The dataset in a data block from the page at `where`.

    InvalidMeasurement when it is damaged; UsageError when an orch with another format wrote it.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            raw, document, packed = (_entry(archive, name) for name in (_ABOUT, _MANIFEST, _SAMPLES))
        about = _about(parse_json(raw), where)
        if (declared := sum(file.rows for file in about.rows)) > MOST_ROWS:
            raise ValueError(f"it declares {declared:,} samples; there are never more than {MOST_ROWS:,}")
        numbers = read_numbers(packed, where, packed_rows.PACKED, declared)
        columns = {name: column.astype(np.int64) for name, column in numbers.items()}
        files = {file.path: rows for file, rows in packed_rows.unpack(about.rows, columns)}
        dataset = Dataset(about, document, files, packed)
        if files.keys() != dataset.manifest().files.keys():
            raise ValueError("the samples inside are not those of its trials")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, NotImplementedError) as error:
        raise InvalidMeasurement(
            f"{where}: the samples inside cannot be read: {error}",
            hint="get the file anew from where it comes; do not trust its figures before",
        ) from error
    return dataset


def _entry(archive: zipfile.ZipFile, name: str) -> bytes:
    """One entry, unpacked up to its limit; nothing is ever written to a disk by its name."""
    most = _MOST_BYTES[name]
    with archive.open(name) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{name} has more than {most:,} bytes")
    return content


def _about(raw: Any, where: Path) -> About:
    version = raw.get("format") if isinstance(raw, dict) else None
    if version != FORMAT:
        raise UsageError(
            f"{where}: its samples are of format {version}; this orch reads format {FORMAT}",
            hint="read it with the orch that wrote it; the page itself can be read by anything",
        )
    about: About = decode_json(About, raw)
    return about
