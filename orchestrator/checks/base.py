"""What a check is: it may read each trial's samples once, and judges a cell (or the run) from what it kept of them.

`fail` means that a number cannot be what it claims to be, `warn` that it needs care, `cannot tell` that what the check
needs was not measured. A noisy machine is a warning, never a failure. A finding has the numbers that it used, and the kind
of what it found; `wording.checks` says in one or two short sentences what was measured, what was expected and what follows,
and names an action that the reader can take. `not applicable` is not a pass: nothing was checked.

What judges absolute times or shares fails by one rule: the stack, and not the machine, must be the cause. `in_most` makes a
warning of what only some of a cell's trials show; `is_of_the_stack` also holds each block against its other cells, as
a machine that is disturbed disturbs them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from typing import Any, Literal, Self

from orchestrator.evidence.run_evidence import CellEvidence, RunEvidence, Samples
from orchestrator.findings.check_result import WORST_FIRST, CheckResult, CheckVerdict, Overload, Point
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from services.python.contract.limits import Kind

Severity = Literal["fatal", "serious", "note"]

CALLS: frozenset[Kind] = frozenset({"call", "task"})  # one call, or several that are timed as one
CODECS: frozenset[Kind] = frozenset({"codec"})  # without a network: one message after the other, encoded and decoded
STREAMS: frozenset[Kind] = frozenset({"stream"})  # the events of subscriptions


def point(kind: str, **values: Any) -> Point:
    """Return one thing that was found."""
    return Point(kind=kind, values=values)


@dataclass(frozen=True)
class Finding:
    """What a check says of one cell, or of the run; `weight` orders findings of one verdict, the most serious first.

    `wording.checks` makes a sentence of each point, from the evidence and the point's own values.
    """

    verdict: CheckVerdict
    points: tuple[Point, ...]
    evidence: dict[str, Any] = field(default_factory=dict)
    weight: float = 0.0
    overload: Overload | None = None

    @classmethod
    def of(
        cls,
        verdict: CheckVerdict,
        kind: str | Sequence[Point],
        evidence: dict[str, Any] | None = None,
        *,
        weight: float = 0.0,
        overload: Overload | None = None,
        **values: Any,
    ) -> Self:
        """Return a finding of one point, of this kind and with these values, or of several points."""
        points = (point(kind, **values),) if isinstance(kind, str) else tuple(kind)
        return cls(verdict, points, evidence or {}, weight, overload)


passes = partial(Finding.of, "pass")
warns = partial(Finding.of, "warn")
fails = partial(Finding.of, "fail")
cannot_tell = partial(Finding.of, "cannot tell")
not_applicable = partial(Finding.of, "not applicable")

NO_SIZES = cannot_tell("no-sizes")


def untroubled(
    troubles: Sequence[Point], lost: str, evidence: dict[str, Any], good: str, *, weight: float = 0.0, **values: Any
) -> Finding:
    """Return all that is wrong, as one finding of this weight, with the action of `lost`; `good` where nothing is wrong."""
    if not troubles:
        return passes(good, evidence, **values)
    return fails((*troubles, point(lost)), evidence, weight=weight)


def not_reported(field: str, evidence: dict[str, Any], responder_of: CellEvidence | None = None) -> Finding:
    """Return that the requester, or a cell's responder, did not report a field of the line that it prints at the end."""
    if responder_of is None:
        return cannot_tell("requester-did-not-report", evidence, field=field)
    own = responder_of.stack.external is not None
    return cannot_tell("responder-did-not-report", evidence, field=field, own=own)


Judged = Finding | Iterable[Finding | None] | None
"""What a check finds of a cell: the most serious of several counts."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check of the registry.

    `kinds` are the kinds of work that it judges: it never sees a cell of another kind.
    `observe` sees each requester's samples of a trial; `judge` is given the cell, whose `parts(name)` hold what was
    observed, `judge_beside` the cell and its run, `judge_last` the whole run and what all checks before it found; None
    where the check does not apply. `severity` is how bad a fail is; `otherwise` is what counts of a cell in which nothing
    was found, good or bad.
    """

    name: str
    severity: Severity
    kinds: frozenset[Kind]
    judge: Callable[[CellEvidence], Judged] | None = None
    judge_beside: Callable[[CellEvidence, RunEvidence], Judged] | None = None
    judge_last: Callable[[RunEvidence, Sequence[CheckResult]], Judged] | None = None
    observe: Callable[[Samples], Any] | None = None
    judges_empty: bool = False  # cells without a finished trial, too
    otherwise: Finding | None = None

    def judged(self, cell: CellEvidence, run: RunEvidence) -> Finding | None:
        """Return the most serious finding of a cell, with its run beside it."""
        judged = self.judge(cell) if self.judge else None
        judged = self.judge_beside(cell, run) if self.judge_beside else judged
        return worst(judged) or self.otherwise

    def result(self, finding: Finding, cell: str | None) -> CheckResult:
        """The finding as it is stored and shown."""
        return CheckResult(
            name=self.name,
            verdict=finding.verdict,
            severity=self.severity,
            cell=cell,
            evidence=_as_json_has_it(finding.evidence),
            points=tuple(point(each.kind, **_as_json_has_it(each.values)) for each in finding.points),
            overload=finding.overload,
        )


def _as_json_has_it(value: Any) -> Any:
    """The same with lists for tuples, so that a result that was stored and read back is equal to what it was."""
    if isinstance(value, dict):
        return {key: _as_json_has_it(item) for key, item in value.items()}
    return [_as_json_has_it(item) for item in value] if isinstance(value, list | tuple) else value


def is_of_the_stack(by_block: Mapping[int, float], limit: float, beside: Sequence[Mapping[int, float]] = ()) -> bool:
    """Whether most of a cell's blocks, three or more, lie beyond the limit on top of what is typical of the block's others.

    `by_block`: a share of the cell by the number of the block; `beside`: the same of the cells that it is compared with.
    """
    own = 0
    for block, share in by_block.items():
        others = [other[block] for other in beside if block in other]
        own += share - max(0.0, median(others) if others else 0.0) > limit
    return len(by_block) >= FEWEST_BLOCKS and 2 * own > len(by_block)


def in_most(findings: Sequence[Finding], trials: int) -> list[Finding]:
    """Findings of one kind from single trials: failures of no more than half of the trials are warnings."""
    failed = {finding.evidence["trial"] for finding in findings if finding.verdict == "fail"}
    if 2 * len(failed) > trials:
        return list(findings)
    return [
        replace(
            finding,
            verdict="warn",
            overload=None,
            evidence={**finding.evidence, "trials": len(failed), "of_trials": trials},
            points=(*finding.points, point("in-some-trials")),
        )
        if finding.verdict == "fail"
        else finding
        for finding in findings
    ]


def worst(judged: Judged) -> Finding | None:
    """The most serious finding, the first of equals; None without any."""
    if judged is None or isinstance(judged, Finding):
        return judged
    return max((finding for finding in judged if finding is not None), key=gravity, default=None)


def gravity(finding: Finding) -> tuple[int, float]:
    """Order findings of one check: by the verdict, then by the weight."""
    return rank(finding.verdict), finding.weight


def rank(verdict: CheckVerdict) -> int:
    """The higher, the sooner a reader must know."""
    return len(WORST_FIRST) - WORST_FIRST.index(verdict)
