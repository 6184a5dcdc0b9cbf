"""The checks: small modules, and one table of them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from orchestrator.checks.base import Check, Finding, gravity, not_applicable, worst
from orchestrator.checks.ends import control, cpu_time, own_work, referee, responder_core, together
from orchestrator.checks.latency import modes, noise, steady_state
from orchestrator.checks.load import event_stream, flight, in_flight, offered_load, ramp
from orchestrator.checks.network import clocks, connections, floor, packets, round_trips
from orchestrator.checks.replies import codec_size, completeness, reply
from orchestrator.evidence.run_evidence import RunEvidence
from orchestrator.findings.check_result import CheckResult
from services.python.contract.limits import KINDS

CHECKS: tuple[Check, ...] = (
    floor.CHECK,
    round_trips.CHECK,
    packets.GOODPUT,
    in_flight.CHECK,
    flight.CHECK,
    ramp.CHECK,
    completeness.CHECK,
    reply.CHECK,
    event_stream.CHECK,
    connections.CHECK,
    offered_load.CHECK,
    together.CHECK,
    responder_core.CHECK,
    cpu_time.CHECK,
    own_work.CHECK,
    steady_state.CHECK,
    modes.CHECK,
    noise.CHECK,
    packets.CHECK,
    clocks.CHECK,
    codec_size.CHECK,
    control.CHECK,
    referee.CHECK,
)

_NOTHING = not_applicable("nothing-to-check")


def run_checks(run: RunEvidence) -> tuple[CheckResult, ...]:
    """Every check over every cell that has a finished trial, in the table's order; of each check, the worst cells first.

    Completeness looks at cells without one, too.
    A check that applies to nothing in the run says so once, so that no name is ever silently missing; for a cell of a kind
    of work that it does not judge it says that.
    """
    results: list[CheckResult] = []
    blocks = {trial.record.index: trial.record.block for cell in run.cells for trial in cell.trials}
    for check in CHECKS:
        of_its_kinds = replace(run, cells=tuple(cell for cell in run.cells if cell.cell.kind in check.kinds))
        findings: list[tuple[Finding | None, str | None]] = []
        if of_its_kinds.cells or not run.cells:
            findings += [(worst(check.judge_last(of_its_kinds, results)), None)] if check.judge_last else []
        findings += [
            (check.judged(cell, of_its_kinds), cell.cell.id)
            for cell in of_its_kinds.cells
            if cell.trials or check.judges_empty
        ]
        judged = [kind for kind in KINDS if kind in check.kinds]
        for cell in (cell.cell for cell in run.cells if cell.cell.kind not in check.kinds):
            findings.append((not_applicable("other-kind", judged=judged, measured=cell.kind), cell.id))
        ranked = sorted(((f, cell_id) for f, cell_id in findings if f), key=lambda pair: gravity(pair[0]), reverse=True)
        of_check = [check.result(_with_block(finding, blocks), cell_id) for finding, cell_id in ranked]
        results += of_check or [check.result(_NOTHING, None)]
    return tuple(results)


def _with_block(finding: Finding, blocks: Mapping[int, int]) -> Finding:
    """Adds the block of a trial that the evidence names by its index; tables show blocks, counted from one."""
    trial = finding.evidence.get("trial")
    if not isinstance(trial, int) or trial not in blocks:
        return finding
    return replace(finding, evidence={"block": blocks[trial] + 1, **finding.evidence})


def failed_names(results: Iterable[CheckResult]) -> list[str]:
    """The checks that failed somewhere, each once."""
    return list(dict.fromkeys(result.name for result in results if result.verdict == "fail"))
