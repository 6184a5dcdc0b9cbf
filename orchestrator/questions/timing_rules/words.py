"""What misleading rules would publish, in words: for terminal and page."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.timing_rules.find import QUESTION, RuleFigure
from orchestrator.wording.tables.table import Table, text_table

NOTE = (
    "What each rule would publish is no latency: it is in no comparison. Its ratio is to the true median. Found by: the"
    " checks that fail when the rule's record is judged as a requester's."
)


def matrix(figures: Sequence[RuleFigure]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return heads, and a row for each rule: what it would publish for each stack with the ratio, and what finds it."""
    cells = {figure.cell: f"{figure.stack_label} ({_ms(figure.true)})" for figure in figures}
    rows = []
    for rule in dict.fromkeys(figure.rule for figure in figures):
        of_rule = {figure.cell: figure for figure in figures if figure.rule == rule}
        texts = "; ".join(dict.fromkeys(map(found_by, of_rule.values())))
        rows.append((rule, *(_in_short(of_rule[cell]) for cell in cells), texts))
    return ("timing rule", *cells.values(), "found by"), rows


def found_by(figure: RuleFigure) -> str:
    """Return `floor, Little's law (warns: tail shape)`, or that no check found it."""
    if figure.is_empty:
        return "measured nothing"
    warned = f"warns: {', '.join(figure.warned_by)}" if figure.warned_by else ""
    if not figure.is_caught:
        return f"only {warned}" if warned else "not caught"
    return ", ".join(figure.caught_by) + (f" ({warned})" if warned else "")


def sentences(figures: Sequence[RuleFigure]) -> tuple[str, ...]:
    """Return how many rules checks find; none without figures."""
    rules = dict.fromkeys(figure.rule for figure in figures)
    found = [rule for rule in rules if all(figure.is_caught for figure in figures if figure.rule == rule)]
    return (f"Checks find {len(found)} of {len(rules)} misleading timing rules with every stack.",) if rules else ()


def _in_short(figure: RuleFigure) -> str:
    if figure.published is None:
        return "-"
    mean = "mean " if figure.statistic == "mean" else ""
    return f"{mean}{_ms(figure.published)}" + ("" if figure.ratio is None else f" ({quantities.factor(figure.ratio)}×)")


def _ms(value: float | None) -> str:
    return "-" if value is None else quantities.ms(value)


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return what misleading rules would publish and which checks fail for it, a table for each setting."""
    found = QUESTION.of(summary)
    return tuple(
        text_table(
            f"timing rules that mislead · {setting} · beside the true medians",
            *matrix([figure for figure in found if figure.setting == setting]),
            (NOTE, *dict.fromkeys(f"{figure.rule}: {figure.words}." for figure in found)),
            texts=1,
        )
        for setting in dict.fromkeys(figure.setting for figure in found)
    )
