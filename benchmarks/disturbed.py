"""False winners and power under bursts of stolen CPU time, by simulation with the real schedule and the real comparison.

    python -m benchmarks.disturbed [--runs 200] [--seed 1] [--write]

Every simulated run has twelve stacks. Each trial is several seconds of requests; while a burst lasts (0.5 to 5 s) it takes
20 to 80 % of a CPU, and requests take so much longer. A trial's median is that of its requests, its held-up share what the
bursts took of its time, as the kernel counts it. `--write` keeps it in docs/validation/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from benchmarks.coverage import measured, plan_of
from benchmarks.simulated import print_tables
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings import ranking
from orchestrator.findings.compare import compare_by
from orchestrator.findings.summary import CellSummary, Comparison
from orchestrator.statistics.equivalence import MATTERS

STACKS, BLOCKS = 12, (3, 5)
TRUE = (1.1, 1.2, 1.5)
TRIAL_S = (2.0, 10.0)
_TICK_S = 0.02
_SPREAD = 0.25  # of the latencies of a trial's requests, as the SD of their logarithm


@dataclass(frozen=True, kw_only=True)
class Bursts:
    """How a trial is disturbed: the share of its time that lies in bursts, how long each is, what it takes of a CPU."""

    cover: float = 0.0
    length_s: tuple[float, float] = (0.5, 5.0)
    taken: tuple[float, float] = (0.2, 0.8)


QUIET, SOME, MUCH = Bursts(), Bursts(cover=0.3), Bursts(cover=0.7)
SHORT, LONG = Bursts(cover=0.35, length_s=(0.5, 1.0), taken=(0.7, 0.8)), Bursts(cover=0.95, taken=(0.2, 0.35))

Pattern: TypeAlias = Callable[[int, int], Bursts]
"""The bursts of a stack's trial in a block."""

PATTERNS: dict[str, Pattern] = {
    "none": lambda _stack, _block: QUIET,
    "equal, 30 % of the time": lambda _stack, _block: SOME,
    "equal, 70 % of the time": lambda _stack, _block: MUCH,
    "half of the stacks, 30 %": lambda stack, _block: SOME if stack % 2 else QUIET,
    "half of the stacks, 70 %": lambda stack, _block: MUCH if stack % 2 else QUIET,
    "70 % of some, 30 % of others": lambda stack, _block: MUCH if stack % 2 else SOME,
    "one stack, 70 %": lambda stack, _block: MUCH if stack == 1 else QUIET,
    "the first block alone, 70 %": lambda _stack, block: QUIET if block else MUCH,
    "short and strong of some, long and weak of others": lambda stack, _block: LONG if stack % 2 else SHORT,
}


def trial(rng: np.random.Generator, bursts: Bursts) -> tuple[float, float]:
    """By which factor a trial's median grows, and its held-up share."""
    length_s = rng.uniform(*TRIAL_S)
    if not bursts.cover:
        return 1.0, 0.0
    speed = np.ones(int(length_s / _TICK_S))
    at = rng.uniform(-bursts.length_s[1], 0.0)
    while at < length_s:  # bursts and pauses take turns, so that the bursts cover their share of the time on average
        burst_s = rng.uniform(*bursts.length_s)
        begin, end = (max(0, int(moment / _TICK_S)) for moment in (at, at + burst_s))
        speed[begin:end] = 1 - rng.uniform(*bursts.taken)
        at += burst_s + rng.exponential(np.mean(bursts.length_s) * (1 - bursts.cover) / bursts.cover)
    return _median(speed), round(float(np.sum(1 - speed)), 0) / speed.size


def _median(speed: np.ndarray) -> float:
    """Of requests one after the other, each longer by what its moment's speed lacks: slow moments hold fewer of them."""
    speeds, moments = np.unique(speed, return_counts=True)
    latency = (np.exp(_SPREAD * _NORMAL)[:, None] / speeds[None, :]).ravel()
    order = np.argsort(latency)
    requests = np.cumsum(np.tile(speeds * moments, _NORMAL.size)[order])
    return float(latency[order][np.searchsorted(requests, requests[-1] / 2)])


_NORMAL = np.array([NormalDist().inv_cdf((place + 0.5) / 101) for place in range(101)])


def comparisons(
    pattern: Pattern, *, blocks: int, runs: int, truth: float, seed: int
) -> Iterator[tuple[list[Comparison], list[Comparison]]]:
    """Each run's comparisons of medians, without what others took and with it; the last stack is `truth` times as slow."""
    rng = np.random.default_rng([seed, blocks, round(truth * 1000)])
    plan = plan_of(STACKS, blocks)
    number = {cell.id: place for place, cell in enumerate(plan.cells)}
    ratios = {cell.id: 1.0 for cell in plan.cells} | {plan.cells[-1].id: truth}
    for run in range(runs):
        trials = schedule(plan.cells, blocks, run)
        disturbed = [trial(rng, pattern(number[t.cell], t.block)) for t in trials]
        effects = np.log([factor for factor, _ in disturbed]).reshape(blocks, STACKS)
        shares = {t.index: share for t, (_, share) in zip(trials, disturbed, strict=True)}
        cells = measured(plan, trials, effects, ratios, rng)
        counted = [
            replace(cell, trials=tuple(replace(t, held_up=shares[t.index]) for t in cell.trials)) for cell in cells
        ]
        yield _of_medians(plan, cells), _of_medians(plan, counted)


def _of_medians(plan: Plan, cells: Sequence[CellSummary]) -> list[Comparison]:
    return list(compare_by(("median",), plan, cells, contrasts.pairs(plan)))


def table(runs: int, seed: int) -> Iterator[str]:
    """The lines of the table, in Markdown."""
    yield "| bursts | blocks | runs with a false winner | slower by 10 % found | by 20 % | by 50 % |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, pattern in PATTERNS.items():
        for blocks in BLOCKS:
            shown = []
            for truth in (1.0, *TRUE):
                versions = list(comparisons(pattern, blocks=blocks, runs=runs, truth=truth, seed=seed))
                each = [[is_seen(compared, truth) for compared in version] for version in zip(*versions, strict=True)]
                shown.append(" → ".join(f"{100 * sum(seen) / runs:.1f}" for seen in each) + " %")
            yield f"| {name} | {blocks} | {' | '.join(shown)} |"


def is_seen(compared: Sequence[Comparison], truth: float) -> bool:
    """Whether one of equal stacks is called faster or slower than another, or else the slow one is found to be slow."""
    if truth == 1.0:
        sides = [side for c in compared if (side := ranking.side_of(c))]
        ahead = ranking.leaders(sides, compared[0].reference_cell, log(1 + MATTERS))
        return len(ahead) < STACKS or any(c.standing in ("faster", "slower") for c in compared)
    return compared[-1].standing == "slower"


def main() -> None:
    """Print the table, and with `--write` keep it."""
    print_tables("python -m benchmarks.disturbed", table, names=("disturbed",), runs=200)


if __name__ == "__main__":
    main()
