"""Packs a run folder into what its report carries, and writes the report that carries it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from orchestrator import __version__
from orchestrator.errors import InvalidMeasurement
from orchestrator.evidence.run_evidence import Run
from orchestrator.findings.summary import RunSummary
from orchestrator.record_layout import COLUMNS
from orchestrator.report.dataset import block, container, flat_figures, packed_rows
from orchestrator.report.dataset.carried_run import FORMAT, About, Dataset
from orchestrator.report.page import write_page
from orchestrator.report.render import render
from orchestrator.report.view import Inside
from orchestrator.results.manifest import Manifest
from orchestrator.summarise import summarise

MOST_ROWS = 200_000
_PART = 0.3  # of that, of a run with more: no figure follows from a part, so it need not be large
_LEAST_OF_A_FILE = 20  # rows of each, where not all are inside


class Folder(Run, Protocol):
    """What is packed: a `results.folder.RunFolder`, say."""

    @property
    def id(self) -> str:
        """The run's id."""

    def rows(self, relative_path: str) -> int:
        """How many rows a samples file declares; InvalidMeasurement where it declares more than it can hold."""


def write_report(folder: Folder, path: Path, *, summary: RunSummary | None = None) -> Path:
    """Write the report of a run with its samples inside, whole or not at all; errors as `packed` and `page.write_page`.

    `summary`: of the folder, where it is known already.
    """
    return write_page(page(packed(folder, summary=summary)), path)


def page(dataset: Dataset) -> str:
    """The report that carries this dataset; the same dataset gives the same text, but for what zlib does."""
    summary = dataset.summary()
    text = render(summary, Inside(samples=dataset.inside, of=dataset.of))
    return block.with_blocks(text, flat_figures.block(summary), dataset.to_bytes())


def packed(folder: Folder, *, summary: RunSummary | None = None, most_rows: int = MOST_ROWS) -> Dataset:
    """What a report of this run carries.

    Of a run with more than `most_rows` samples it is 30 % as many, the same share of each trial, and the summary of all.
    InvalidMeasurement when a file of the run is damaged, or no trial has finished.
    """
    manifest = folder.manifest()
    counts, columns = _columns(folder, manifest, most_rows)
    documents = {container.MANIFEST: _json(asdict(manifest))}
    about, samples = packed_rows.pack(columns, counts)
    if sum(counts.values()) > sum(part.rows for part in about):
        documents[container.SUMMARY] = _json((summary or summarise(folder)).to_dict())
    return Dataset(
        About(
            format=FORMAT,
            orch=__version__,
            run_id=manifest.run_id,
            manifest_sha256=_manifest_sha256(folder),
            documents={name: hashlib.sha256(content).hexdigest() for name, content in documents.items()},
            rows=about,
        ),
        documents,
        columns,
        samples,
    )


def _columns(
    folder: Folder, manifest: Manifest, most_rows: int
) -> tuple[dict[str, int], dict[str, dict[str, npt.NDArray[Any]]]]:
    """How many rows each file has, and those of its columns that are packed."""
    counts = {path: folder.rows(path) for path in manifest.files}
    total = sum(counts.values())
    packed_columns = {}
    for path, count in counts.items():
        most = (
            count if total <= most_rows else max(min(count, _LEAST_OF_A_FILE), int(count / total * _PART * most_rows))
        )
        places = packed_rows.chosen(count, most)
        columns = folder.samples(path, COLUMNS)
        if columns["sequence"].size != count:
            raise InvalidMeasurement(f"{folder.path / path}: it holds another number of rows than it declares")
        packed_columns[path] = {name: values[places] for name, values in columns.items()}
    return counts, packed_columns


def _manifest_sha256(folder: Folder) -> str:
    with suppress(InvalidMeasurement):
        return hashlib.sha256(folder.manifest_bytes()).hexdigest()
    return ""


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
