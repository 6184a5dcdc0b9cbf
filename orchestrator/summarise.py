"""A run folder becomes the one frozen summary: samples are read once, everything else is computed from small numbers."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import asdict, replace
from typing import Any

from orchestrator.checks import CHECKS, run_checks
from orchestrator.errors import InvalidMeasurement, UsageError
from orchestrator.evidence.cell_summaries import summarise_cells
from orchestrator.evidence.collect import collect
from orchestrator.evidence.conditions import conditions, settings
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.compare import compare_cells, compare_costs
from orchestrator.findings.summary import SCHEMA_VERSION, MeasuredRun, RunSummary
from orchestrator.findings.validity import invalid_cells, withhold
from orchestrator.questions import registry
from orchestrator.questions.base import Basis
from orchestrator.questions.capacity import observe as probes
from orchestrator.questions.capacity.excuse import excused
from orchestrator.questions.stalls import find as stalls
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import Manifest
from orchestrator.shapes import decode_json


def summarise(run: RunFolder, *, is_modelled: bool = False) -> RunSummary:
    """Read and judge a run. Its cost model is fitted where the plan asks for it, or where it `is_modelled`.

    InvalidMeasurement when no trial has finished or a file is damaged; UsageError when the manifest is of a newer
    version than this program knows.
    """
    observers = {check.name: check.observe for check in CHECKS if check.observe}
    is_search = any(cell.find for cell in run.manifest().plan.cells)
    further = probes if is_search else stalls
    evidence = collect(run, observers, {further.NAME: further.observe})
    manifest, plan = evidence.manifest, evidence.plan
    checks = excused(manifest, run_checks(evidence))
    cells = summarise_cells(evidence)
    invalid = invalid_cells(cells, checks)
    summary = RunSummary(
        run=_measured(run, manifest, plan),
        conditions=conditions(evidence),
        cells=cells,
        floors=evidence.floors,
        comparisons=() if is_search else withhold(compare_cells(plan, cells, invalid), invalid),
        costs=() if is_search else withhold(compare_costs(plan, cells, invalid), invalid),
        checks=checks,
        settings=settings(evidence),
        plan=manifest.plan,
        matters=plan.matters,
    )
    basis = Basis(
        run=run,
        evidence=evidence,
        plan=plan,
        summary=summary,
        invalid=invalid,
        is_modelled=is_modelled,
    )
    return replace(summary, findings=registry.find(basis))


def _measured(run: RunFolder, manifest: Manifest, plan: Plan) -> MeasuredRun:
    verb = "referee" if manifest.referee else "run"
    return MeasuredRun(
        id=manifest.run_id,
        name=plan.name,
        question=plan.question,
        started_at=manifest.started_at,
        ended_at=manifest.ended_at,
        state=manifest.state,
        shares_machine=manifest.shares_machine,
        warnings=manifest.warnings,
        failed_trials=tuple(asdict(t) for t in manifest.trials if t.outcome != "ok"),
        repeat_command=_repeat_command(plan.experiment_path, plan.overrides, verb),
        manifest_sha256=_manifest_sha256(run),
    )


def _repeat_command(experiment: str, overrides: tuple[str, ...], verb: str) -> str:
    """The call that makes the run again; a plan without a file of its own is called by what it is."""
    file = experiment or "experiment.yaml"
    return shlex.join(["orch", verb, file, *(part for override in overrides for part in ("--set", override))])


def _manifest_sha256(run: RunFolder) -> str:
    """Of the manifest that the figures are made from; "" where no such one is stored: of a run that was cut, say."""
    try:
        return hashlib.sha256(run.manifest_bytes()).hexdigest()
    except InvalidMeasurement:
        return ""


def summary_of(raw: Any, text: str | None = None) -> RunSummary:
    """Return the summary in what `summary.json` holds, without its seal; `text` is the same as JSON, where it is at hand.

    UsageError names another version; ValueError a key that is missing, unknown, or of another type.
    """
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if type(version) is not int:
        raise ValueError("not the summary of a run: it has no schema_version")
    if version != SCHEMA_VERSION:
        raise UsageError(
            f"a summary of version {version}; this orch reads version {SCHEMA_VERSION}",
            hint="`orch report RUN` makes it anew from the samples",
        )
    summary: RunSummary = decode_json(RunSummary, raw, text)
    return replace(summary, findings=registry.decoded(summary.findings))
