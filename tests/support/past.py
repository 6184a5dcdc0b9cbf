"""Runs on disk as `orch runs` and `orch runs trend` read them: journal, plan, manifest and summary, without samples.

One small run is made and judged once, and written under other names, times and figures from there on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from orchestrator.findings.condition import Condition
from orchestrator.findings.summary import RunSummary
from orchestrator.results.documents import write_json
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import documents
from tests.support.findings import measured
from tests.support.runs import MemoryRun, a_plan, a_run, write_documents, write_run

STARTED = "2026-11-21T02:55:00+00:00"


@cache
def base() -> tuple[MemoryRun, RunSummary]:
    """A clean run of rest and grpc in three blocks, and its summary."""
    run = a_run(plan=a_plan(blocks=3))
    summary = summarise(run)
    cells = (
        replace(
            cell,
            details=replace(cell.details, strip=None),
            distribution=None if cell.distribution is None else replace(cell.distribution, curve=()),
        )
        for cell in summary.cells
    )  # without what only the report draws
    return run, replace(summary, cells=tuple(cells), findings={})


def a_past_run(
    path: Path,
    *,
    experiment: str = "synthetic",
    started: str = STARTED,
    judged: bool = True,
    change: Callable[[RunSummary], RunSummary] = lambda summary: summary,
) -> Path:
    """A finished run of ours at `path`; `change` alters what analysis found, before it is stored."""
    run, summary = base()
    plan = replace(run.stored.plan, name=experiment)
    write_documents(replace(run.stored, run_id=path.name, plan=plan, started_at=started), path)
    if judged:
        digest = hashlib.sha256((path / "manifest.json").read_bytes()).hexdigest()
        of_run = {"id": path.name, "name": experiment, "started_at": started, "manifest_sha256": digest}
        for name, document in documents(change(measured(summary, **of_run))).items():
            write_json(path / name, document)
    return path


def with_samples(path: Path) -> Path:
    """The same run with its samples, as it can be verified and judged."""
    run, _ = base()
    return write_run(run, path)


def slower(by: float, *, noise: float = 0.0) -> Callable[[RunSummary], RunSummary]:
    """A change that makes every trial of grpc take so many times as long (and all of them, by `noise` as a share)."""

    def change(summary: RunSummary) -> RunSummary:
        cells = []
        for cell in summary.cells:
            times = (by if cell.protocol == "grpc" else 1.0) * (1 + noise)
            trials = tuple(
                replace(
                    trial,
                    median=None if trial.median is None else trial.median * times,
                    p99=None if trial.p99 is None else trial.p99 * times,
                    throughput_per_s=trial.throughput_per_s / times,
                )
                for trial in cell.trials
            )
            of = cell.distribution
            middle = None if of is None or of.median is None else of.median * times
            cells.append(replace(cell, trials=trials, distribution=None if of is None else replace(of, median=middle)))
        return replace(summary, cells=tuple(cells))

    return change


def under(**conditions: str) -> Callable[[RunSummary], RunSummary]:
    """A change of conditions, by their kinds (`CPU_governor` for `CPU governor`)."""
    others = tuple(Condition(name.replace("_", " "), value) for name, value in conditions.items())
    kinds = {condition.kind for condition in others}

    def change(summary: RunSummary) -> RunSummary:
        kept = (condition for condition in summary.conditions if condition.kind not in kinds)
        return replace(summary, conditions=(*kept, *others))

    return change
