"""Packs a run folder into what its report can carry, and makes the page that carries it."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict
from typing import Protocol

from orchestrator import __version__
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.evidence.run_evidence import Run
from orchestrator.record_layout import COLUMNS
from orchestrator.report.dataset import block, flat_figures, packed_rows
from orchestrator.report.dataset.carried_run import FORMAT, MOST_ROWS, About, Dataset
from orchestrator.report.render import render


class Folder(Run, Protocol):
    """What is packed: a `results.folder.RunFolder`, say."""

    @property
    def id(self) -> str:
        """The run's id."""

    def rows(self, relative_path: str) -> int:
        """How many rows a samples file declares; InvalidMeasurement where it declares more than it can hold."""


def page(dataset: Dataset) -> str:
    """The report that carries this dataset; the same dataset gives the same text, but for what zlib does."""
    summary = dataset.summary()
    return block.with_blocks(render(summary, dataset.samples_inside), flat_figures.block(summary), dataset.to_bytes())


def packed(folder: Folder) -> Dataset:
    """All samples of a run, its plan and what each trial recorded.

    UsageError for a run with more than `MOST_ROWS` samples; InvalidMeasurement when a file of the run is damaged, or no
    trial has finished.
    """
    manifest = folder.manifest()
    if (count := sum(folder.rows(path) for path in manifest.files)) > MOST_ROWS:
        raise UsageError(
            f"{folder.id} has {count:,} samples; a report carries at most {MOST_ROWS:,}",
            hint="leave --samples out, and send the run folder",
        )
    columns = {path: folder.samples(path, COLUMNS) for path in manifest.files}
    rows, samples = packed_rows.pack(columns)
    about = About(
        format=FORMAT,
        orch=__version__,
        run_id=manifest.run_id,
        manifest_sha256=_manifest_sha256(folder),
        rows=rows,
    )
    document = json.dumps(asdict(manifest), separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    return Dataset(about, document, columns, samples)


def _manifest_sha256(folder: Folder) -> str:
    with suppress(InvalidMeasurement):
        return hashlib.sha256(folder.manifest_bytes()).hexdigest()
    return ""
