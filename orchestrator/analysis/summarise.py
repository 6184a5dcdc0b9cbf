"""A run folder becomes the one frozen summary: samples are read once, everything else is computed from small numbers."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import asdict, replace
from typing import Any

from orchestrator.analysis import (
    along,
    capacity,
    capacity_words,
    congestion,
    native_clients,
    predictability,
    probes,
    sharing,
    stopping,
    store_tables,
    unresolved,
    validity,
)
from orchestrator.analysis.cells import by_block, summarise_cells
from orchestrator.analysis.checks import CHECKS, run_checks
from orchestrator.analysis.collect import collect, last_attempts
from orchestrator.analysis.compare import compare_cells, compare_costs, compare_spreads
from orchestrator.analysis.conclusion.conclude import conclude
from orchestrator.analysis.conditions import conditions, settings
from orchestrator.analysis.curves import curves, round_trips
from orchestrator.analysis.delivered import delivered, floors_by_block
from orchestrator.analysis.evidence import Run
from orchestrator.analysis.excused import excused
from orchestrator.analysis.misleading import figure_words
from orchestrator.analysis.misleading.judge import rule_figures
from orchestrator.analysis.model.of_run import modelled
from orchestrator.analysis.saturation import find_series
from orchestrator.analysis.scorecard import scorecard
from orchestrator.analysis.series import Delivered
from orchestrator.analysis.summary import CellSummary, RunSummary
from orchestrator.analysis.validity import invalid_cells, withhold
from orchestrator.analysis.verdicts import count_before_answer, verdicts
from orchestrator.analysis.warned_once import warned_once
from orchestrator.analysis.window_fit import window_fits
from orchestrator.catalogue.read import catalogue
from orchestrator.errors import InvalidMeasurement
from orchestrator.experiment.plan import contrasts, documents
from orchestrator.experiment.plan.plan import Plan, read_plan
from orchestrator.results.manifest import Manifest, is_shared


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
    rates = capacity.found_rates(searched, run.manifest(), evidence, cells, checks) if searched is not None else ()
    links = delivered(plan, evidence.readings)
    floors = floors_by_block(evidence.readings)
    invalid = invalid_cells(cells, checks)
    measured = RunSummary(
        run_id=manifest.run_id,
        name=plan.name,
        question=plan.question,
        started_at=manifest.started_at,
        ended_at=manifest.ended_at,
        state=manifest.state,
        verdicts=(),
        conditions=conditions(evidence),
        cells=cells,
        floors=evidence.floors,
        comparisons=(),
        checks=checks,
        warnings=(*warned_once(manifest.warnings), *_off(links), *congestion.remarks(evidence)),
        failed_trials=tuple(asdict(t) for t in last_attempts(manifest.trials) if t.outcome != "ok"),
        repeat_command=_repeat_command(plan.experiment_path, plan.overrides, "referee" if manifest.referee else "run"),
        settings=settings(evidence),
        plan=manifest.plan,
        stopped=stopping.told(plan, _medians(cells), plan.blocks),
        matters=plan.matters,
        found_rates=rates,
        round_trips=round_trips(plan, cells, floors, invalid),
        windows=window_fits(plan, cells, floors, invalid),
        links=links,
        timing_rules=rule_figures(run, evidence, checks, cells, observers),
        prediction=(
            modelled(evidence, cells, links, floors, invalid)
            if searched is None and (plan.hold_out or is_modelled)
            else None
        ),
        manifest_sha256=_manifest_sha256(run),
    )
    return judged(measured, manifest, plan, searched)


def judged(measured: RunSummary, manifest: Manifest, plan: Plan, searched: Plan | None = None) -> RunSummary:
    """What follows from a run's cells, checks and rates: comparisons, curves, every sentence, the answer.

    Whatever `measured` has there is made anew. `searched`: the plan of a run that searched for rates, as it was made.
    """
    cells, checks, rates = measured.cells, measured.checks, measured.found_rates
    invalid = invalid_cells(cells, checks)
    comparisons = withhold(compare_cells(plan, cells, invalid), invalid) if searched is None else ()
    rate_comparisons = capacity.compare_rates(searched, rates) if searched is not None else ()
    compared = {c.cell for c in comparisons} | {c.reference_cell for c in comparisons} or {cell.id for cell in cells}
    why = unresolved.sentences(
        cells,
        comparisons,
        checks,
        manifest.hosts,
        matters=plan.matters,
        is_complete=manifest.state == "complete",
        is_shared=is_shared(manifest.warnings),
    )
    drawn = curves(plan, cells, comparisons, invalid)
    client_shares = native_clients.client_shares(plan, cells, invalid) if searched is None else ()
    of_clients = tuple(text for text in (native_clients.sentence(client_shares),) if text)
    busy = (
        ""
        if why
        else unresolved.caveat(
            unresolved.busy(checks, manifest.hosts, compared, is_shared=is_shared(manifest.warnings))
        )
    )
    if searched is None:
        found, before = verdicts(cells, comparisons, checks, plan.matters), count_before_answer(cells, checks)
    else:
        not_valid = [text for text in (validity.sentence(cells, checks),) if text]
        found, before = (*not_valid, *capacity_words.verdicts(rates, rate_comparisons)), len(not_valid)
    said = _cause_first(found, why or busy, before) if found else ()
    said = along.placed(
        said, drawn, {c.group for c in comparisons}, before + bool(why or busy) + 1, store_tables.sentence(cells)
    )
    is_asked = plan.stability and searched is None
    spreads = withhold(compare_spreads(plan, cells, invalid), invalid) if is_asked else ()
    stability = predictability.sentences(spreads, cells) if said else ()
    rules = figure_words.sentences(measured.timing_rules) if said else ()
    shares = sharing.shares(plan, cells, invalid) if said and searched is None else ()
    leading = (*rules, *(of.sentence for of in shares if of.is_told), *stability)
    said = (*said[:before], *leading, *said[before:], *(of.sentence for of in shares if not of.is_told))
    summary = replace(
        measured,
        verdicts=(*said, *of_clients, *_besides(plan, manifest.plan)) if said else (),
        comparisons=comparisons,
        costs=withhold(compare_costs(plan, cells, invalid), invalid) if searched is None else (),
        spreads=spreads,
        stability=stability,
        saturation=find_series(cells, checks, matters=plan.matters) if searched is None else (),
        rate_comparisons=rate_comparisons,
        busy=busy if said else "",
        shares=shares,
        curves=drawn,
        client_shares=client_shares,
    )
    return replace(
        summary, scorecard=scorecard(searched or plan, summary, catalogue()), conclusion=conclude(summary, rules)
    )


def _searched(run: Run) -> Plan | None:
    """The plan of a run that searched for rates, as it was made; None of any other."""
    document = run.manifest().plan
    if not any(isinstance(cell, dict) and cell.get("find") for cell in document.get("cells", ())):
        return None
    return read_plan(document)


def _medians(cells: tuple[CellSummary, ...]) -> dict[int, dict[str, float]]:
    """The trials' medians by block and cell."""
    found: dict[int, dict[str, float]] = {}
    for cell in cells:
        for block, median in by_block(cell.trials, "median").items():
            found.setdefault(block, {})[cell.id] = median
    return found


def _off(links: tuple[Delivered, ...]) -> tuple[str, ...]:
    """The links that were not as wanted, a sentence each."""
    off = (
        link for link in links if link.why_not and link.measured is not None
    )  # without a ping the run says so itself
    return tuple(f"The link of {link.placement} was not as wanted: {link.why_not}." for link in off)


def _besides(plan: Plan, document: dict[str, Any]) -> tuple[str, ...]:
    """What a reader must know of the stacks whatever was found; `document` is the plan as it is stored."""
    travelled = documents.sentence(document)
    return (*([travelled] if travelled else []), *contrasts.work_sentences(plan.stacks, plan.resolved))


def _cause_first(said: tuple[str, ...], why: str, place: int) -> tuple[str, ...]:
    """Where nothing is resolved, why stands where the answer would; a caveat stands right before it."""
    return (*said[:place], why, *said[place:]) if why else said


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
