"""A run's summary, cut to what tables need: small enough to be committed, and read back strictly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import InvalidMeasurement
from orchestrator.findings.summary import CellSummary, RunSummary, TrialSummary
from orchestrator.findings.validity import invalid_cells
from orchestrator.shapes import decode_json
from orchestrator.wording.left_out import verdicts
from orchestrator.wording.notes import warnings

FORMAT = 1
_FACTS = ("Provider", "Machine", "CPU", "CPUs", "Memory", "Kernel", "System", "Virtualisation", "Python")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One trial: the replicate. Milliseconds, replies per second; None where it has too few requests, or too many failed."""

    block: int
    mean: float | None
    median: float | None
    p99: float | None
    throughput_per_s: float


@dataclass(frozen=True, kw_only=True)
class Events:
    """What came of a stream's events; milliseconds."""

    offered: int
    delivered: int
    dropped: int
    gap_p99: float | None
    per_s: float | None  # delivered, over the time that the streams lasted


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell's figures: milliseconds over all its trials, but for percentiles, which are those of its trials."""

    id: str
    factors: dict[str, Any]
    load: str
    samples: int
    errors: int
    min: float | None
    mean: float | None
    median: float | None
    median_interval: tuple[float, float] | None
    sd: float | None
    p95: float | None
    p99: float | None
    max: float | None
    throughput_per_s: float | None
    trials: tuple[Trial, ...]
    events: Events | None = None
    invalid: tuple[str, ...] = ()  # checks that failed


@dataclass(frozen=True, kw_only=True)
class Kept:
    """One run: what was asked, when, where, with which orch, and what came of it. `pings` are mean round trips in ms."""

    format: int
    name: str
    command: str
    experiment: str
    overrides: tuple[str, ...]
    orch: str  # the commit, with `, changed` where files differed from it
    run_id: str
    started_at: str
    ended_at: str | None
    machine: str
    facts: dict[str, str]
    versions: dict[str, str]  # of the libraries of both ends
    checks: str
    warnings: tuple[str, ...]
    pings: dict[str, float]
    cells: tuple[Cell, ...]

    def cell(self, asked: Mapping[str, Any]) -> Cell | None:
        """The only cell with these values of factors; None without one, ValueError where several have them."""
        found = [cell for cell in self.cells if all(cell.factors.get(name) == value for name, value in asked.items())]
        if len(found) > 1:
            raise ValueError(f"{self.name}: {len(found)} cells have {dict(asked)}")
        return found[0] if found else None


def cut(
    summary: RunSummary,
    *,
    name: str,
    command: str,
    experiment: str,
    overrides: tuple[str, ...],
    orch: str,
    machine: str,
) -> Kept:
    """What is kept of a run; InvalidMeasurement of one that did not come to its end."""
    if summary.run.state != "complete":
        raise InvalidMeasurement(f"run {summary.run.id} is {summary.run.state}", hint="make it again")
    invalid = invalid_cells(summary.cells, summary.checks)
    told = {condition.kind: condition.value for condition in summary.conditions}
    return Kept(
        format=FORMAT,
        name=name,
        command=command,
        experiment=experiment,
        overrides=overrides,
        orch=orch,
        run_id=summary.run.id,
        started_at=summary.run.started_at,
        ended_at=summary.run.ended_at,
        machine=machine,
        facts={fact: told[fact] for fact in _FACTS if fact in told},
        versions=_versions(summary),
        checks=verdicts(summary.checks),
        warnings=warnings(summary),
        pings={
            floor.placement: floor.distribution.mean
            for floor in summary.floors
            if floor.kind == "ping" and floor.distribution and floor.distribution.mean is not None
        },
        cells=tuple(_cell(cell, invalid.get(cell.id, ())) for cell in summary.cells),
    )


def _versions(summary: RunSummary) -> dict[str, str]:
    """What the ends of all stacks reported of their libraries, by name."""
    found: dict[str, str] = {}
    for settings in summary.settings.values():
        for end in ("responder_versions", "client_versions"):
            found |= settings.get(end) or {}
    return dict(sorted(found.items()))


def _cell(cell: CellSummary, invalid: tuple[str, ...]) -> Cell:
    of = cell.distribution
    return Cell(
        id=cell.id,
        factors={name: value for name, value in cell.factors.items() if value is not None},
        load=cell.labels.load,
        samples=of.n if of else 0,
        errors=cell.counts.failed,
        min=of.minimum if of else None,
        mean=of.mean if of else None,
        median=of.median if of else None,
        median_interval=cell.median_interval,
        sd=of.sd if of else None,
        p95=of.p95 if of else None,
        p99=of.p99 if of else None,
        max=None if of is None or "maximum" in of.censored else of.maximum,
        throughput_per_s=cell.throughput_per_s,
        trials=tuple(_trial(trial) for trial in cell.trials),
        events=_events(cell),
        invalid=invalid,
    )


def _trial(trial: TrialSummary) -> Trial:
    return Trial(
        block=trial.block,
        mean=trial.mean,
        median=trial.median,
        p99=trial.p99,
        throughput_per_s=trial.throughput_per_s,
    )


def _events(cell: CellSummary) -> Events | None:
    of = cell.details.stream
    if of is None:
        return None
    return Events(
        offered=of.offered,
        delivered=of.delivered,
        dropped=of.dropped,
        gap_p99=of.gap_p99,
        per_s=cell.throughput_per_s,
    )


def text_of(kept: Kept) -> str:
    """The file: a line for each cell, so that a change of figures is easy to read."""
    document = asdict(kept)
    cells = document.pop("cells")
    head = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
    lines = ",\n".join(
        "  " + json.dumps(_rounded(cell), ensure_ascii=False, allow_nan=False, separators=(",", ":")) for cell in cells
    )
    return f'{head},\n "cells": [\n{lines}\n ]\n}}\n'


def _rounded(value: Any) -> Any:
    """Numbers to seven significant digits: more is noise."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value


def read(path: Path) -> Kept:
    """What `text_of` wrote; ValueError for another format, or a key that is missing, unknown or of another type."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise ValueError(f"{path.name}: not of format {FORMAT}")
    kept: Kept = decode_json(Kept, raw)
    return kept
