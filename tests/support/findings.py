"""Summaries and cells with other findings and factors than their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.experiment.model.factor import Value
from orchestrator.findings.summary import CellSummary, RunSummary


def with_findings(summary: RunSummary, **findings: Any) -> RunSummary:
    """Return the summary with these findings, by the question's name."""
    return replace(summary, findings={**summary.findings, **findings})


def counted(cell: CellSummary, **counts: Any) -> CellSummary:
    """Return the cell with other counts."""
    return replace(cell, counts=replace(cell.counts, **counts))


def labelled(cell: CellSummary, **labels: str) -> CellSummary:
    """Return the cell with other labels."""
    return replace(cell, labels=replace(cell.labels, **labels))


def measured(run: RunSummary, **facts: Any) -> RunSummary:
    """Return the run with other facts of which run it was."""
    return replace(run, run=replace(run.run, **facts))


def having(cell: CellSummary, **values: Value) -> CellSummary:
    """Return the cell with other values of some factors."""
    return replace(cell, factors={**cell.factors, **values})
