"""Which stack is the most predictable: by each spread, from comparisons of every two stacks, corrected for all of the run.

A stack is the most predictable by a spread where every other one that could be compared is shown to spread more than some
stack, and it is not. Of equal stacks that happens in at most 5 % of runs, as no pair of them is told apart in the others
(`docs/stability.md`). SD, IQR and p99 over the median are a family each, like the statistics of latencies, and what they
say may differ: SD and IQR are in ms, so that who is quick spreads little; p99 over the median is relative.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from orchestrator.analysis import words
from orchestrator.analysis.spread import SPREAD_NAMES, SPREADS, SpreadName
from orchestrator.analysis.summary import CellSummary, Comparison
from orchestrator.experiment.model.factors import STACK


@dataclass(frozen=True, kw_only=True)
class Least:
    """What one spread says of a setting's stacks: the cells that may spread least, by id, the least by its mean first.

    One alone is told from all others. `tie`: they are several, and each two of them tie.
    """

    by: SpreadName
    cells: tuple[str, ...]
    tie: bool = False


def sentences(comparisons: Sequence[Comparison], cells: Sequence[CellSummary]) -> tuple[str, ...]:
    """One for each setting, on its stacks; then one for each pair that differs in a factor alone."""
    by_id = {cell.id: cell for cell in cells}
    return (*_of_stacks(comparisons, by_id), *_of_factors(comparisons))


def least(comparisons: Sequence[Comparison], cells: Mapping[str, CellSummary]) -> tuple[Least, ...]:
    """By each spread, of the comparisons of one setting; a spread by which nothing can be told is left out."""
    found = []
    for name in SPREAD_NAMES:
        told = [c for c in comparisons if c.statistic == name and c.standing != "cannot tell"]
        involved = dict.fromkeys(cell for c in told for cell in (c.reference_cell, c.cell))
        more = {c.cell for c in told if c.standing == "more"} | {c.reference_cell for c in told if c.standing == "less"}
        left = [cell for cell in involved if cell not in more]
        left.sort(key=lambda cell: cells[cell].spreads[name].value if name in cells[cell].spreads else float("inf"))
        ties = {frozenset((c.cell, c.reference_cell)) for c in told if c.standing == "tie"}
        is_tie = len(left) > 1 and all(frozenset(pair) in ties for pair in combinations(left, 2))
        if left:
            found.append(Least(by=name, cells=tuple(left), tie=is_tie))
    return tuple(found)


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
