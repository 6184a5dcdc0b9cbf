"""How one statistic changed between two runs, in every pair of cells: by one model, one Holm family, one rule.

The spread between equal runs comes from history or from an assumption (`run_statistics`). A floor that moved says that the
network or the CPUs had another speed, so it widens intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Literal

from orchestrator.between_runs import run_statistics
from orchestrator.between_runs.measured_runs import EqualRun
from orchestrator.between_runs.run_statistics import Difference, FloorMove
from orchestrator.findings.block_values import by_block, lost, moved, why_no_value
from orchestrator.findings.compare import Compared, Statistic
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.findings.trial_values import COST_NAMES
from orchestrator.statistics import equivalence, intervals
from orchestrator.statistics.terms import Interval, Reason, ReasonKind, Standing

Change = Literal["improved", "regressed", "unchanged", "not resolved", "cannot tell"]

# What `equivalence.standing` says of a ratio's interval, in the words of two runs.
CHANGES: Mapping[str, Change] = {
    "faster": "improved",
    "slower": "regressed",
    "tie": "unchanged",
    "not resolved": "not resolved",
    "cannot tell": "cannot tell",
}


@dataclass(frozen=True, kw_only=True)
class Changed:
    """One statistic of a cell: the new run over the old, or a cell over its reference. A ratio above 1 is slower, or more.

    Values are geometric means over trials: ms, requests per second, or what costs are in (`trial_values`). Throughput's
    ratio is turned over. The interval is Holm-adjusted, and of two runs it includes what may lie between runs and what
    the floor's movement may account for; it, ratio and p value are None where they cannot be had (`reason`).
    `verdict` has the words of `Change` between runs, of `Standing` within one.
    """

    statistic: Compared
    value: float | None
    reference_value: float | None
    ratio: float | None
    interval: Interval | None
    p_value: float | None
    verdict: Change | Standing
    reason: Reason | None = None


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A cell of both runs, how its floors moved, and what forbids a verdict; `above`: the share that lies above the ping."""

    new: CellSummary
    old: CellSummary
    floors: Sequence[FloorMove] = ()
    doubts: Sequence[str] = ()
    above: float = 1.0


def changes(pairs: Sequence[Pair], statistic: Statistic, history: Sequence[EqualRun], margin: float) -> list[Changed]:
    """Return how the statistic changed in each pair."""
    differences = [_difference(pair, statistic, history) for pair in pairs]
    p_values = [difference.p_value for difference in differences if difference]
    family = zip(intervals.holm(p_values), intervals.holm_levels(p_values), strict=True)
    changed: list[Changed] = []
    for pair, difference in zip(pairs, differences, strict=True):
        p_value, level = next(family) if difference else (None, intervals.ALPHA)
        value, before = (value_of(cell, statistic) for cell in (pair.new, pair.old))
        verdict, reason = _judge(pair, statistic, difference, level, margin)
        each = Changed(
            statistic=statistic,
            value=value,
            reference_value=before,
            ratio=exp(difference.mean) if difference else None,
            interval=difference.interval(level) if difference else None,
            p_value=p_value,
            verdict=verdict,
            reason=reason,
        )
        changed.append(each)
    return changed


def within(run: RunSummary, comparison: Comparison) -> tuple[Changed, ...]:
    """The costs of a pair of cells that a run compares, as its summary has them."""
    cells = {cell.id: cell for cell in run.cells}
    pair = (comparison.cell, comparison.reference_cell, comparison.factor)
    costs = {c.statistic: c for c in run.costs if (c.cell, c.reference_cell, c.factor) == pair}
    return tuple(of_comparison(costs[name], cells) for name in COST_NAMES if name in costs)


def of_comparison(comparison: Comparison, cells: Mapping[str, CellSummary]) -> Changed:
    """A comparison of a run; `cells` are its cells by id."""
    return Changed(
        statistic=comparison.statistic,
        value=value_of(cells[comparison.cell], comparison.statistic),
        reference_value=value_of(cells[comparison.reference_cell], comparison.statistic),
        ratio=comparison.ratio,
        interval=comparison.interval,
        p_value=comparison.p_value,
        verdict=comparison.standing,
        reason=comparison.reason,
    )


def value_of(cell: CellSummary, statistic: Compared) -> float | None:
    """The geometric mean over trials; None where the trials have none."""
    mean = run_statistics.mean_of(cell, statistic)
    if mean is None:
        return None
    return exp(-mean.mean) if statistic == "throughput" else mean.ratio  # what `by_block` turned over is turned back


def _difference(pair: Pair, statistic: Statistic, history: Sequence[EqualRun]) -> Difference | None:
    new, old = (run_statistics.mean_of(cell, statistic) for cell in (pair.new, pair.old))
    if new is None or old is None or new.se is None or old.se is None:
        return None
    known = [run.means[key] for run in history if (key := (pair.old.id, statistic)) in run.means]
    spread = run_statistics.spread_between(statistic, known, pair.above)
    return run_statistics.difference(new, old, spread, pair.floors)


def _judge(
    pair: Pair, statistic: Statistic, difference: Difference | None, level: float, margin: float
) -> tuple[Change, Reason | None]:
    sides = (pair.new, pair.old)
    interval = difference.interval(level) if difference else None
    if difference is None or interval is None:
        causes = (why_no_value(cell, statistic) for cell in sides)
        return "cannot tell", next((cause for cause in causes if cause), None) or _few_trials(sides, statistic)
    standing = equivalence.standing(interval, margin)
    change = CHANGES[standing]
    # An open row may still surely be no slower than some limit (`gate`): that, too, is to the advantage of the new run.
    if survivors := lost(pair.new, pair.old, "faster" if standing == "not resolved" else standing):
        return "cannot tell", survivors
    unsent = next((reason for cell in sides if (reason := moved(cell, statistic, margin))), None)
    if standing != "not resolved" and (pair.doubts or unsent):
        return "cannot tell", unsent or Reason(kind=ReasonKind.DOUBTED, names=(change,))
    if standing == "not resolved" and any(difference.shift):
        return change, Reason(kind=ReasonKind.FLOOR_MOVED)
    return change, equivalence.reason(interval, margin)


def _few_trials(sides: Sequence[CellSummary], statistic: str) -> Reason:
    blocks = min(len(by_block(cell.trials, statistic)) for cell in sides)
    numbers = {"blocks": blocks, "needed": intervals.FEWEST_BLOCKS}
    return Reason(kind=ReasonKind.FEW_BLOCKS, cells=tuple(cell.id for cell in sides), numbers=numbers)
