"""Every rule's record read and checked as any requester's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from orchestrator.analysis import intervals
from orchestrator.analysis.check_result import CheckResult, CheckVerdict
from orchestrator.analysis.checks import run_checks
from orchestrator.analysis.collect import collect
from orchestrator.analysis.evidence import CellEvidence, Run, RunEvidence, Samples
from orchestrator.analysis.misleading.as_requester import AsRequester, Refused
from orchestrator.analysis.misleading.figures import RuleFigure
from orchestrator.analysis.summary import CellSummary
from services.python.contract.timing_rules import RULES, TimingRule, are_asked_for

Observers = Mapping[str, Callable[[Samples], Any]]


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
        told: dict[str, Any] = {"rule": rule.name, "words": rule.words, "statistic": rule.statistic}
        told |= {"cell": cell.id, "stack_label": cell.stack_label, "setting": cell.setting}
        known_true = cell.distribution
        told["true"] = None if known_true is None else known_true.median
        told["true_alike"] = None if known_true is None else getattr(known_true, rule.statistic)
        failed_anyway = tuple(_with(checks, cell.id, "fail"))
        if cell.id in refused or judged is None:
            yield RuleFigure(
                **told,
                published=None,
                ratio=None,
                interval=None,
                refused=refused.get(cell.id, "nothing of it could be read"),
                failed_anyway=failed_anyway,
            )
            continue
        of_rule = next(of for of in judged.cells if of.cell.id == cell.id)
        ratio = _ratio(of_rule, true, rule)
        caught, warned = _with(found, cell.id, "fail"), _with(found, cell.id, "warn")
        known = {*failed_anyway, *_with(checks, cell.id, "warn")}
        caught_by = tuple(name for name in caught if name not in failed_anyway)
        warned_by = tuple(name for name in warned if name not in known and name not in caught)
        of = of_rule.distribution
        yield RuleFigure(
            **told,
            published=None if of is None else getattr(of, rule.statistic),
            ratio=None if ratio is None else ratio.ratio,
            interval=None if ratio is None else ratio.interval(),
            caught_by=caught_by,
            warned_by=warned_by,
            explanation=next(({**warned, **caught}[name] for name in (*caught_by, *warned_by)), ""),
            failed_anyway=failed_anyway,
        )


def _judged(
    run: Run, rule: TimingRule, observers: Observers
) -> tuple[RunEvidence | None, Sequence[CheckResult], dict[str, str]]:
    """The run under a rule with what the checks find, and why what cells are refused; None where all of them are."""
    refused: dict[str, str] = {}
    while True:
        view = AsRequester(run, rule, without=refused)
        if not any(trial.outcome == "ok" for trial in view.manifest().trials):
            return None, (), refused
        try:
            judged = collect(view, observers)
        except Refused as error:
            refused[error.cell] = error.message
        else:
            return judged, run_checks(judged), refused


def _with(checks: Sequence[CheckResult], cell: str, verdict: CheckVerdict) -> dict[str, str]:
    """What the checks with that verdict say of a cell, or of the whole run; by name, each once."""
    found = [c for c in checks if c.verdict == verdict and c.severity != "note" and c.cell in (None, cell)]
    return {check.name: check.explanation for check in reversed(found)}


def _ratio(of_rule: CellEvidence, true: CellEvidence, rule: TimingRule) -> intervals.LogMean | None:
    """What it publishes over the true median, trial by trial; None where one is missing or not above zero."""
    published = {t.record.block: getattr(t.summary, rule.statistic) for t in of_rule.trials if t.summary is not None}
    medians = {t.record.block: t.summary.median for t in true.trials if t.summary is not None}
    pairs = [(published.get(block), medians[block]) for block in sorted(medians)]
    values = [(value, median) for value, median in pairs if value is not None and median is not None]
    if not values or len(values) < len(pairs) or any(value <= 0 or median <= 0 for value, median in values):
        return None
    return intervals.paired([value for value, _ in values], [median for _, median in values])
