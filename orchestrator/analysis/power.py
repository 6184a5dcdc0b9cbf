"""How small a difference the planned repeats can detect, and how many repeats a wanted one would need.

The comparison is the paired t-test of `intervals`, on log ratios whose SD over blocks is `sd`. Its power is that of the
noncentral t distribution (Cohen 1988, "Statistical Power Analysis for the Behavioral Sciences", chapter 2): with n
blocks, a difference d is found with probability P(|T| > t*), T noncentral with n - 1 degrees of freedom and
noncentrality sqrt(n) d / sd. With m stacks compared, the first rejection of Holm's procedure takes level a / m; that is
the level used here, so the statement is on the safe side for the other stacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import exp, log, sqrt
from statistics import median, stdev
from typing import Any

from orchestrator.analysis import words
from orchestrator.analysis.intervals import ALPHA, FEWEST_BLOCKS, t_quantile
from orchestrator.analysis.summary import Comparison, RunSummary
from orchestrator.experiment.plan import Plan

POWER = 0.8
MOST_BLOCKS = 1_000

# SD over blocks of the log ratio of two stacks' medians, where no run has been made yet: what pairs of processes on a
# shared virtual machine of two cores differ by from block to block.
DEFAULT_SD = 0.05

WANTED = 0.05


@dataclass(frozen=True, kw_only=True)
class PowerStatement:
    """What `orch plan` says. Differences are relative: 0.05 is 5 %; None with too few repeats for any interval."""

    repeats: int
    stacks_compared: int
    sd: float
    sd_source: str
    smallest_detectable: float | None
    wanted: float
    repeats_for_wanted: int | None
    power: float = POWER
    sentence: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return asdict(self)


def power_of(difference: float, sd: float, blocks: int, *, compared: int = 1, alpha: float = ALPHA) -> float:
    """The chance to find a relative difference (0.05: one takes 5 % longer); 0 with fewer than three blocks."""
    from scipy import special  # `orch --help` must not pay for it

    if blocks < FEWEST_BLOCKS:
        return 0.0
    if sd <= 0:
        return 1.0
    freedom = blocks - 1
    critical = t_quantile(1 - alpha / compared / 2, freedom)
    noncentrality = sqrt(blocks) * log(1 + difference) / sd
    missed = float(special.nctdtr(freedom, noncentrality, critical))
    below = float(special.nctdtr(freedom, noncentrality, -critical))
    return 1 - missed + (0.0 if below != below else below)  # the far tail underflows to NaN for large noncentralities


def smallest_detectable(
    sd: float, blocks: int, *, compared: int = 1, alpha: float = ALPHA, power: float = POWER
) -> float | None:
    """The smallest relative difference found with that power, to a thousandth of itself; None below three blocks."""
    if blocks < FEWEST_BLOCKS:
        return None
    low, high = 0.0, 1e-6
    while power_of(high, sd, blocks, compared=compared, alpha=alpha) < power:
        low, high = high, high * 2
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        if power_of(middle, sd, blocks, compared=compared, alpha=alpha) < power:
            low = middle
        else:
            high = middle
    return high


def repeats_needed(
    difference: float, sd: float, *, compared: int = 1, alpha: float = ALPHA, power: float = POWER
) -> int | None:
    """The fewest blocks that find a relative difference with that power; None when 1,000 do not suffice."""
    if power_of(difference, sd, MOST_BLOCKS, compared=compared, alpha=alpha) < power:
        return None
    low, high = FEWEST_BLOCKS - 1, MOST_BLOCKS
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(difference, sd, middle, compared=compared, alpha=alpha) < power:
            low = middle
        else:
            high = middle
    return high


def spread_of(comparisons: Iterable[Comparison | dict[str, Any]]) -> float | None:
    """The typical SD over blocks of the log ratio of medians in a finished run; None with too few blocks."""
    found = []
    for comparison in comparisons:
        told = asdict(comparison) if isinstance(comparison, Comparison) else comparison
        ratios = [ratio for ratio in told["by_block"] if ratio > 0]
        if told["statistic"] == "median" and len(ratios) >= FEWEST_BLOCKS:
            found.append(stdev([log(ratio) for ratio in ratios]))
    return median(found) if found else None


def describe(
    plan: Plan, history: Sequence[RunSummary | dict[str, Any]] = (), *, wanted: float = WANTED
) -> PowerStatement:
    """What the plan's repeats can tell. `history`: summaries of earlier runs (or their `summary.json`), newest first.

    The spread is that of the newest run of the same experiment, of any run otherwise, or else `DEFAULT_SD`; the
    statement says which.
    """
    sd, source = _spread(plan.name, history)
    compared = max(1, sum(1 for s in plan.stacks if not s.control_of) - 1)
    least = smallest_detectable(sd, plan.repeats, compared=compared)
    needed = repeats_needed(wanted, sd, compared=compared)
    return PowerStatement(
        repeats=plan.repeats,
        stacks_compared=compared,
        sd=sd,
        sd_source=source,
        smallest_detectable=least,
        wanted=wanted,
        repeats_for_wanted=needed,
        sentence=_sentence(plan.repeats, sd, source, least, wanted, needed),
    )


def _spread(name: str, history: Sequence[RunSummary | dict[str, Any]]) -> tuple[float, str]:
    told = [run.to_dict() if isinstance(run, RunSummary) else run for run in history]
    for run in sorted(told, key=lambda run: run.get("name") != name):  # stable: the newest of each kind stays first
        sd = spread_of(run.get("comparisons", ()))
        if sd:
            return sd, f"run {run['run_id']}"
    return DEFAULT_SD, "a default, as no earlier run tells"


def _sentence(repeats: int, sd: float, source: str, least: float | None, wanted: float, needed: int | None) -> str:
    spread = f"(spread from block to block {words.percent(exp(sd) - 1)}: {source})"
    goal = (
        f"{words.percent(wanted)} would take {needed} repeats"
        if needed is not None
        else f"{words.percent(wanted)} is out of reach of {MOST_BLOCKS:,} repeats"
    )
    if least is None:
        made = "1 repeat gives" if repeats == 1 else f"{repeats} repeats give"
        return f"{made} no interval, which takes {FEWEST_BLOCKS}; {goal} {spread}."
    return (
        f"{repeats} repeats find a difference in medians of {words.difference(least)} or more four times in five; "
        f"{goal} {spread}."
    )
