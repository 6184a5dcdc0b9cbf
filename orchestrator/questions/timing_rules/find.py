"""Every rule's record read and checked as any requester's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from orchestrator.checks import run_checks
from orchestrator.evidence.collect import collect
from orchestrator.evidence.run_evidence import CellEvidence, Run, RunEvidence
from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.base import Basis, Observers, Question
from orchestrator.questions.timing_rules.observe import AsRequester, Refused
from orchestrator.statistics import intervals
from services.python.contract.timing_rules import RULES, TimingRule, are_asked_for

READER = "the reader of records"
"""What finds a record that orch refuses to read, beside the checks."""


@dataclass(frozen=True, kw_only=True)
class RuleFigure:
    """One rule for one cell, in ms; the figure of a rule is no latency.

    `published`: the statistic that such code publishes, of its own record; None where orch refuses to read that. `true`:
    the median of the same trials' round trips. `ratio`: of both, the geometric mean over blocks, with its 95 % interval;
    None where a figure is not above zero. `caught_by` and `warned_by`: checks that fail or warn when its record is judged
    as a requester's, and did not for the true one.
    """

    cell: str
    stack_label: str
    setting: str
    rule: str
    words: str
    statistic: Literal["median", "mean"]
    published: float | None = None
    true: float | None
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    caught_by: tuple[str, ...] = ()
    warned_by: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the rule measured nothing: what a check says of times of zero says nothing of the rule."""
        return self.published is not None and self.published <= 0

    @property
    def is_caught(self) -> bool:
        """Whether orch calls such a record invalid, or does not even read it."""
        return bool(self.caught_by) and not self.is_empty


def rule_figures(
    run: Run, evidence: RunEvidence, checks: Sequence[CheckResult], cells: Sequence[CellSummary], observers: Observers
) -> tuple[RuleFigure, ...]:
    """Return rules in their order, and for each its cells in theirs; none where no requests were timed by such rules.

    `evidence`, `checks` and `cells` are those of the true rule. Reads every sample once more for each rule.
    """
    timed = [cell for cell in cells if are_asked_for(cell.factors) and cell.distribution is not None]
    true = {cell.cell.id: cell for cell in evidence.cells}
    return tuple(
        figure
        for rule in RULES
        if timed
        for figure in _of_rule(run, rule, [(cell, true[cell.id]) for cell in timed], checks, observers)
    )


def _of_rule(
    run: Run,
    rule: TimingRule,
    cells: Sequence[tuple[CellSummary, CellEvidence]],
    checks: Sequence[CheckResult],
    observers: Observers,
) -> Iterator[RuleFigure]:
    judged, results, refused = _judged(run, rule, observers)
    by_id = {each.cell.id: each for each in judged}
    for cell, true in cells:
        figure = RuleFigure(
            cell=cell.id,
            stack_label=cell.stack_label,
            setting=cell.setting,
            rule=rule.name,
            words=rule.words,
            statistic=rule.statistic,
            true=cell.distribution.median if cell.distribution else None,
        )
        if cell.id in refused or cell.id not in by_id:
            yield replace(figure, caught_by=(READER,) if cell.id in refused else ())
            continue
        distribution, ratio = by_id[cell.id].distribution, _ratio(by_id[cell.id], true, rule)
        caught, warned = (_names(results, cell.id, verdict) for verdict in ("fail", "warn"))
        known = _names(checks, cell.id, "fail")
        yield replace(
            figure,
            published=None if distribution is None else getattr(distribution, rule.statistic),
            ratio=None if ratio is None else ratio.ratio,
            interval=None if ratio is None else ratio.interval(),
            caught_by=tuple(name for name in caught if name not in known),
            warned_by=tuple(n for n in warned if n not in {*known, *caught, *_names(checks, cell.id, "warn")}),
        )


def _judged(
    run: Run, rule: TimingRule, observers: Observers
) -> tuple[Sequence[CellEvidence], Sequence[CheckResult], Set[str]]:
    """The cells under a rule, the results of the checks, and the cells whose record is refused."""
    refused: set[str] = set()
    while True:
        view = AsRequester(run, rule, without=refused)
        if not any(trial.outcome == "ok" for trial in view.manifest().trials):
            return (), (), refused
        try:
            judged = collect(view, observers)
        except Refused as error:
            refused.add(error.cell)
        else:
            return judged.cells, run_checks(judged), refused


def _names(checks: Sequence[CheckResult], cell: str, verdict: str) -> dict[str, None]:
    """The checks with that verdict on a cell, or on the whole run."""
    return {
        check.name: None
        for check in checks
        if check.verdict == verdict and check.severity != "note" and check.cell in (None, cell)
    }


def _ratio(of_rule: CellEvidence, true: CellEvidence, rule: TimingRule) -> intervals.LogMean | None:
    """What it publishes over the true median, trial by trial; None where one is missing or not above zero."""
    published = {t.record.block: getattr(t.summary, rule.statistic) for t in of_rule.trials if t.summary is not None}
    medians = {t.record.block: t.summary.median for t in true.trials if t.summary is not None}
    pairs = [(published.get(block), medians[block]) for block in sorted(medians)]
    values = [(value, median) for value, median in pairs if value is not None and median is not None]
    if not values or len(values) < len(pairs) or any(value <= 0 or median <= 0 for value, median in values):
        return None
    return intervals.paired([value for value, _ in values], [median for _, median in values])


def _find(basis: Basis) -> tuple[RuleFigure, ...]:
    """Return the figures of rules; read from samples, and kept where a summary is judged again."""
    if basis.sampled is None:
        return QUESTION.of(basis.summary)
    sampled, summary = basis.sampled, basis.summary
    return rule_figures(sampled.run, sampled.evidence, summary.checks, summary.cells, sampled.observers)


QUESTION: Question[tuple[RuleFigure, ...]] = Question(
    name="timing_rules", type=tuple[RuleFigure, ...], empty=(), find=_find
)
