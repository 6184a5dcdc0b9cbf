"""Checks that fail for what a search looked for: a rate that was too high, and what came of it.

Above what a stack answers, requests fail and their connections are opened anew, or not one is answered. What a check finds
besides still counts: a wrong reply, another responder, a schedule that was not kept, requests that failed in trials that
*held*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.checks.base import point
from orchestrator.checks.network import connections
from orchestrator.checks.replies import completeness, reply
from orchestrator.experiment.model.goal import ERRORS
from orchestrator.experiment.plan.loads import at_step
from orchestrator.findings.check_result import CheckResult
from orchestrator.questions.saturation.find import is_beyond_capacity
from orchestrator.results.manifest import Manifest, TrialRecord


def excused(manifest: Manifest, checks: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """The checks, of a run of searches with those that fail for nothing but rates that were too high not applicable.

    `manifest` is that of the rates tried, with the plan of the searches.
    """
    held: dict[str, list[TrialRecord]] = {}
    missed: dict[str, list[TrialRecord]] = {}
    for record in manifest.trials:
        if record.probe is not None and record.probe.verdict in ("held", "not held"):
            (held if record.probe.verdict == "held" else missed).setdefault(record.cell, []).append(record)
    may_fail = {
        at_step(cell, step).id
        for cell in manifest.plan.cells
        if cell.find is not None and any(goal.statistic == ERRORS for goal in cell.find.goals)
        for step in range(cell.find.steps + 1)
    }

    def judged(check: CheckResult) -> CheckResult:
        cell, why = str(check.cell), ""
        if check.verdict != "fail":
            return check
        if check.name == reply.NAME and cell in may_fail and check.evidence.get(reply.MISSING_ALONE):
            why = "goals-allow-errors"
        elif cell in missed and _is_of_the_rate(check, held.get(cell, []), missed[cell]):
            why = "goals-did-not-hold"
        if not why:
            return check
        return replace(check, verdict="not applicable", points=(point(why), *check.points))

    return tuple(map(judged, checks))


def _is_of_the_rate(check: CheckResult, held: Sequence[TrialRecord], missed: Sequence[TrialRecord]) -> bool:
    """Whether a check failed for nothing but that rate: in trials whose goals did not hold, and in none that held."""
    evidence, done = check.evidence, [part.done for record in held for part in record.requesters if part.done]
    has_missed = evidence.get("trial") in {record.index for record in missed}
    if is_beyond_capacity(check) and has_missed:
        return True
    if check.name == reply.NAME and evidence.get(
        reply.MISSING_ALONE
    ):  # requests without a right reply, and nothing else
        failed = sum(sum(each.errors.values()) for each in done)
        return not reply.percentiles_moved(failed, sum(each.requests for each in done))
    if check.name == connections.NAME:  # connections that broke with the requests on them
        opened, errors = evidence.get("opened"), evidence.get("errors")
        is_broken = isinstance(opened, int) and isinstance(errors, int) and 0 < opened <= errors
        return has_missed and is_broken and not any(each.connections_opened for each in done)
    if check.name == completeness.NAME:  # no trial gave a sample, as in each of them not one request got a right reply
        lost = sum(record.failure is not None for record in missed)
        return evidence.get("finished") == 0 and evidence.get("failed") == lost > 0
    return False
