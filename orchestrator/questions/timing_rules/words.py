"""What misleading rules would publish, in words: for terminal and page."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.timing_rules.find import QUESTION, RuleFigure
from orchestrator.wording.tables.table import Table, text_table

NOTE = (
    "What each rule would publish is no latency: it is in no comparison. Its ratio is to the true median. Which checks fail"
    " for such records: docs/how-to/examine-figures.md."
)


def sentences(figures: Sequence[RuleFigure]) -> tuple[str, ...]:
    """Return how far misleading rules are off; none without figures."""
    ratios = sorted(figure.ratio for figure in figures if figure.ratio is not None)
    if not ratios:
        return ()
    low, high = quantities.factor(ratios[0]), quantities.factor(ratios[-1])
    rules = quantities.count(len({figure.rule for figure in figures}), "misleading timing rule")
    return (f"{rules} would publish {low} to {high} times the true median.",)


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return what misleading rules would publish, a table for each setting."""
    figures = QUESTION.of(summary)
    return tuple(
        _table(setting, [figure for figure in figures if figure.setting == setting])
        for setting in dict.fromkeys(figure.setting for figure in figures)
    )


def _table(setting: str, figures: Sequence[RuleFigure]) -> Table:
    cells = {figure.cell: f"{figure.stack_label} ({_ms(figure.true)})" for figure in figures}
    texts = {(figure.rule, figure.cell): _text(figure) for figure in figures}
    rules = {figure.rule: figure.words for figure in figures}
    return text_table(
        f"timing rules that mislead · {setting} · beside the true medians",
        ("timing rule", *cells.values()),
        [(rule, *(texts[rule, cell] for cell in cells)) for rule in rules],
        (NOTE, *(f"{rule}: {words}." for rule, words in rules.items())),
        texts=1,
    )


def _text(figure: RuleFigure) -> str:
    if figure.published is None or figure.ratio is None:
        return "-"
    mean = "mean " if figure.statistic == "mean" else ""
    return f"{mean}{_ms(figure.published)} ({quantities.factor(figure.ratio)}×)"


def _ms(value: float | None) -> str:
    return "-" if value is None else quantities.ms(value)
