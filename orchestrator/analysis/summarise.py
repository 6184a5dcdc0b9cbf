"""A run folder becomes the one frozen summary: samples are read once, everything else is computed from small numbers."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import asdict, replace

from orchestrator.analysis import capacity, congestion, native_clients, probes, sharing, stopping
from orchestrator.analysis.cells import by_block, summarise_cells
from orchestrator.analysis.checks import CHECKS, run_checks
from orchestrator.analysis.collect import collect, last_attempts
from orchestrator.analysis.compare import compare_cells, compare_costs, compare_spreads
from orchestrator.analysis.conditions import conditions, settings
from orchestrator.analysis.curves import curves, round_trips
from orchestrator.analysis.delivered import delivered, floors_by_block
from orchestrator.analysis.evidence import Run
from orchestrator.analysis.excused import excused
from orchestrator.analysis.misleading.judge import rule_figures
from orchestrator.analysis.model.of_run import modelled
from orchestrator.analysis.saturation import find_series
from orchestrator.analysis.scorecard import scorecard
from orchestrator.analysis.series import Delivered
from orchestrator.analysis.summary import CellSummary, RunSummary
from orchestrator.analysis.validity import invalid_cells, withhold
from orchestrator.analysis.window_fit import window_fits
from orchestrator.catalogue.read import catalogue
from orchestrator.errors import InvalidMeasurement
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.reading import read_plan


def summarise(run: Run, *, is_modelled: bool = False) -> RunSummary:
    """Read and judge a run. Its cost model is fitted where the plan asks for it, or where it `is_modelled`.

    InvalidMeasurement when no trial has finished or a file is damaged; UsageError when the manifest is of a newer
    version than this program knows.
    """
    observers = {check.name: check.observe for check in CHECKS if check.observe}
    searched = _searched(run)
    evidence = collect(run, observers, {} if searched is None else {probes.NAME: probes.observe})
    manifest, plan = evidence.manifest, evidence.plan
    checks = run_checks(evidence)
    if searched is not None:
        checks = excused(searched, manifest, checks)
    cells = summarise_cells(evidence, checks)
    links, floors = delivered(plan, evidence.readings), floors_by_block(evidence.readings)
    invalid = invalid_cells(cells, checks)
    is_modelled = searched is None and bool(plan.hold_out or is_modelled)
    measured = RunSummary(
        run_id=manifest.run_id,
        name=plan.name,
        question=plan.question,
        started_at=manifest.started_at,
        ended_at=manifest.ended_at,
        state=manifest.state,
        conditions=conditions(evidence),
        cells=cells,
        floors=evidence.floors,
        comparisons=(),
        checks=checks,
        warnings=(*manifest.warnings, *run.remarks(), *_off(links), *congestion.remarks(evidence)),
        failed_trials=tuple(asdict(t) for t in last_attempts(manifest.trials) if t.outcome != "ok"),
        repeat_command=_repeat_command(plan.experiment_path, plan.overrides, "referee" if manifest.referee else "run"),
        settings=settings(evidence),
        plan=manifest.plan,
        stopped=stopping.told(plan, _medians(cells), plan.blocks),
        matters=plan.matters,
        found_rates=(
            () if searched is None else capacity.found_rates(searched, run.manifest(), evidence, cells, checks)
        ),
        round_trips=round_trips(plan, cells, floors, invalid),
        windows=window_fits(plan, cells, floors, invalid),
        links=links,
        timing_rules=rule_figures(run, evidence, checks, cells, observers),
        prediction=modelled(evidence, cells, links, floors, invalid) if is_modelled else None,
        manifest_sha256=_manifest_sha256(run),
    )
    return judged(measured, plan, searched)


def judged(measured: RunSummary, plan: Plan, searched: Plan | None = None) -> RunSummary:
    """Return the summary with what follows from its cells, checks and rates: comparisons, curves and shares.

    Whatever `measured` has there is computed anew. `searched`: the plan of a run that searched for rates, as it was made.
    """
    cells, checks = measured.cells, measured.checks
    invalid = invalid_cells(cells, checks)
    if searched is not None:
        summary = replace(measured, rate_comparisons=capacity.compare_rates(searched, measured.found_rates))
    else:
        comparisons = withhold(compare_cells(plan, cells, invalid), invalid)
        summary = replace(
            measured,
            comparisons=comparisons,
            costs=withhold(compare_costs(plan, cells, invalid), invalid),
            spreads=withhold(compare_spreads(plan, cells, invalid), invalid) if plan.stability else (),
            saturation=find_series(cells, checks, matters=plan.matters),
            shares=sharing.shares(plan, cells, invalid),
            client_shares=native_clients.client_shares(plan, cells, invalid),
        )
    summary = replace(summary, curves=curves(plan, cells, summary.comparisons, invalid))
    return replace(summary, scorecard=scorecard(searched or plan, summary, catalogue()))


def _searched(run: Run) -> Plan | None:
    """The plan of a run that searched for rates, as it was made; None of any other."""
    document = run.manifest().plan
    if not any(isinstance(cell, dict) and cell.get("find") for cell in document.get("cells", ())):
        return None
    return read_plan(document)


def _medians(cells: tuple[CellSummary, ...]) -> dict[int, dict[str, float]]:
    """The trials' medians by block and cell."""
    medians: dict[int, dict[str, float]] = {}
    for cell in cells:
        for block, median in by_block(cell.trials, "median").items():
            medians.setdefault(block, {})[cell.id] = median
    return medians


def _off(links: tuple[Delivered, ...]) -> tuple[str, ...]:
    """The links that were not as wanted, a sentence each; without a ping the run says so itself."""
    off = (link for link in links if link.why_not and link.measured is not None)
    return tuple(f"The link of {link.placement} was not as wanted: {link.why_not}." for link in off)


def _repeat_command(experiment: str, overrides: tuple[str, ...], verb: str) -> str:
    """The call that makes the run again; a plan without a file of its own is called by what it is."""
    file = experiment or "experiment.yaml"
    return shlex.join(["orch", verb, file, *(part for override in overrides for part in ("--set", override))])


def _manifest_sha256(run: Run) -> str:
    """Of the manifest that the figures are made from; "" where no such one is stored: of a run that was cut, say."""
    try:
        return hashlib.sha256(run.manifest_bytes()).hexdigest()
    except InvalidMeasurement:
        return ""
