"""Faster, slower, a tie, or not resolved: the one rule by which a ratio's interval is judged, and its wording.

A tie is a claim, and needs evidence like any other: it is made only where the whole interval lies within the margin
that matters (two one-sided tests, Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power
approach", Journal of Pharmacokinetics and Biopharmaceutics 15(6)). With a 95 % interval, a stack whose true difference
is as large as the margin is called a tie in at most 2.5 % of runs. An interval that merely holds 1 is not a tie: it may
hold 1.45 as well, and then the comparison is not resolved.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt

from orchestrator.analysis import words
from orchestrator.analysis.intervals import ALPHA, FEWEST_BLOCKS, LogMean, log_mean
from orchestrator.analysis.summary import Interval, Standing

MATTERS = 0.05  # the margin where nobody gives one

_TINY = 0.05  # a ratio below it reads better as a factor than as a share that is almost all
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


def is_wide(interval: Interval) -> bool:
    """Whether the bounds lie so far apart that naming them as more and less would mislead."""
    return interval[1] > _WIDEST * interval[0]


def widened(by_block: Sequence[float], interval: Interval, compared: int, alpha: float = ALPHA) -> str:
    """By what a ratio's interval is wider than its own blocks make it, as a clause; empty where nothing widens it.

    `compared` is how many comparisons Holm's correction goes over: what is wider still shares its error with others.
    """
    own = _of_blocks(by_block)
    if own is None:
        return ""
    ways = ["widened for looking after each block"] if alpha < ALPHA else []
    ways += [f"widened for {words.count(compared, 'comparison')}"] if compared > 1 else []
    if _width(interval) > 1.001 * _width(own.interval(alpha / max(compared, 1))):
        ways.append("with an error shared with noisier cells")
    return " and ".join(ways)


def own_interval(by_block: Sequence[float]) -> Interval | None:
    """The interval that a comparison's blocks alone would give it, were it the only one; None with too few blocks."""
    own = _of_blocks(by_block)
    return own.interval(ALPHA) if own else None


def _of_blocks(by_block: Sequence[float]) -> LogMean | None:
    return (
        log_mean([log(ratio) for ratio in by_block]) if len(by_block) >= FEWEST_BLOCKS and min(by_block) > 0 else None
    )


def _width(interval: Interval | None) -> float:
    return log(interval[1]) - log(interval[0]) if interval else 0.0


def reason(
    interval: Interval,
    margin: float = MATTERS,
    *,
    envelope: float = 0.0,
    by_block: Sequence[float] = (),
    compared: int = 1,
    alpha: float = ALPHA,
) -> str:
    """Why `standing` says what it says of this interval, as a clause without a full stop.

    With the ratio of each block, a wide interval is put down to what makes it wide: the blocks, or what widens them.
    """
    limit = words.margin(margin)
    found = standing(interval, margin, envelope=envelope)
    if found == "tie":
        if interval[0] <= 1 <= interval[1]:
            return f"equivalent within {limit}"
        return f"equivalent within {limit}: there is a difference, {between(interval)}, too small to matter"
    holds_one = interval[0] <= 1 <= interval[1]
    if found == "not resolved" and envelope and (is_within(interval, margin) or not holds_one):
        return f"{between(interval)}, but the reference differs from itself by {words.difference(exp(envelope) - 1)}"
    if found == "not resolved" and is_wide(interval):
        low, high = words.bounds(interval)
        shown = f"95 % interval {low} to {high} times as much"
        if (by := widened(by_block, interval, compared, alpha)) and not differ_too_much(by_block):
            return f"its blocks agree within {words.difference(max(by_block) / min(by_block) - 1)}, but it is {by} ({shown})"
        return f"the blocks differ too much ({shown})"
    if found == "not resolved":
        return between(interval)
    return f"the interval excludes 1, {between(interval)}"


def differ_too_much(by_block: Sequence[float]) -> bool:
    """Whether the blocks by themselves make an interval wide, or are too few to say."""
    own = own_interval(by_block)
    return own is None or is_wide(own)


def between(interval: Interval) -> str:
    """An interval of a ratio in words: `between 3.0 % less and 45 % more`, `between 12 % and 2.4 times as much`."""
    low, high = interval
    if any(words.beyond(bound, interval) for bound in interval):
        return f"{' to '.join(words.bounds(interval))} times as much"
    if low < _TINY:
        return f"between {words.factor(low)} and {words.factor(high)} times as much"
    if high < 1:  # both less: the smaller difference first
        return f"between {share(1 - high)} and {share(1 - low)} less"
    if low > 1 and high < 2:
        return f"between {share(low - 1)} and {share(high - 1)} more"
    if low >= 2:
        return f"between {words.factor(low)} and {words.factor(high)} times as much"
    return f"between {_bound(low)} and {_bound(high)}"


def _bound(ratio: float) -> str:
    if ratio >= 2:
        return f"{words.factor(ratio)} times as much"
    if ratio == 1:
        return "as much"
    return f"{share(abs(ratio - 1))} {'more' if ratio > 1 else 'less'}"


def share(share: float) -> str:
    """A share in per cent that rounds neither to nothing nor to all."""
    if 0.99 < share < 1 or 0 < share < 0.0005:
        digits = 2
        while float(f"{share * 100:.{digits}f}") in (0.0, 100.0) and digits < 12:
            digits += 1
        return f"{share * 100:.{digits}f} %"
    return words.percent(share)
