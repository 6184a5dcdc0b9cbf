"""A run as it travels inside a report: analysis reads it reads a run folder, without a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.experiment.plan.plan import Plan, read_plan
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.capacity.expand import expanded
from orchestrator.report.dataset import container, packed_rows
from orchestrator.report.dataset.container import Broken
from orchestrator.report.dataset.packed_rows import FileOfRows
from orchestrator.results.columns import read_numbers
from orchestrator.results.manifest import Manifest
from orchestrator.shapes import decode, decode_json
from orchestrator.strict_json import parse_json
from orchestrator.summarise import judged, summarise, summary_of_json

FORMAT = 2


@dataclass(frozen=True, kw_only=True)
class About:
    """What a dataset says of itself.

    `orch`: the version that wrote it. `manifest_sha256`: of the run's manifest.json; "" where there was none. `documents`:
    SHA-256 of the other entries as they are inside.
    """

    format: int
    orch: str
    run_id: str
    manifest_sha256: str
    documents: dict[str, str]
    rows: tuple[FileOfRows, ...]


@dataclass(frozen=True)
class Dataset:
    """An `analysis.evidence.Run` whose files are in memory. `columns`: by the path of each samples and baselines file."""

    about: About
    documents: dict[str, bytes]  # all entries but the first and the samples
    columns: dict[str, dict[str, npt.NDArray[Any]]] = field(repr=False)
    packed: bytes = field(repr=False)

    @property
    def path(self) -> Path:
        """What stands for a folder in messages: the run's id."""
        return Path(self.about.run_id)

    @property
    def inside(self) -> int:
        """How many samples are inside: rows of all files, warm-up and baselines included."""
        return sum(file.rows for file in self.about.rows)

    @property
    def of(self) -> int:
        """How many the run has."""
        return sum(file.of for file in self.about.rows)

    @property
    def is_whole(self) -> bool:
        """Whether all of them are inside, so that the figures can be computed again."""
        return self.inside == self.of

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
        """What the samples say; computed once.

        Where not all are inside: cells, floors, checks and rates as they were stored, and all else from these.
        """
        return self._summary

    @cached_property
    def _summary(self) -> RunSummary:
        if self.is_whole:
            return replace(summarise(self), manifest_sha256=self.about.manifest_sha256)
        try:
            stored = summary_of_json(self.documents[container.SUMMARY])
        except (KeyError, ValueError) as error:
            raise InvalidMeasurement(f"{self.path}: its summary is missing or damaged: {error}") from error
        plan, _ = expanded(self.plan, self._manifest)
        has_searches = any(cell.find is not None for cell in self.plan.cells)
        return judged(stored, plan, self.plan if has_searches else None)

    def digest(self) -> str:
        """SHA-256 of every document and every sample, by their digests; nothing of the program that wrote it."""
        samples = [[file.path, file.rows, file.of, file.sha256] for file in self.about.rows]
        content = [self.about.run_id, self.about.manifest_sha256, sorted(self.about.documents.items()), samples]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def to_bytes(self) -> bytes:
        """The content of the data block."""
        return container.zipped(
            {
                container.ABOUT: json.dumps(asdict(self.about), separators=(",", ":"), ensure_ascii=False).encode(),
                **self.documents,
                container.SAMPLES: self.packed,
            }
        )

    @cached_property
    def plan(self) -> Plan:
        """The plan of the run."""
        return read_plan(self._manifest.plan)

    @cached_property
    def _manifest(self) -> Manifest:
        manifest: Manifest = decode(Manifest, parse_json(self.documents[container.MANIFEST]))
        return manifest


def opened(content: bytes, where: Path) -> Dataset:
    """The dataset in a data block from the page at `where`.

    InvalidMeasurement when it is damaged; UsageError when an orch with another format wrote it.
    """
    try:
        entries = container.unzipped(content)
        about = _about(entries.pop(container.ABOUT), where)
        packed = entries.pop(container.SAMPLES)
        for name, sha256 in about.documents.items():
            if hashlib.sha256(entries.get(name, b"")).hexdigest() != sha256:
                raise Broken(f"{name} is not as it was written")
        if (declared := sum(max(0, file.rows) for file in about.rows)) > container.MOST_ROWS:
            raise Broken(f"it declares {declared:,} samples; there are never more than {container.MOST_ROWS:,}")
        numbers = read_numbers(packed, where, packed_rows.PACKED, declared)
        every = list(
            packed_rows.unpack(about.rows, {name: column.astype(np.int64) for name, column in numbers.items()})
        )
        dataset = Dataset(about, entries, {file.path: columns for file, columns in every}, packed)
        _require_as_written(dataset)
    except Broken as error:
        raise error.error(where) from error
    except ValueError as error:
        raise Broken(str(error)).error(where) from error
    return dataset


def _about(content: bytes, where: Path) -> About:
    raw = parse_json(content)
    version = raw.get("format") if isinstance(raw, dict) else None
    if type(version) is not int:
        raise Broken("it does not say of which format it is")
    if version != FORMAT:
        raise UsageError(
            f"{where}: its samples are of format {version}; this orch reads format {FORMAT}",
            hint="read it with the orch that wrote it; the page itself can be read by anything",
        )
    about: About = decode_json(About, raw)
    return about


def _require_as_written(dataset: Dataset) -> None:
    """Broken or ValueError for samples that are not those of the manifest's files, or not as they were written."""
    paths = [file.path for file in dataset.about.rows]
    if len(set(paths)) != len(paths) or set(paths) != set(dataset.manifest().files):
        raise Broken("the samples inside are not those of its trials")
    for file in dataset.about.rows:
        if packed_rows.sha256_of(dataset.columns[file.path]) != file.sha256:
            raise Broken(f"samples of {file.path} were changed: their digest is another one")
