"""What misleading rules would publish, in words: for terminal and page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.timing_rules.find import QUESTION, RuleFigure
from orchestrator.wording.tables.table import Table, text_table

NOTE = (
    "What each rule would publish is no latency: it is in no comparison. Its ratio is to the true median. Found by: the"
    " checks that fail when the rule's record is judged as a requester's."
)

_OTHERWISE: Sequence[tuple[str, Callable[[RuleFigure], bool]]] = (
    ("only a warning", lambda figure: figure.is_warned_of),
    ("measured nothing", lambda figure: figure.is_empty),
    ("not caught", lambda figure: not (figure.is_caught or figure.is_warned_of or figure.is_empty)),
)


def matrix(figures: Sequence[RuleFigure]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads, and a row for each rule: what it would publish for each stack with the ratio, and what finds it."""
    cells = {figure.cell: f"{figure.stack_label} ({_ms(figure.true)})" for figure in figures}
    rows = []
    for rule in dict.fromkeys(figure.rule for figure in figures):
        of_rule = {figure.cell: figure for figure in figures if figure.rule == rule}
        rows.append((rule, *(_in_short(of_rule[cell]) for cell in cells), _found_by_all(tuple(of_rule.values()))))
    return ("timing rule", *cells.values(), "found by"), rows


def found_by(figure: RuleFigure) -> str:
    """`floor, Little's law (warns: tail shape)`, or that no check found it."""
    if figure.refused:
        return "refused when read"
    otherwise = next((text for text, is_so in _OTHERWISE if is_so(figure)), "")
    warned = ", ".join(figure.warned_by)
    if figure.is_warned_of:
        found = f"{otherwise}: {warned}"
    else:
        found = otherwise or ", ".join(figure.caught_by) + (f" (warns: {warned})" if warned else "")
    return found + (f"; failed in any case: {', '.join(figure.failed_anyway)}" if figure.failed_anyway else "")


def sentences(figures: Sequence[RuleFigure]) -> tuple[str, ...]:
    """Return ways to say how many rules checks find, the longest first; none without figures."""
    if not figures:
        return ()
    rules = dict.fromkeys(figure.words for figure in figures)
    found = sum(all(figure.is_caught for figure in figures if figure.words == rule) for rule in rules)
    parts = [f"Checks find out {found} of {len(rules)} misleading timing rules with every stack"]
    for text, is_so in _OTHERWISE:
        such = [figure for figure in figures if is_so(figure)]
        which = [
            f"{rule} ({quantities.listed(list(dict.fromkeys(f.stack_label for f in such if f.words == rule)))})"
            for rule in dict.fromkeys(figure.words for figure in such)
        ]
        parts += [f"{text}: {', '.join(which)}"] if which else []
    return (f"{'; '.join(parts)}.", f"{parts[0]}.")


def _found_by_all(figures: Sequence[RuleFigure]) -> str:
    """What finds one rule; with the stacks in brackets where it is not the same for all."""
    stacks: dict[str, list[str]] = {}
    for figure in figures:
        stacks.setdefault(found_by(figure), []).append(figure.stack_label)
    if len(stacks) == 1:
        return next(iter(stacks))
    return "; ".join(f"{', '.join(labels)}: {text}" for text, labels in stacks.items())


def _in_short(figure: RuleFigure) -> str:
    if figure.published is None:
        return "-"
    mean = "mean " if figure.statistic == "mean" else ""
    return f"{mean}{_ms(figure.published)}" + ("" if figure.ratio is None else f" ({quantities.factor(figure.ratio)}×)")


def _ms(value: float | None) -> str:
    return "-" if value is None else quantities.ms(value)


def _definitions(figures: Sequence[RuleFigure]) -> list[str]:
    """What each rule is, and what the first check that finds it says."""
    firsts = {figure.rule: figure for figure in reversed(figures)}
    rules = dict.fromkeys(figure.rule for figure in figures)
    parts = [(rule, firsts[rule].words, firsts[rule].refused or firsts[rule].explanation) for rule in rules]
    return [f"{': '.join(filter(None, part)).rstrip('.')}." for part in parts]


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return what misleading rules would publish and which checks fail for it, a table for each setting."""
    found = QUESTION.of(summary)
    return tuple(
        text_table(
            f"timing rules that mislead · {setting} · beside the true medians",
            *matrix([figure for figure in found if figure.setting == setting]),
            (NOTE, *_definitions([figure for figure in found if figure.setting == setting])),
            texts=1,
        )
        for setting in dict.fromkeys(figure.setting for figure in found)
    )
