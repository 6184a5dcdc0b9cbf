"""A run folder becomes the one frozen summary: samples are read once, everything else is computed from small numbers."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import asdict, replace
from typing import Any

from orchestrator.analysis import along, congestion, unresolved, validity
from orchestrator.analysis.cells import summarise_cells
from orchestrator.analysis.checks import CHECKS, run_checks
from orchestrator.analysis.collect import collect, last_attempts
from orchestrator.analysis.compare import compare_cells, compare_costs
from orchestrator.analysis.conclusion.conclude import conclude
from orchestrator.analysis.conditions import conditions, settings
from orchestrator.analysis.evidence import Run
from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.validity import invalid_cells, withhold
from orchestrator.analysis.verdicts import count_before_answer, verdicts
from orchestrator.analysis.warned_once import warned_once
from orchestrator.errors import InvalidMeasurement
from orchestrator.experiment.plan import contrasts, documents
from orchestrator.experiment.plan.plan import Plan, read_plan
from orchestrator.questions import registry
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.base import Basis, Sampled
from orchestrator.questions.capacity import observe as probes
from orchestrator.questions.capacity import words as capacity_words
from orchestrator.questions.capacity.excuse import excused
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.clients import words as client_words
from orchestrator.questions.clients.find import QUESTION as CLIENTS
from orchestrator.questions.distance.links import Delivered, delivered
from orchestrator.questions.sentences import leading as question_sentences
from orchestrator.questions.stores import words as store_words
from orchestrator.questions.timing_rules import words as rule_words
from orchestrator.questions.timing_rules.find import QUESTION as TIMING_RULES
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
    measured = RunSummary(
        run_id=manifest.run_id,
        name=plan.name,
        question=plan.question,
        started_at=manifest.started_at,
        ended_at=manifest.ended_at,
        state=manifest.state,
        verdicts=(),
        conditions=conditions(evidence),
        cells=summarise_cells(evidence, checks),
        floors=evidence.floors,
        comparisons=(),
        checks=checks,
        warnings=(
            *warned_once(manifest.warnings),
            *_off(delivered(plan, evidence.readings)),
            *congestion.remarks(evidence),
        ),
        failed_trials=tuple(asdict(t) for t in last_attempts(manifest.trials) if t.outcome != "ok"),
        repeat_command=_repeat_command(plan.experiment_path, plan.overrides, "referee" if manifest.referee else "run"),
        settings=settings(evidence),
        plan=manifest.plan,
        matters=plan.matters,
        manifest_sha256=_manifest_sha256(run),
    )
    sampled = Sampled(run=run, evidence=evidence, observers=observers, is_modelled=is_modelled)
    return judged(measured, manifest, plan, searched, sampled)


def judged(
    measured: RunSummary,
    manifest: Manifest,
    plan: Plan,
    searched: Plan | None = None,
    sampled: Sampled | None = None,
) -> RunSummary:
    """What follows from a run's cells and checks: comparisons, findings, every sentence, the answer.

    Whatever `measured` has there is made anew, but for what is read from samples and was not read just now (`sampled`).
    `searched`: the plan of a run that searched for rates, as it was made.
    """
    cells, checks = measured.cells, measured.checks
    invalid = invalid_cells(cells, checks)
    compared = replace(
        measured,
        comparisons=withhold(compare_cells(plan, cells, invalid), invalid) if searched is None else (),
        costs=withhold(compare_costs(plan, cells, invalid), invalid) if searched is None else (),
    )
    findings = registry.find(Basis(plan=plan, searched=searched, summary=compared, invalid=invalid, sampled=sampled))
    summary = replace(compared, findings=findings)
    return _worded(summary, manifest, plan, searched)


def _worded(summary: RunSummary, manifest: Manifest, plan: Plan, searched: Plan | None) -> RunSummary:
    cells, checks, comparisons = summary.cells, summary.checks, summary.comparisons
    used = {c.cell for c in comparisons} | {c.reference_cell for c in comparisons} or {cell.id for cell in cells}
    shared = is_shared(manifest.warnings)
    why = unresolved.sentences(
        cells,
        comparisons,
        checks,
        manifest.hosts,
        matters=plan.matters,
        is_complete=manifest.state == "complete",
        is_shared=shared,
    )
    of_clients = tuple(text for text in (client_words.sentence(CLIENTS.of(summary)),) if text)
    busy = "" if why else unresolved.caveat(unresolved.busy(checks, manifest.hosts, used, is_shared=shared))
    if searched is None:
        found, before = verdicts(cells, comparisons, checks, plan.matters), count_before_answer(cells, checks)
    else:
        not_valid = [text for text in (validity.sentence(cells, checks),) if text]
        found, before = (*not_valid, *capacity_words.verdicts(CAPACITY.of(summary))), len(not_valid)
    said = _cause_first(found, why or busy, before) if found else ()
    groups = {c.group for c in comparisons}
    behind = before + bool(why or busy) + 1
    said = along.placed(said, AXES.of(summary), groups, behind, store_words.sentence(cells))
    if said:
        leading, others = question_sentences(summary)
        said = (*said[:before], *leading, *said[before:], *others)
    summary = replace(
        summary,
        verdicts=(*said, *of_clients, *_besides(plan, manifest.plan)) if said else (),
        busy=busy if said else "",
    )
    return replace(
        summary, conclusion=conclude(summary, rule_words.sentences(TIMING_RULES.of(summary)) if said else ())
    )


def _searched(run: Run) -> Plan | None:
    """The plan of a run that searched for rates, as it was made; None of any other."""
    document = run.manifest().plan
    if not any(isinstance(cell, dict) and cell.get("find") for cell in document.get("cells", ())):
        return None
    return read_plan(document)


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
