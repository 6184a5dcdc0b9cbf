"""How latencies spread, as text for a table: the same in terminal and report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orchestrator.analysis import words
from orchestrator.analysis.summary import CellSummary, Comparison, RunSummary
from orchestrator.analysis.table import Table, text_table
from orchestrator.experiment.model.factors import STACK
from orchestrator.questions.stability.find import Least, least
from orchestrator.questions.stability.spread import FIRST, SHOWN, SPREAD_NAMES, SPREADS, CellSpread, SpreadName

HEADS: Mapping[str, str] = {**SPREADS, FIRST: "first request / median"}

NOTE = (
    "SD, IQR and p99/p50 are of a trial's requests, and the first request of a connection over the median is that of a"
    " trial, too: the geometric mean of the trials', and its 95 % interval. A spread that some trial does not have is a"
    " dash: any request without a right reply leaves no SD."
)


def heads(unit: words.Unit) -> dict[str, str]:
    """The head of each column, by `spread.SHOWN`."""
    return {name: f"{HEADS[name]}, {unit.name}" if is_time(name) else HEADS[name] for name in SHOWN}


def is_time(name: str) -> bool:
    """Whether it is in ms; else it is a multiple of the median."""
    return name in ("sd", "iqr")


def value(name: str, amount: float, unit: words.Unit) -> str:
    """The number alone, a time in the table's unit."""
    return unit.text(amount) if is_time(name) else words.factor(amount)


def with_interval(name: str, of: CellSpread | None, unit: words.Unit) -> str:
    """`24.1 (20.3 to 28.6)`; a dash where there is none, a star for an interval wider than a factor of ten."""
    if of is None:
        return "-"
    told = value(name, of.value, unit)
    if of.interval is None:
        return told
    bounds = "*" if words.is_vague(of.interval) else " to ".join(value(name, bound, unit) for bound in of.interval)
    return f"{told} ({bounds})"


# ---- sentences


def sentences(comparisons: Sequence[Comparison], cells: Sequence[CellSummary]) -> tuple[str, ...]:
    """One for each setting, on its stacks; then one for each pair that differs in a factor alone."""
    by_id = {cell.id: cell for cell in cells}
    return (*_of_stacks(comparisons, by_id), *_of_factors(comparisons))


def _of_stacks(comparisons: Sequence[Comparison], cells: Mapping[str, CellSummary]) -> Iterator[str]:
    groups: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        if comparison.factor == STACK and not comparison.control:
            groups.setdefault(comparison.group, []).append(comparison)
    for group, members in groups.items():
        if found := least(members, cells):
            yield f"{group}: {_in_words(found, cells)}{_left_out(members, cells)}."
        else:
            why = "; ".join(dict.fromkeys(c.why for c in members))
            yield f"{group}: which stack is the most predictable cannot be told: {why}."


def _left_out(members: Sequence[Comparison], cells: Mapping[str, CellSummary]) -> str:
    """The stacks that no spread compares with any other, as a clause; empty without one."""
    every = dict.fromkeys(cell for c in members for cell in (c.reference_cell, c.cell))
    told = {cell for c in members if c.standing != "cannot tell" for cell in (c.reference_cell, c.cell)}
    labels = [cells[cell].stack_label for cell in every if cell not in told]
    return f"; not compared: {words.listed(labels)}" if labels else ""


def _in_words(found: Sequence[Least], cells: Mapping[str, CellSummary]) -> str:
    alone = {of.by: of.cells[0] for of in found if len(of.cells) == 1}
    winners = list(dict.fromkeys(alone.values()))
    if not winners:
        lead = "which stack is the most predictable is not resolved"
    elif len(winners) > 1:
        lead = "which stack is the most predictable depends on how spread is measured"
    else:
        label = cells[winners[0]].stack_label
        by = words.listed([f"{SPREADS[name]} ({_value(cells[winners[0]], name)})" for name in alone])
        lead = f"{label} is the most predictable by {by}"
    others = [_each(of, cells) for of in found if of.by not in alone or len(winners) > 1]
    untold = [SPREADS[name] for name in SPREAD_NAMES if name not in {of.by for of in found}]
    others += [f"by {words.listed(untold)} it cannot be told"] if untold else []
    return ": ".join(filter(None, (lead, "; ".join(others)))) if len(winners) != 1 else "; ".join((lead, *others))


def _each(of: Least, cells: Mapping[str, CellSummary]) -> str:
    labels = [f"{cells[cell].stack_label}{_beside(cells[cell], of.by)}" for cell in of.cells]
    if len(labels) == 1:
        return f"by {SPREADS[of.by]} it is {labels[0]}"
    if of.tie:
        return f"by {SPREADS[of.by]} {words.listed(labels)} tie"
    return f"by {SPREADS[of.by]} it may be {', '.join(labels[:-1])} or {labels[-1]}"


def _beside(cell: CellSummary, name: SpreadName) -> str:
    text = _value(cell, name)
    return f" ({text})" if text else ""


def _value(cell: CellSummary, name: SpreadName) -> str:
    of = cell.spreads.get(name)
    return "" if of is None else text(name, of.value)


def text(name: str, value: float) -> str:
    """A spread in running text: `24.1 µs`; of a multiple of the median `1.32`."""
    return words.ms(value) if name in ("sd", "iqr") else words.factor(value)


def _of_factors(comparisons: Sequence[Comparison]) -> Iterator[str]:
    asked: dict[tuple[str, str, str, str], list[Comparison]] = {}
    for c in comparisons:
        if c.factor != STACK:
            asked.setdefault((c.group, c.subject, c.value, c.reference_value), []).append(c)
    for (group, subject, value, reference), members in asked.items():
        each = ", ".join(_against(c) for c in members)
        yield f"{group}: {subject} {value} rather than {reference}: {each}."


def _against(c: Comparison) -> str:
    name = SPREADS[c.statistic]
    if c.ratio is None or c.interval is None:
        return f"{name} {c.standing}"
    low, high = words.bounds(c.interval)
    return f"{name} {words.factor(c.ratio)}× ({low} to {high}: {c.standing})"


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return how steady latencies are, a table for each setting, where the plan asks for it."""
    settings: dict[str, list[CellSummary]] = {}
    for cell in summary.cells if summary.plan.get("stability") else ():
        settings.setdefault(cell.setting, []).append(cell)
    return tuple(_table(setting, cells) for setting, cells in settings.items() if any(cell.spreads for cell in cells))


def _table(setting: str, cells: Sequence[CellSummary]) -> Table:
    unit = words.unit_for(c.distribution.median for c in cells if c.distribution and c.distribution.median is not None)
    names = [name for name in SHOWN if any(name in cell.spreads for cell in cells)]
    rows = [(c.stack_label, *(with_interval(name, c.spreads.get(name), unit) for name in names)) for c in cells]
    return text_table(
        f"spread (95 % interval) · {setting}", ("stack", *(heads(unit)[name] for name in names)), rows, (NOTE,)
    )
