"""Summaries of runs whose medians and intervals a test writes down: what the short answer is drawn from, without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.plan.plan import Link, Placement, Plan
from orchestrator.experiment.providers import ProviderName
from orchestrator.findings.check_result import CheckResult, Point
from orchestrator.findings.summary import CellSummary, Comparison, Details, RunSummary
from orchestrator.statistics.equivalence import reason, standing
from orchestrator.statistics.terms import Reason, ReasonKind
from tests.support.findings import having, measured
from tests.support.summaries import PLAN, a_run

MATTERS = 0.05
FEW = Reason(kind=ReasonKind.FEW_BLOCKS, numbers={"blocks": 2, "needed": 3})
Times = tuple[float, tuple[float, float] | None]
"""The ratio to the reference, and its interval; None where there is none."""


@cache
def _plain() -> tuple[RunSummary, CellSummary]:
    run = a_run(stacks=1)
    (cell,) = run.cells
    assert cell.distribution is not None
    bare = replace(cell, details=Details(), distribution=replace(cell.distribution, curve=()))
    return replace(measured(run, warnings=()), comparisons=(), checks=()), bare


def cell_of(
    label: str, median: float, *, placement: str = "local", kind: Any = "call", **factors: Value
) -> CellSummary:
    """A cell with this median in ms; `factors` are those by which settings differ."""
    bare = _plain()[1]
    at = "|".join([label, placement, *(f"{name}={value}" for name, value in factors.items())])
    return replace(
        having(bare, placement=placement, **factors),
        id=at,
        stack=label,
        placement=placement,
        labels=replace(
            bare.labels,
            stack=label,
            placement=placement,
            load=f"1,000 requests, {factors.get('concurrency', 1)} in flight",
        ),
        kind=kind,
        distribution=replace(bare.distribution, median=median),
        trials=tuple(replace(trial, median=median * (1 + trial.index / 1e4)) for trial in bare.trials),
        counts=replace(bare.counts, planned_trials=len(bare.trials)),
        median_interval=(median * 0.98, median * 1.02),
    )


def median_of(cell: CellSummary) -> float:
    """Its median in ms."""
    return cell.distribution.median


def beside(cell: CellSummary, reference: CellSummary, interval: tuple[float, float] | None, **more: Any) -> Comparison:
    """The comparison by the median, from both medians and an interval; without one, of two blocks."""
    ratio = median_of(cell) / median_of(reference)
    told = Comparison(
        cell=cell.id,
        reference_cell=reference.id,
        group=reference.setting,
        stack=cell.stack,
        stack_label=cell.labels.stack,
        reference_label=reference.labels.stack,
        statistic="median",
        ratio=ratio,
        interval=interval,
        p_value=None if interval is None else 0.01,
        by_block=(ratio,) * 2 if interval is None else (interval[0], ratio, interval[1]),
        blocks=(0, 1) if interval is None else (0, 1, 2),
        standing=standing(interval, MATTERS),
        reason=FEW if interval is None else reason(interval, MATTERS),
    )
    return replace(told, **more)


def setting(
    medians: Mapping[str, float], width: float = 1.02, **where: Any
) -> tuple[list[CellSummary], list[Comparison]]:
    """Stacks with their medians in ms, the first the reference; each interval is the ratio over and times `width`."""
    cells = [cell_of(label, median, **where) for label, median in medians.items()]
    first, *others = cells
    rows = []
    for cell in others:
        ratio = medians[cell.labels.stack] / medians[first.labels.stack]
        rows.append(beside(cell, first, (ratio / width, ratio * width)))
    return cells, rows


def summary(*settings: tuple[Sequence[CellSummary], Sequence[Comparison]], **more: Any) -> RunSummary:
    """A run of these settings."""
    cells = tuple(cell for cells, _ in settings for cell in cells)
    comparisons = tuple(row for _, rows in settings for row in rows)
    return replace(_plain()[0], cells=cells, comparisons=comparisons, **more)


def far(rtt_ms: float | None, placement: str = "far", provider: ProviderName = "lab") -> Plan:
    """A plan with one distance beside `local`."""
    local = Placement(id="local", name="local", kind="local")
    away = Placement(id=placement, name=placement, kind="cross-region", link=Link(rtt_ms=rtt_ms))
    return replace(PLAN, provider=provider, placements=(local, away))


def check(name: str, cell: str | None, verdict: Any = "fail", **evidence: Any) -> CheckResult:
    """What a check found of a cell; of `noise` it is a note."""
    return CheckResult(
        name=name,
        verdict=verdict,
        severity="note" if name == "noise" else "fatal",
        cell=cell,
        evidence=evidence,
        points=(Point(kind="nothing-to-check"),),
    )


def noisy(cell: str, **shares: float) -> CheckResult:
    """The check *noise* of a cell that reached these shares in a third of its trials."""
    none = {"steal": 0.0, "foreign": 0.0, "throttled": 0.0, "pressure": 0.0, "inside": 0.0}
    return check("noise", cell, "warn", where="local", in_a_third=none | shares, **(none | shares))
