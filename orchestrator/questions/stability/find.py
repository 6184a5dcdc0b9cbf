"""Which stack is the most predictable: by each spread, from comparisons of every two stacks, corrected for all of the run.

A stack is the most predictable by a spread where every other one that could be compared spreads significantly more than
some stack, and it does not. Of equal stacks that happens in at most 5 % of runs (`docs/explanation/statistics.md`). SD, IQR
and p99 over the median are a family each and may differ: SD and IQR are in ms, p99 over the median is relative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.findings.compare import compare_spreads
from orchestrator.findings.summary import CellSummary, Comparison
from orchestrator.findings.trial_values import SPREAD_NAMES, SpreadName
from orchestrator.findings.validity import withhold
from orchestrator.questions.base import Question, is_no_search


@dataclass(frozen=True, kw_only=True)
class Least:
    """What one spread says of a setting's stacks: the cells that may spread least, by id, the least by its mean first.

    One alone spreads significantly less than all others.
    """

    by: SpreadName
    cells: tuple[str, ...]


def least(comparisons: Sequence[Comparison], cells: Mapping[str, CellSummary]) -> tuple[Least, ...]:
    """By each spread, of the comparisons of one setting; a spread by which nothing can be told is left out."""
    results = []
    for name in SPREAD_NAMES:
        known = [c for c in comparisons if c.statistic == name and c.standing != "cannot tell"]
        involved = dict.fromkeys(cell for c in known for cell in (c.reference_cell, c.cell))
        more = {c.cell for c in known if c.standing == "more"} | {
            c.reference_cell for c in known if c.standing == "less"
        }
        left = [cell for cell in involved if cell not in more]
        left.sort(key=lambda cell: cells[cell].means[name].value if name in cells[cell].means else float("inf"))
        if left:
            results.append(Least(by=name, cells=tuple(left)))
    return tuple(results)


QUESTION: Question[tuple[Comparison, ...]] = Question(
    name="stability",
    type=tuple[Comparison, ...],
    empty=(),
    find=lambda basis: withhold(compare_spreads(basis.plan, basis.summary.cells, basis.invalid), basis.invalid),
    applies=lambda plan: plan.stability and is_no_search(plan),
)
