"""What requests cost, beside the rows of `orch compare`: of two runs, or of the cells of one.

Of two runs the model is that of latencies (docs/explanation/statistics.md): the spread between equal runs comes from
history or from an assumption, and each quantity is a family of its own (Holm). A floor that moved says that the CPUs may
have run at another speed, so it widens CPU times; memory, bytes and packets are what they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import Literal

from orchestrator.between_runs import run_statistics
from orchestrator.between_runs.measured_runs import EqualRun
from orchestrator.between_runs.run_statistics import Difference, FloorMove
from orchestrator.findings.block_values import by_block, lost, missing_blocks
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.findings.trial_values import COST_NAMES, CostName
from orchestrator.statistics import equivalence, intervals
from orchestrator.statistics.terms import Interval, Reason, ReasonKind, Standing

CostWord = Literal["less", "more", "unchanged", "not resolved", "cannot tell"]

_WORDS: Mapping[Standing, CostWord] = {"faster": "less", "slower": "more", "tie": "unchanged"}
_OF_A_CPU: tuple[CostName, ...] = ("responder_cpu", "requester_cpu")


@dataclass(frozen=True, kw_only=True)
class CostChange:
    """One quantity of a row: the new run over the old, or a cell over its reference. A ratio above 1 is more.

    Values are geometric means over trials: seconds of CPU time, bytes or packets per 1,000 samples, bytes of memory of a
    process. The interval is Holm-adjusted; ratio, interval and p value are None where they cannot be had (`reason`).
    `verdict` has the words of `CostWord` between runs, of a summary's `costs` within one.
    """

    quantity: CostName
    value: float | None
    reference_value: float | None
    ratio: float | None
    interval: Interval | None
    p_value: float | None
    verdict: CostWord | Standing
    reason: Reason | None = None


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A cell of both runs, how its floors moved, and what forbids a verdict on it."""

    new: CellSummary
    old: CellSummary
    floors: Sequence[FloorMove]
    doubts: Sequence[str]


def between(pairs: Sequence[Pair], history: Sequence[EqualRun], margin: float) -> list[tuple[CostChange, ...]]:
    """What changed in each quantity, for each pair; a quantity that neither run has counted is left out."""
    by_pair: list[list[CostChange]] = [[] for _ in pairs]
    for name in COST_NAMES:
        differences = [_difference(pair, name, history) for pair in pairs]
        p_values = [difference.p_value for difference in differences if difference]
        family = zip(intervals.holm(p_values), intervals.holm_levels(p_values), strict=True)
        for changes, pair, difference in zip(by_pair, pairs, differences, strict=True):
            tested = (difference, *next(family)) if difference else None
            if change := _change(pair, name, tested, margin):
                changes.append(change)
    return [tuple(changes) for changes in by_pair]


def within(run: RunSummary, comparison: Comparison) -> tuple[CostChange, ...]:
    """The costs of a pair of cells that a run compares, as its summary has them."""
    cells = {cell.id: cell for cell in run.cells}
    pair = (comparison.cell, comparison.reference_cell, comparison.factor)
    by_name = {c.statistic: c for c in run.costs if (c.cell, c.reference_cell, c.factor) == pair}
    return tuple(
        CostChange(
            quantity=name,
            value=_value(cells[c.cell], name),
            reference_value=_value(cells[c.reference_cell], name),
            ratio=c.ratio,
            interval=c.interval,
            p_value=c.p_value,
            verdict=c.standing,
            reason=c.reason,
        )
        for name in COST_NAMES
        if (c := by_name.get(name))
    )


def _values(cell: CellSummary, name: CostName) -> list[float]:
    """Each trial's; empty where one of them lacks it, as that may be the costly one."""
    return [] if missing_blocks(cell.trials, name) else list(by_block(cell.trials, name).values())


def _value(cell: CellSummary, name: CostName) -> float | None:
    values = _values(cell, name)
    return intervals.of_trials(values).ratio if values else None


def _difference(pair: Pair, name: CostName, history: Sequence[EqualRun]) -> Difference | None:
    new, old = (run_statistics.run_mean(_values(cell, name)) for cell in (pair.new, pair.old))
    if new is None or old is None:
        return None
    known = [run.means[key] for run in history if (key := (pair.old.id, name)) in run.means]
    spread = run_statistics.spread_between(name, known)
    return run_statistics.difference(new, old, spread, pair.floors if name in _OF_A_CPU else ())


def _change(
    pair: Pair, name: CostName, tested: tuple[Difference, float, float] | None, margin: float
) -> CostChange | None:
    """None where neither run has the quantity. `tested`: the difference, its adjusted p value and its interval's level."""
    value, before = _value(pair.new, name), _value(pair.old, name)
    if value is None and before is None:
        return None
    interval = tested[0].interval(tested[2]) if tested else None
    verdict, reason = _judge(pair, name, interval, margin)
    return CostChange(
        quantity=name,
        value=value,
        reference_value=before,
        ratio=exp(tested[0].mean) if tested else None,
        interval=interval,
        p_value=tested[1] if tested else None,
        verdict=verdict,
        reason=reason,
    )


def _judge(pair: Pair, name: CostName, interval: Interval | None, margin: float) -> tuple[CostWord, Reason | None]:
    if interval is None:
        blocks = min(len(by_block(cell.trials, name)) for cell in (pair.new, pair.old))
        numbers = {"blocks": blocks, "needed": intervals.FEWEST_BLOCKS}
        return "cannot tell", Reason(kind=ReasonKind.FEW_BLOCKS, numbers=numbers)
    standing = equivalence.standing(interval, margin)
    word = _WORDS.get(standing, "not resolved")
    if survivors := lost(pair.new, pair.old, standing):
        return "cannot tell", survivors
    if word != "not resolved" and pair.doubts:
        return "cannot tell", Reason(kind=ReasonKind.DOUBTED, names=(word,))
    return word, equivalence.reason(interval, margin)
