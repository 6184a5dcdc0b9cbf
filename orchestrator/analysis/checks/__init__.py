"""The checks: one small module each, one table of them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from orchestrator.analysis.checks import (
    between_trials,
    bimodal,
    clocks,
    codec_size,
    completeness,
    connections,
    control,
    flight,
    floor,
    goodput,
    modes,
    noise,
    offered_load,
    order,
    own_work,
    packets,
    ramp,
    reply,
    responder_core,
    round_trips,
    stamps,
    steady_state,
    tail,
    together,
)
from orchestrator.analysis.checks.base import Check, Finding, gravity
from orchestrator.analysis.evidence import RunEvidence
from orchestrator.analysis.summary import CheckResult

CHECKS: tuple[Check, ...] = (
    floor.CHECK,
    round_trips.CHECK,
    goodput.CHECK,
    stamps.CHECK,
    *flight.CHECKS,
    ramp.CHECK,
    completeness.CHECK,
    order.CHECK,
    reply.CHECK,
    connections.CHECK,
    offered_load.CHECK,
    together.CHECK,
    responder_core.CHECK,
    own_work.CHECK,
    steady_state.CHECK,
    tail.CHECK,
    modes.CHECK,
    noise.CHECK,
    packets.CHECK,
    clocks.CHECK,
    *between_trials.CHECKS,
    bimodal.CHECK,
    codec_size.CHECK,
    control.CHECK,
)

_NOTHING = Finding(verdict="not applicable", explanation="There is nothing in this run that it applies to.")


def run_checks(run: RunEvidence) -> tuple[CheckResult, ...]:
    """Every check over every cell that has a finished trial, in the table's order; of each check, the worst cells first.

    Completeness looks at cells without one, too.
    A check that applies to nothing in the run says so once, so that no name is ever silently missing.
    """
    results: list[CheckResult] = []
    blocks = {trial.record.index: trial.record.block for cell in run.cells for trial in cell.trials}
    for check in CHECKS:
        found: list[tuple[Finding | None, str | None]] = [(check.judge_run(run), None)] if check.judge_run else []
        found += [(check.judge_last(run, results), None)] if check.judge_last else []
        judged = [cell for cell in run.cells if cell.trials or check.judges_empty]
        found += [(check.judge(cell), cell.cell.id) for cell in judged if check.judge]
        found += [(check.judge_beside(cell, run), cell.cell.id) for cell in judged if check.judge_beside]
        ranked = sorted(((f, cell_id) for f, cell_id in found if f), key=lambda pair: gravity(pair[0]), reverse=True)
        of_check = [check.result(_with_block(finding, blocks), cell_id) for finding, cell_id in ranked]
        results += of_check or [check.result(_NOTHING, None)]
    return tuple(results)


def _with_block(finding: Finding, blocks: Mapping[int, int]) -> Finding:
    """A trial that the evidence names by its number is found in the tables by its block, counted from one there."""
    trial = finding.evidence.get("trial")
    if not isinstance(trial, int) or trial not in blocks:
        return finding
    return replace(finding, evidence={"block": blocks[trial] + 1, **finding.evidence})


def failed_names(results: Iterable[CheckResult]) -> list[str]:
    """The checks that failed somewhere, each once."""
    return list(dict.fromkeys(result.name for result in results if result.verdict == "fail"))
