"""How small a difference the planned repeats can detect, and how many repeats a wanted one would need.

The comparison is the paired t-test of `intervals`, on log ratios whose SD over blocks is `sd`. A difference d is called
*faster* or *slower* where the interval mean +- t* s / sqrt(n) leaves out 0 and does not lie within the margin that
matters, L = log(1 + margin): where |mean| > max(h, L - h), h being half the interval. Its chance is integrated over the
distribution of s; without a margin it is that of the noncentral t distribution (Cohen 1988, "Statistical Power Analysis
for the Behavioral Sciences", chapter 2). A difference well below the margin is therefore never called, however many
blocks there are: the more there are, the surer it is a tie. With m comparisons in the run (stacks beside the reference,
in all settings), the first rejection of Holm's procedure takes level a / m; that is the level used here, so the statement
is on the safe side for the others.

A tie is a claim of its own and takes repeats of its own: the whole interval must lie within the margin that matters
(`equivalence`). With two equal stacks it does with probability P(|mean| + t* s / sqrt(n) <= log(1 + margin)), which is
integrated over the distribution of s (Phillips 1990, "Power of the two one-sided tests procedure in bioequivalence",
Journal of Pharmacokinetics and Biopharmaceutics 18(2)).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import median, stdev
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.summary import Comparison
from orchestrator.statistics.intervals import ALPHA, FEWEST_BLOCKS, LEAST_SHARE, most_lent, t_quantile

POWER = 0.8
MOST_BLOCKS = 1_000

_SD, _SD_IN_TURNS = 0.05, 0.02  # as on a shared machine of two cores

_S_POINTS = 400  # at which the distribution of s is taken: more change no result by a thousandth


@dataclass(frozen=True, kw_only=True)
class PowerStatement:
    """The power of a plan. Differences are relative: 0.05 is 5 %; None with too few repeats for any interval.

    `repeats_to_settle`: with which a difference that matters is called one, and two equal stacks a tie; None beyond 1,000.
    """

    repeats: int
    comparisons: int  # of the whole run: Holm's correction goes over all of them
    sd: float
    sd_of_run: str | None  # the run whose spread it is; None of `assumed_sd`
    smallest_detectable: float | None
    wanted: float  # the difference that matters, from the experiment
    repeats_to_settle: int | None


def power_of(difference: float, sd: float, blocks: int, *, margin: float = 0.0, compared: int = 1) -> float:
    """The chance that a relative difference (0.05: one takes 5 % longer) is called one; 0 with fewer than three blocks.

    `margin` is what matters: an interval that lies within it is a tie, whether or not it leaves out 1.
    """
    from scipy import special  # `orch --help` must not pay for it

    if blocks < FEWEST_BLOCKS:
        return 0.0
    shift, limit = log(1 + difference), log(1 + margin)
    if sd <= 0:
        return float(shift > limit)
    half = _halves(sd, blocks, compared)
    beyond, error = np.maximum(half, limit - half), sd / sqrt(blocks)
    chances = special.ndtr((shift - beyond) / error) + special.ndtr((-shift - beyond) / error)
    return float(chances.mean())


def smallest_detectable(sd: float, blocks: int, *, margin: float = 0.0, compared: int = 1) -> float | None:
    """The smallest relative difference called one by 80 %, to a thousandth of itself; None below three blocks."""
    if blocks < FEWEST_BLOCKS:
        return None

    def is_found(difference: float) -> bool:
        return power_of(difference, sd, blocks, margin=margin, compared=compared) >= POWER

    low, high = 0.0, 1e-6
    while not is_found(high):
        low, high = high, high * 2
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return high


def repeats_needed(difference: float, sd: float, *, margin: float = 0.0, compared: int = 1) -> int | None:
    """The fewest blocks that call a relative difference one by 80 %; None when 1,000 do not suffice.

    ValueError for a difference below the margin: of those more blocks make a tie.
    """
    if difference < margin:
        raise ValueError(f"a difference of {difference:g} is below the margin of {margin:g}")
    return _fewest(lambda blocks: power_of(difference, sd, blocks, margin=margin, compared=compared) >= POWER)


def _halves(sd: float, blocks: int, compared: int) -> npt.NDArray[np.float64]:
    """Equally likely values of half the interval's width, in logs, where the spreads of all comparisons are alike."""
    from scipy import special

    freedom, lent = blocks - 1, most_lent(blocks - 1, compared)
    shares = (np.arange(_S_POINTS) + 0.5) / _S_POINTS
    own = special.chdtri(freedom, shares) / freedom  # variances, in units of the true one
    s = sd * np.sqrt(np.maximum(LEAST_SHARE * own, (lent + freedom * own) / (lent + freedom)))
    return np.asarray(t_quantile(1 - ALPHA / compared / 2, freedom + lent) * s / sqrt(blocks))


def _fewest(suffices: Callable[[int], bool]) -> int | None:
    every = range(FEWEST_BLOCKS, MOST_BLOCKS + 1)
    place = bisect_left(every, True, key=suffices)
    return every[place] if place < len(every) else None


def power_of_tie(margin: float, sd: float, blocks: int, *, compared: int = 1) -> float:
    """The chance that two equal stacks are called a tie within the margin; 0 with fewer than three blocks."""
    from scipy import special

    if blocks < FEWEST_BLOCKS:
        return 0.0
    if sd <= 0:
        return 1.0
    left = log(1 + margin) - _halves(sd, blocks, compared)
    within = 2 * special.ndtr(np.maximum(left, 0.0) * sqrt(blocks) / sd) - 1
    return float(within.mean())


def repeats_for_tie(margin: float, sd: float, *, compared: int = 1) -> int | None:
    """The fewest blocks with which equal stacks are called a tie by 80 %; None when 1,000 do not suffice."""
    return _fewest(lambda blocks: power_of_tie(margin, sd, blocks, compared=compared) >= POWER)


def spread_of(comparisons: Iterable[Comparison | dict[str, Any]], statistic: str = "median") -> float | None:
    """The typical SD over blocks of the log ratio of this statistic in a finished run; None with too few blocks."""
    spreads = []
    for comparison in comparisons:
        fields = comparison if isinstance(comparison, dict) else vars(comparison)
        ratios = [ratio for ratio in fields["by_block"] if ratio > 0]
        if fields["statistic"] == statistic and len(ratios) >= FEWEST_BLOCKS:
            spreads.append(stdev([log(ratio) for ratio in ratios]))
    return median(spreads) if spreads else None


def repeats_to_settle(margin: float, sd: float, *, compared: int = 1) -> int | None:
    """The fewest blocks that call equal stacks a tie, and a difference as large as the margin one; None beyond 1,000.

    Each is so called four times in five; what lies between takes more.
    """
    for_one = repeats_needed(margin, sd, margin=margin, compared=compared)
    for_tie = repeats_for_tie(margin, sd, compared=compared)
    return None if for_one is None or for_tie is None else max(for_one, for_tie)


def describe(plan: Plan, history: Sequence[dict[str, Any]] = ()) -> PowerStatement:
    """Return what the plan's repeats can detect. `history`: `summary.json` of earlier runs, newest first.

    The spread is that of the newest run of the same experiment, else of the newest with the same provider and kinds of
    work, else `assumed_sd`; never of a run that shared its machine. The statement says which.
    """
    sd, run = _spread(plan, history)
    compared, wanted = max(1, planned_comparisons(plan)), plan.matters
    return PowerStatement(
        repeats=plan.repeats,
        comparisons=compared,
        sd=sd,
        sd_of_run=run,
        smallest_detectable=smallest_detectable(sd, plan.repeats, margin=wanted, compared=compared),
        wanted=wanted,
        repeats_to_settle=repeats_to_settle(wanted, sd, compared=compared),
    )


def planned_comparisons(plan: Plan) -> int:
    """Return how many pairs of cells the experiment compares, controls left out."""
    return sum(not pair.is_control for pair in pairs(plan))


def _spread(plan: Plan, history: Sequence[dict[str, Any]]) -> tuple[float, str | None]:
    alone = [run for run in history if not run["run"]["shares_machine"]]
    same = [run for run in alone if run["run"]["name"] == plan.name]
    work = plan.provider, {cell.kind for cell in plan.cells}
    alike = [r for r in alone if (r["plan"]["provider"], {cell["kind"] for cell in r["plan"]["cells"]}) == work]
    for run in (*same, *alike):  # of the same provider and kinds of work: its blocks may differ as this one's will
        if sd := spread_of(run["comparisons"]):
            return sd, str(run["run"]["id"])
    return assumed_sd(plan), None


def assumed_sd(plan: Plan) -> float:
    """Return the SD over blocks of the log ratio of two stacks' medians, where no run shows it."""
    return _SD_IN_TURNS if any(cell.turns for cell in plan.cells) else _SD
