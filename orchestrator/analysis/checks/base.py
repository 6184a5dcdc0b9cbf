"""What a check is: it may read each trial's samples once, and judges a cell (or the run) from what it kept of them.

`fail` means that a number cannot be what it claims to be, `warn` that it needs care, `cannot tell` that what the check
needs was not measured. A noisy machine is a warning, never a failure. A finding gives the numbers it used, says in one or
two short sentences what was measured, what was expected and what follows, and names an action that the reader can take.
`not applicable` is not a pass: nothing was checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from orchestrator.analysis.check_result import CheckResult, CheckVerdict
from orchestrator.analysis.counts import WORST_FIRST
from orchestrator.analysis.evidence import CellEvidence, RunEvidence, Samples
from services.python.contract.limits import Kind

Severity = Literal["fatal", "serious", "note"]

CALLS: frozenset[Kind] = frozenset({"call", "task"})
"""Work made of calls: one, or several that are timed as one."""


CODECS: frozenset[Kind] = frozenset({"codec"})
"""Work without a network: one message after the other, encoded and decoded."""


STREAMS: frozenset[Kind] = frozenset({"stream"})
"""The events of subscriptions."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check says of one cell, or of the run; `weight` orders findings of one verdict, the most serious first."""

    verdict: CheckVerdict
    explanation: str
    evidence: dict[str, Any] = field(default_factory=dict)
    action: str = "Nothing to do."
    weight: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check of the registry.

    `kinds` are the kinds of work that it judges: it never sees a cell of another kind.
    `observe` sees each requester's samples of a trial; `judge` is given the cell, whose `parts(name)` hold what was
    observed, `judge_beside` the cell and its run, `judge_run` the whole run, `judge_last` that and what all
    checks before it found; None where the check does not apply. `severity` is how bad a fail is.
    """

    name: str
    severity: Severity
    kinds: frozenset[Kind]
    judge: Callable[[CellEvidence], Finding | None] | None = None
    judge_beside: Callable[[CellEvidence, RunEvidence], Finding | None] | None = None
    judge_run: Callable[[RunEvidence], Finding | None] | None = None
    judge_last: Callable[[RunEvidence, Sequence[CheckResult]], Finding | None] | None = None
    observe: Callable[[Samples], Any] | None = None
    judges_empty: bool = False  # cells without a finished trial, too

    def result(self, finding: Finding, cell: str | None) -> CheckResult:
        """The finding as it is stored and shown."""
        return CheckResult(
            name=self.name,
            verdict=finding.verdict,
            severity=self.severity,
            cell=cell,
            evidence=_as_json_has_it(finding.evidence),
            explanation=finding.explanation,
            action=finding.action,
        )


def _as_json_has_it(value: Any) -> Any:
    """The same with lists for tuples, so that a result that was stored and read back is equal to what it was."""
    if isinstance(value, dict):
        return {key: _as_json_has_it(item) for key, item in value.items()}
    return [_as_json_has_it(item) for item in value] if isinstance(value, list | tuple) else value


def worst(findings: Iterable[Finding]) -> Finding | None:
    """The most serious finding, the first of equals; None without any."""
    return max(findings, key=gravity, default=None)


def gravity(finding: Finding) -> tuple[int, float]:
    """The key by which findings of one check are ordered: the verdict, then the weight."""
    return rank(finding.verdict), finding.weight


def rank(verdict: CheckVerdict) -> int:
    """The higher, the sooner a reader must know."""
    return len(WORST_FIRST) - WORST_FIRST.index(verdict)
