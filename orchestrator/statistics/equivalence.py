"""Faster, slower, a tie, or not resolved: the one rule by which a ratio's interval is judged.

A tie is a claim, and needs evidence like any other: it is made only where the whole interval lies within the margin
that matters (two one-sided tests, Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power
approach", Journal of Pharmacokinetics and Biopharmaceutics 15(6)). With a 95 % interval, a stack whose true difference
is as large as the margin is called a tie in at most 2.5 % of runs. An interval that merely holds 1 is not a tie: it may
hold 1.45 as well, and then the comparison is not resolved.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt

from orchestrator.statistics.intervals import FEWEST_BLOCKS, log_mean
from orchestrator.statistics.terms import Interval, Reason, ReasonKind, Standing

MATTERS = 0.05  # the margin where nobody gives one

_WIDEST = 20.0  # the factor between an interval's bounds beyond which it says only that the blocks disagree


def standing(interval: Interval | None, margin: float = MATTERS, *, envelope: float = 0.0) -> Standing:
    """What an interval of a ratio of times says; `margin` 0.05 is 5 %, a ratio above 1 is slower.

    `envelope` is by how much the reference was seen to differ from itself (the |log ratio| of an A/A control): a
    ratio no further from 1 than that is not resolved, and where it is wider than the margin nothing is a tie.
    """
    if interval is None:
        return "cannot tell"
    low, high = interval
    if is_within(interval, margin):
        return "tie" if envelope <= log(1 + margin) else "not resolved"
    middle = log(sqrt(low) * sqrt(high))
    if low <= 1 <= high or abs(middle) <= envelope:
        return "not resolved"
    return "faster" if high < 1 else "slower"


def is_within(interval: Interval, margin: float) -> bool:
    """Whether the whole interval differs from 1 by no more than the margin, to either side by the same factor."""
    return 1 / (1 + margin) <= interval[0] and interval[1] <= 1 + margin


def reason(
    interval: Interval,
    margin: float = MATTERS,
    *,
    envelope: float = 0.0,
    by_block: Sequence[float] = (),
    compared: int = 1,
) -> Reason | None:
    """Return why this interval decides nothing; None where it does.

    With the ratio of each block, a wide interval is put down to what makes it wide: the blocks, or the correction for as
    many comparisons as are `compared`.
    """
    if standing(interval, margin, envelope=envelope) != "not resolved":
        return None
    if envelope and (is_within(interval, margin) or not interval[0] <= 1 <= interval[1]):
        return Reason(kind=ReasonKind.CONTROL, numbers={"difference": exp(envelope) - 1})
    if not _is_wide(interval):
        return Reason(kind=ReasonKind.OPEN)
    if compared > 1 and _agree(by_block):
        return Reason(kind=ReasonKind.CORRECTED, numbers={"compared": compared})
    return Reason(kind=ReasonKind.NOISY)


def _is_wide(interval: Interval) -> bool:
    """Whether the bounds are so far apart that naming them as more and less would mislead."""
    return interval[1] > _WIDEST * interval[0]


def _agree(by_block: Sequence[float]) -> bool:
    """Whether the blocks alone, were theirs the only comparison, would give an interval that is not wide."""
    if len(by_block) < FEWEST_BLOCKS or min(by_block) <= 0:
        return False
    interval = log_mean([log(ratio) for ratio in by_block]).interval()
    return interval is not None and not _is_wide(interval)
