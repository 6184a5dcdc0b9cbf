"""What each misleading rule would publish of the requests that it timed, beside their true median.

No figure of a rule is a latency. docs/how-to/examine-figures.md says which checks fail for such records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from orchestrator.evidence.run_evidence import COLUMNS, CellEvidence, Run, Samples
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.base import Basis, Question
from orchestrator.record_layout import KINDS
from orchestrator.statistics import intervals
from orchestrator.statistics.quantiles import NS_PER_MS
from services.python.contract.timing_rules import RULES, TimingRule, are_asked_for

REQUEST, MISLEADING = map(KINDS.index, ("request", "misleading"))
_COLUMNS = (*COLUMNS, "parent")

Columns = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class RuleFigure:
    """One rule for one cell, in ms.

    `published`: the statistic that such code publishes, the geometric mean over trials. `ratio`: of that to the true median,
    trial by trial, with its 95 % interval. None of a rule with a trial whose figure is not above zero.
    """

    cell: str
    stack_label: str
    setting: str
    rule: str
    words: str
    statistic: Literal["median", "mean"]
    published: float | None
    true: float | None
    ratio: float | None
    interval: tuple[float, float] | None


def rule_figures(run: Run, evidence: Sequence[CellEvidence], cells: Sequence[CellSummary]) -> tuple[RuleFigure, ...]:
    """Return rules in their order, and for each its cells in theirs; none where no requests were timed by such rules."""
    timed = {cell.id: cell for cell in cells if are_asked_for(cell.factors) and cell.distribution is not None}
    by_cell = [(timed[each.cell.id], _published(run, each)) for each in evidence if each.cell.id in timed]
    return tuple(_figure(cell, rule, trials) for rule in RULES for cell, trials in by_cell)


def _published(run: Run, cell: CellEvidence) -> list[tuple[float, Mapping[str, float]]]:
    """Of each trial its true median, and what each rule would publish; ms."""
    trials: list[tuple[float, Mapping[str, float]]] = []
    for trial in cell.trials:
        paths = [part.samples for part in trial.record.requesters if part.samples is not None]
        if trial.summary is not None and trial.summary.median is not None and len(paths) == 1:
            columns = run.samples(paths[0], _COLUMNS)
            trials.append((trial.summary.median, {rule.name: _statistic(columns, rule) for rule in RULES}))
    return trials


def _statistic(columns: Columns, rule: TimingRule) -> float:
    stamped = with_stamps_of(columns, RULES.index(rule) + 1, has_warm_up=rule.has_warm_up)
    latencies = Samples(stamped).latency_ns / NS_PER_MS
    if not latencies.size:
        return 0.0
    return float(np.mean(latencies) if rule.statistic == "mean" else np.median(latencies))


def _figure(cell: CellSummary, rule: TimingRule, trials: Sequence[tuple[float, Mapping[str, float]]]) -> RuleFigure:
    values, medians = [figures[rule.name] for _, figures in trials], [median for median, _ in trials]
    is_known = bool(values) and min(values) > 0 and min(medians) > 0
    ratio = intervals.paired(values, medians) if is_known else None
    return RuleFigure(
        cell=cell.id,
        stack_label=cell.stack_label,
        setting=cell.setting,
        rule=rule.name,
        words=rule.words,
        statistic=rule.statistic,
        published=intervals.of_trials(values).ratio if is_known else None,
        true=cell.distribution.median if cell.distribution else None,
        ratio=None if ratio is None else ratio.ratio,
        interval=None if ratio is None else ratio.interval(),
    )


def with_stamps_of(columns: Columns, number: int, *, has_warm_up: bool) -> dict[str, npt.NDArray[Any]]:
    """Return the requests of a record alone, with the stamps of that rule; those that failed keep theirs."""
    is_request = columns["kind"] == REQUEST
    stamped = {name: values[is_request].copy() for name, values in columns.items()}
    is_of_rule = (columns["kind"] == MISLEADING) & (columns["sequence"] == number)
    order = np.argsort(stamped["sequence"], kind="stable")
    rows = order[np.searchsorted(stamped["sequence"][order], columns["parent"][is_of_rule])]
    for name, source in (("intended_ns", "sent_ns"), ("sent_ns", "sent_ns"), ("received_ns", "received_ns")):
        stamped[name][rows] = columns[source][is_of_rule]
    if not has_warm_up:
        stamped["phase"][:] = 1
    return stamped


def _find(basis: Basis) -> tuple[RuleFigure, ...]:
    """Return the figures of rules; read from samples, and kept where a summary is judged again."""
    if basis.sampled is None:
        return QUESTION.of(basis.summary)
    return rule_figures(basis.sampled.run, basis.sampled.evidence.cells, basis.summary.cells)


QUESTION: Question[tuple[RuleFigure, ...]] = Question(
    name="timing_rules", type=tuple[RuleFigure, ...], empty=(), find=_find
)
