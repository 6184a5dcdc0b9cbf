"""What misleading rules would publish, in words: for terminal and page."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.analysis.misleading.figures import RuleFigure

HEADS = ("timing rule", "stack", "it would publish", "true median", "ratio (95 % interval)", "found by")
NOTE = (
    "What each rule would publish is no latency: it is in no comparison. Found by: the checks that fail when the rule's"
    " record is judged as a requester's; in brackets those that only warn."
)


def row(figure: RuleFigure) -> tuple[str, ...]:
    """The cells of a table, as in `HEADS`."""
    return (figure.words, figure.stack_label, _published(figure), _ms(figure.true), _ratio(figure), found_by(figure))


def found_by(figure: RuleFigure) -> str:
    """`floor, Little's law (warns: tail shape)`, or that no check found it."""
    if figure.refused:
        return "refused when read"
    warned = f" (warns: {', '.join(figure.warned_by)})" if figure.warned_by else ""
    failed = f"; failed in any case: {', '.join(figure.failed_anyway)}" if figure.failed_anyway else ""
    return f"{', '.join(figure.caught_by) or 'not caught'}{warned}{failed}"


def sentences(figures: Sequence[RuleFigure]) -> tuple[str, ...]:
    """How many rules are found out with every stack, and which are not; none without figures."""
    if not figures:
        return ()
    rules = list(dict.fromkeys(figure.words for figure in figures))
    missed = [f for f in figures if not f.is_caught]
    which = [
        f"{rule} ({words.listed([f.stack_label for f in missed if f.words == rule])})"
        for rule in dict.fromkeys(f.words for f in missed)
    ]
    found = len(rules) - len(which)
    text = f"Checks find out {found} of {len(rules)} misleading timing rules with every stack"
    return (f"{text}; not caught: {'; '.join(which)}." if which else f"{text}.",)


def _published(figure: RuleFigure) -> str:
    if figure.published is None:
        return "-"
    alike = f" (true {figure.statistic} {_ms(figure.true_alike)})" if figure.statistic != "median" else ""
    return f"{figure.statistic} {_ms(figure.published)}{alike}"


def _ms(value: float | None) -> str:
    return "-" if value is None else words.ms(value)


def _ratio(figure: RuleFigure) -> str:
    if figure.ratio is None:
        return "-"
    between = "" if figure.interval is None else " ({} to {})".format(*words.bounds(figure.interval))
    return f"{words.factor(figure.ratio)}×{between}"
