"""What a check is: it may look at each trial's samples once, and judges a cell (or the run) from what was kept.

Rules of the house: `fail` says that a number cannot be what it is said to be, `warn` that it is to be read with care,
`cannot tell` that what the check needs was not measured. A noisy machine is a warning, never a failure. A finding gives
the numbers it used, one sentence that explains and one that says what to do. `not applicable` is no pass: nothing was looked
at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from orchestrator.analysis.counts import WORST_FIRST
from orchestrator.analysis.evidence import CellEvidence, RunEvidence, Samples
from orchestrator.analysis.summary import CheckResult, CheckVerdict
from services.python.contract.limits import Kind

Severity = Literal["fatal", "serious", "note"]

CALLS: frozenset[Kind] = frozenset({"call"})
STREAMS: frozenset[Kind] = frozenset({"stream"})
CALLS_AND_STREAMS: frozenset[Kind] = CALLS | STREAMS


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check says of one cell, or of the run; `weight` orders findings of one verdict, the gravest first."""

    verdict: CheckVerdict
    explanation: str
    evidence: dict[str, Any] = field(default_factory=dict)
    action: str = "Nothing to do."
    weight: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Check:
    """One row of the registry.

    `kinds` are the kinds of work that it judges: a cell of another kind is in nothing that it is given.
    `observe` sees each requester's samples of a trial; `judge` is given the cell, whose `parts(name)` hold what was
    seen, `judge_beside` the cell and the run that it stands in, `judge_run` the whole run, `judge_last` that and what all
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
    """The gravest of the findings, the first of several alike; None without any."""
    return max(findings, key=gravity, default=None)


def gravity(finding: Finding) -> tuple[int, float]:
    """By what findings of one check are ordered: their verdict, then their weight."""
    return rank(finding.verdict), finding.weight


def rank(verdict: CheckVerdict) -> int:
    """The higher, the sooner a reader must know."""
    return len(WORST_FIRST) - WORST_FIRST.index(verdict)
