"""Every rule's record read and checked as any requester's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from orchestrator.checks import run_checks
from orchestrator.evidence.collect import collect
from orchestrator.evidence.run_evidence import CellEvidence, Run, RunEvidence
from orchestrator.findings.check_result import CheckResult, CheckVerdict
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.base import Basis, Observers, Question
from orchestrator.questions.timing_rules.observe import AsRequester, Refused
from orchestrator.statistics import intervals
from orchestrator.statistics.quantiles import Distribution
from services.python.contract.timing_rules import RULES, TimingRule, are_asked_for


@dataclass(frozen=True, kw_only=True)
class RuleFigure:
    """One rule for one cell. Figures are milliseconds, and those of the rule are no latencies.

    `published`: the statistic that such code publishes, of its own record; None where orch refuses to read that (`refused`
    says why). `true`: the median of the same trials' round trips; `true_alike`: the statistic that is published, of these.
    `ratio`: of `published` to `true`, the geometric mean over blocks, with its 95 % interval; None where a figure is not
    above zero. `caught_by`: the checks that fail when its record is judged as a requester's, and do not fail for the true
    one. `warned_by`: those that then warn, likewise. `explanation`: what the first of them says. `failed_anyway`: the
    checks that fail for the true record, so that they tell nothing of the rule.
    """

    cell: str
    stack_label: str
    setting: str
    rule: str
    words: str
    statistic: Literal["median", "mean"]
    published: float | None = None
    true: float | None
    true_alike: float | None
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    caught_by: tuple[str, ...] = ()
    warned_by: tuple[str, ...] = ()
    explanation: str = ""
    refused: str = ""
    failed_anyway: tuple[str, ...] = ()

    @property
    def is_caught(self) -> bool:
        """Whether orch calls such a record invalid, or does not even read it."""
        return bool(self.caught_by or self.refused) and not self.is_empty

    @property
    def is_warned_of(self) -> bool:
        """Whether checks warn of such a record, and none fails."""
        return bool(self.warned_by) and not (self.is_caught or self.is_empty)

    @property
    def is_empty(self) -> bool:
        """Whether the rule measured nothing: what a check says of times of zero says nothing of the rule."""
        return self.published is not None and self.published <= 0


def rule_figures(
    run: Run, evidence: RunEvidence, checks: Sequence[CheckResult], cells: Sequence[CellSummary], observers: Observers
) -> tuple[RuleFigure, ...]:
    """Rules in their order, and for each its cells in theirs; none where no requests were timed by such rules.

    `evidence`, `checks` and `cells` are those of the true rule. Reads every sample once more for each rule.
    """
    asked = [cell for cell in cells if are_asked_for(cell.factors) and cell.distribution is not None]
    if not asked:
        return ()
    true = {cell.cell.id: cell for cell in evidence.cells}
    return tuple(
        figure
        for rule in RULES
        for figure in _of_rule(run, rule, [(cell, true[cell.id]) for cell in asked], checks, observers)
    )


def _of_rule(
    run: Run,
    rule: TimingRule,
    cells: Sequence[tuple[CellSummary, CellEvidence]],
    checks: Sequence[CheckResult],
    observers: Observers,
) -> Iterator[RuleFigure]:
    judged, found, refused = _judged(run, rule, observers)
    for cell, true in cells:
        figure = RuleFigure(
            cell=cell.id,
            stack_label=cell.stack_label,
            setting=cell.setting,
            rule=rule.name,
            words=rule.words,
            statistic=rule.statistic,
            true=_statistic(cell.distribution, "median"),
            true_alike=_statistic(cell.distribution, rule.statistic),
            refused=refused.get(cell.id, ""),
            failed_anyway=tuple(_with(checks, cell.id, "fail")),
        )
        of_rule = next((of for of in judged if of.cell.id == cell.id and not figure.refused), None)
        if of_rule is None:
            yield figure
            continue
        ratio = _ratio(of_rule, true, rule)
        caught, warned = _with(found, cell.id, "fail"), _with(found, cell.id, "warn")
        known = {*figure.failed_anyway, *_with(checks, cell.id, "warn")}
        caught_by = tuple(name for name in caught if name not in figure.failed_anyway)
        warned_by = tuple(name for name in warned if name not in known and name not in caught)
        yield replace(
            figure,
            published=_statistic(of_rule.distribution, rule.statistic),
            ratio=None if ratio is None else ratio.ratio,
            interval=None if ratio is None else ratio.interval(),
            caught_by=caught_by,
            warned_by=warned_by,
            explanation=next(({**warned, **caught}[name] for name in (*caught_by, *warned_by)), ""),
        )


def _statistic(distribution: Distribution | None, name: str) -> float | None:
    return None if distribution is None else getattr(distribution, name)


def _judged(
    run: Run, rule: TimingRule, observers: Observers
) -> tuple[Sequence[CellEvidence], Sequence[CheckResult], dict[str, str]]:
    """The cells under a rule with what the checks find, and why what cells are refused."""
    refused: dict[str, str] = {}
    while True:
        view = AsRequester(run, rule, without=refused)
        if not any(trial.outcome == "ok" for trial in view.manifest().trials):
            return (), (), refused
        try:
            judged = collect(view, observers)
        except Refused as error:
            refused[error.cell] = error.message
        else:
            return judged.cells, run_checks(judged), refused


def _with(checks: Sequence[CheckResult], cell: str, verdict: CheckVerdict) -> dict[str, str]:
    """What the checks with that verdict say of a cell, or of the whole run; by name, the worst of each."""
    said: dict[str, str] = {}
    for check in checks:
        if check.verdict == verdict and check.severity != "note" and check.cell in (None, cell):
            said.setdefault(check.name, check.explanation)
    return said


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
