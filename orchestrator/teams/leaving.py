"""A run as it leaves this machine: without the names that its report leaves out (`report.dataset.names`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from orchestrator.analysis.summary import RunSummary
from orchestrator.errors import UsageError
from orchestrator.exports import samples
from orchestrator.exports.cells import cell_rows
from orchestrator.exports.column import Row
from orchestrator.exports.findings import run_row
from orchestrator.history import read
from orchestrator.history.noted import Annotations
from orchestrator.history.record import RunRecord
from orchestrator.report.dataset.made import names_of
from orchestrator.report.dataset.names import Names
from orchestrator.results.documents import manifest_to_dict
from orchestrator.results.folder import RunFolder

if TYPE_CHECKING:
    import pyarrow as pa

_AS_IT_IS = ("kind", "state", "validity", "manifest_sha256", "measures", "started", "ended", "plan_id", "orch_version")
"""Fields of a record that are words and numbers of ours."""


@dataclass(frozen=True)
class Leaving:
    """A finished run of ours. `record`, `noted`, and all rows hold no private name; `folder` and `summary` do."""

    folder: RunFolder
    summary: RunSummary
    names: Names
    record: RunRecord
    noted: Annotations

    @property
    def id(self) -> str:
        """The run's id."""
        return self.record.id

    @property
    def digest(self) -> str:
        """The SHA-256 of its manifest, names and all: what tells it from another run of its id."""
        return self.record.manifest_sha256

    def about(self) -> Row:
        """The run's row of `layout.RUNS`, partitions left out."""
        record = self.record
        told = {name: value for name, value in run_row(self.summary).items() if name not in ("run", "experiment")}
        return {
            "name": record.name,
            **self.names.document(told),
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

    def cells(self) -> list[Row]:
        """Rows of `exports.cells.COLUMNS`."""
        return [self.names.document(row) for row in cell_rows(self.summary)]

    def pieces(self) -> Iterator[pa.Table]:
        """The samples, file by file, with the columns of `exports.samples.COLUMNS`; text is plain text."""
        for piece in samples.pieces(self.folder, self.summary):
            yield self._without_names(piece.table)

    def _without_names(self, table: pa.Table) -> pa.Table:
        import pyarrow as pa

        arrays = []
        for column in table.columns:
            if not pa.types.is_dictionary(column.type):
                arrays.append(column)
                continue
            (part,) = column.chunks
            words = pa.array([self.names.text(word) for word in part.dictionary.to_pylist()], pa.string())
            arrays.append(words.take(part.indices))
        return pa.Table.from_arrays(arrays, names=table.column_names)


def leaving(folder: RunFolder, summary: RunSummary, noted: Annotations) -> Leaving:
    """The run as it may leave; UsageError for one in progress, and for one that was not made here or was changed since.

    InvalidMeasurement where a file of it is damaged.
    """
    names = names_of(folder)
    record = replace(read.read_run(folder), **read.of_summary(summary), is_ours=True, trouble="")
    clean = _without(record, names)
    digest = record.manifest_sha256 or _digest(folder)
    run = names.text(summary.run_id)
    return Leaving(
        folder=folder,
        summary=summary,
        names=names,
        record=replace(clean, id=run, run_id=run, manifest_sha256=digest),
        noted=_without(noted, names),
    )


def require_finished_and_ours(folder: RunFolder) -> None:
    """UsageError for a run that may not be published."""
    if folder.is_in_progress:
        raise UsageError(f"run {folder.id} is still in progress", hint="wait until it has ended")
    why = folder.why_not_ours()
    if why is not None:
        raise UsageError(f"run {folder.id} is not published: {why}", hint="whoever made it publishes it from there")


def _without(value: Any, names: Names) -> Any:
    """The same value whose texts hold no private name."""
    if isinstance(value, str):
        return names.text(value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {
            of.name: _without(getattr(value, of.name), names) for of in fields(value) if of.name not in _AS_IT_IS
        }
        return replace(value, **changed)
    if isinstance(value, dict):
        return {name: _without(of, names) for name, of in value.items()}
    return tuple(_without(of, names) for of in value) if isinstance(value, list | tuple) else value


def _digest(folder: RunFolder) -> str:
    """Of a run that was killed, and has no manifest.json yet."""
    document = json.dumps(manifest_to_dict(folder.manifest()), sort_keys=True, allow_nan=False)
    return hashlib.sha256(document.encode()).hexdigest()
