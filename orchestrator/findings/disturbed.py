"""How far a comparison may be off because others held up its two sides unequally (docs/decisions.md: 0062).

A trial that could not run for a share h of its time took 1 / (1 - h) times as long as alone. So did its requests on average,
and about so its median. A quantile near the end moves by more: a burst that holds one request in a hundred moves the p99 by
all that it takes meanwhile, at most to (1 + 99 h) / (1 - h) times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.findings.trial_values import SPREADS
from orchestrator.statistics.terms import Interval

MOST = 0.95
"""The largest held-up share that is reckoned with; beyond it a trial did next to nothing."""

_OF_A_BURST = {"throughput": 0.0, "median": 0.0, "p99": 99.0} | dict.fromkeys(SPREADS, 99.0)


@dataclass(frozen=True, kw_only=True)
class Disturbed:
    """What others took of two sides' trials, by block, as shares of what each could use; and both intervals of the ratio.

    `corrected` is the interval if all of that had been taken from the slower side's trials. The comparison's own interval
    holds both.
    """

    cell: tuple[float, ...]
    reference: tuple[float, ...]
    as_measured: Interval
    corrected: Interval


def stretched(held_up: float, statistic: str) -> float:
    """Return the factor by which a held-up share raises a statistic of a trial; 1 for a cost, as waiting costs none."""
    times = _OF_A_BURST.get(statistic)
    if times is None:
        return 1.0
    share = min(held_up, MOST)
    return (1 + times * share) / (1 - share)


def corrected(
    ratios: Sequence[float], cell: Sequence[float], reference: Sequence[float], statistic: str
) -> tuple[float, ...]:
    """Each block's ratio without what others did to its two trials, by their held-up shares."""
    return tuple(
        ratio * stretched(theirs, statistic) / stretched(own, statistic)
        for ratio, own, theirs in zip(ratios, cell, reference, strict=True)
    )
