"""Checks that fail for what a search looked for: a rate that was too high, and what came of it.

Above what a stack answers, requests fail and their connections are opened anew, or not one is answered. What a check finds
besides still counts: a wrong reply, another responder, a schedule that was not kept, requests that failed in trials that
*held*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.checks.network import connections
from orchestrator.checks.replies import completeness, reply
from orchestrator.experiment.model.goal import ERRORS
from orchestrator.experiment.plan.loads import at_step
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.check_result import CheckResult
from orchestrator.questions.saturation.find import is_beyond_capacity
from orchestrator.results.manifest import Manifest, TrialRecord


def excused(searched: Plan, manifest: Manifest, checks: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """The checks of a run of searches, with those that fail for nothing but rates that were too high not applicable.

    `searched` is the plan of the searches, `manifest` that of the rates tried.
    """
    excuses = _Excuses(searched, manifest)
    return tuple(_excused(check, excuses.why(check)) if check.verdict == "fail" else check for check in checks)


def _excused(check: CheckResult, why: str) -> CheckResult:
    if not why:
        return check
    text = f"{why}: {check.explanation}"
    return replace(check, verdict="not applicable", explanation=text, action="Nothing to do.")


class _Excuses:
    """Which trials of each rate held and which did not, and at which rates errors are what the goals bound."""

    def __init__(self, searched: Plan, manifest: Manifest) -> None:
        self._held: dict[str, list[TrialRecord]] = {}
        self._missed: dict[str, list[TrialRecord]] = {}
        for record in manifest.trials:
            if record.probe is not None and record.probe.verdict in ("held", "not held"):
                records = self._held if record.probe.verdict == "held" else self._missed
                records.setdefault(record.cell, []).append(record)
        self._may_fail = {
            at_step(cell, step).id
            for cell in searched.cells
            if cell.find is not None and any(goal.statistic == ERRORS for goal in cell.find.goals)
            for step in range(cell.find.steps + 1)
        }

    def why(self, check: CheckResult) -> str:
        """Why this check, which failed, says nothing against what was found, as a clause; empty where it does."""
        if check.name == reply.NAME and check.cell in self._may_fail and check.evidence.get(reply.MISSING_ALONE):
            return "The goals of the search say how many errors there may be"
        if check.cell not in self._missed:
            return ""
        is_excused = (
            (is_beyond_capacity(check) and check.evidence.get("trial") in self._indexes(check.cell))
            or (check.name == reply.NAME and self._only_missing(check))
            or (check.name == connections.NAME and self._reopened(check))
            or (check.name == completeness.NAME and self._unanswered(check))
        )
        return "A search tried this rate, and its goals did not hold" if is_excused else ""

    def _indexes(self, cell: str) -> set[int]:
        return {record.index for record in self._missed[cell]}

    def _only_missing(self, check: CheckResult) -> bool:
        """Requests without a right reply, and nothing else, in trials that missed."""
        if not check.evidence.get(reply.MISSING_ALONE):
            return False
        done = [part.done for record in self._held.get(str(check.cell), ()) for part in record.requesters if part.done]
        failed = sum(sum(done_part.errors.values()) for done_part in done)
        return not reply.percentiles_moved(failed, sum(done_part.requests for done_part in done))

    def _reopened(self, check: CheckResult) -> bool:
        """Connections that broke with the requests on them, in a trial that missed; none in one that held."""
        opened, failed = check.evidence.get("opened"), check.evidence.get("errors")
        held = [part.done for record in self._held.get(str(check.cell), ()) for part in record.requesters if part.done]
        return (
            check.evidence.get("trial") in self._indexes(str(check.cell))
            and isinstance(opened, int)
            and isinstance(failed, int)
            and 0 < opened <= failed
            and not any(part.connections_opened for part in held)
        )

    def _unanswered(self, check: CheckResult) -> bool:
        """No trial gave a sample, as in each of them not one request got a right reply."""
        failed = sum(record.failure is not None for record in self._missed[str(check.cell)])
        return check.evidence.get("finished") == 0 and check.evidence.get("failed") == failed > 0
