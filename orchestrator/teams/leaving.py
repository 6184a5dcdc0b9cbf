"""A finished run of this user, with what leaves the machine of it: rows for a dataset and a record for an index."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orchestrator.analysis.summary import RunSummary
from orchestrator.errors import UsageError
from orchestrator.exports import samples
from orchestrator.exports.cells import cell_rows
from orchestrator.exports.column import Row, Value
from orchestrator.exports.findings import run_row
from orchestrator.history import read
from orchestrator.history.noted import Annotations
from orchestrator.history.record import RunRecord
from orchestrator.results.folder import RunFolder
from orchestrator.results.stored_manifest import manifest_to_dict

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Leaving:
    """A finished run of ours. Its rows are made from manifest and samples, which name no host, person or folder."""

    folder: RunFolder
    summary: RunSummary
    record: RunRecord
    noted: Annotations

    @property
    def id(self) -> str:
        """The run's id."""
        return self.record.id

    @property
    def digest(self) -> str:
        """The SHA-256 of its manifest: what distinguishes it from another run of its id."""
        return self.record.manifest_sha256

    def about(self) -> Row:
        """The run's row of `layout.RUNS`, partitions left out."""
        record = self.record
        row = {name: value for name, value in run_row(self.summary).items() if name not in ("run", "experiment")}
        return {
            "name": record.name,
            **row,
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

    def cells(self) -> list[dict[str, Value]]:
        """Rows of `exports.cells.COLUMNS`."""
        return cell_rows(self.summary)

    def pieces(self) -> Iterator[pa.Table]:
        """The samples, file by file, with the columns of `exports.samples.COLUMNS`."""
        for piece in samples.pieces(self.folder, self.summary):
            yield piece.table


def leaving(folder: RunFolder, summary: RunSummary, noted: Annotations) -> Leaving:
    """The run as it may leave; UsageError for one in progress, and for one that was not made here or was changed since.

    InvalidMeasurement where a file of it is damaged.
    """
    record = replace(read.read_run(folder), **read.of_summary(summary), is_ours=True, trouble="")
    digest = record.manifest_sha256 or _digest(folder)
    run = summary.run_id
    return Leaving(
        folder=folder,
        summary=summary,
        record=replace(record, id=run, run_id=run, manifest_sha256=digest),
        noted=noted,
    )


def require_finished_and_ours(folder: RunFolder) -> None:
    """UsageError for a run that may not be published."""
    if folder.is_in_progress:
        raise UsageError(f"run {folder.id} is still in progress", hint="wait until it has ended")
    why = folder.why_not_ours()
    if why is not None:
        raise UsageError(f"run {folder.id} is not published: {why}", hint="whoever made it publishes it from there")


def _digest(folder: RunFolder) -> str:
    """Of a run that was killed, and has no manifest.json yet."""
    document = json.dumps(manifest_to_dict(folder.manifest()), sort_keys=True, allow_nan=False)
    return hashlib.sha256(document.encode()).hexdigest()
