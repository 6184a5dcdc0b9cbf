"""Coverage of intervals and false winners, by simulation with the real schedule and the real comparison.

    python -m benchmarks.coverage [--runs 1000] [--seed 1] [--write]

Every simulated run has stacks that are alike, or alike but for the last one, measured in the order that
`experiment.schedule` gives, with one kind of noise; in all of them blocks differ by an SD of 5 % and trials by 2 %.
Before the arrow is what it was with every block in an independent random order, and with every comparison's own
standard error alone. `--write` keeps the tables in docs/validation/.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import exp
from typing import TypeAlias
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from benchmarks.simulated import print_tables
from orchestrator.experiment.plan.plan import Cell, Limits, Operation, Placement, Plan, PlannedTrial, Stack
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.compare import compare_cells
from orchestrator.findings.summary import CellSummary, Comparison, Counts, Labels, TrialSummary
from orchestrator.statistics import intervals
from services.python.contract.lines import Load, Warmup

Logs: TypeAlias = npt.NDArray[np.float64]
Noise: TypeAlias = Callable[[np.random.Generator, int, int], Logs]
"""Effects on the log of each trial's latency, shape (blocks, positions), in the order of measuring."""

BLOCK_SD, TRIAL_SD = 0.05, 0.02
BLOCKS, STACKS = (3, 5, 10), (2, 3, 6, 10)
SEVERAL = ((2, 8, 3), (2, 8, 5), (2, 8, 10), (6, 8, 5))  # stacks, settings, blocks
SLOWER = 1.2


def quiet(_rng: np.random.Generator, blocks: int, positions: int) -> Logs:
    """Nothing but the noise of blocks and trials."""
    return np.zeros((blocks, positions))


def drift(rng: np.random.Generator, blocks: int, positions: int) -> Logs:
    """The machine gets slower, or faster, by 20 % from the first trial to the last."""
    slope: Logs = np.linspace(0.0, 0.2, blocks * positions).reshape(blocks, positions) * rng.choice((-1, 1))
    return slope


def sawtooth(rng: np.random.Generator, blocks: int, positions: int) -> Logs:
    """Slower by up to 20 % and then back at once, over and over, with a period of one to three blocks."""
    period, phase = rng.uniform(1.0, 3.0) * positions, rng.uniform()
    at = np.arange(blocks * positions).reshape(blocks, positions)
    return 0.2 * ((at / period + phase) % 1.0)


def position(_rng: np.random.Generator, blocks: int, positions: int) -> Logs:
    """The first trial of a block takes 10 % longer, and each place thereafter costs 2 %."""
    row = 0.02 * np.arange(positions)
    row[0] += 0.1
    return np.tile(row, (blocks, 1))


def bimodal(rng: np.random.Generator, blocks: int, positions: int) -> Logs:
    """Every other trial, by chance, takes 30 % longer from beginning to end."""
    return np.log(1.3) * rng.integers(0, 2, size=(blocks, positions))


NOISES: dict[str, Noise] = {f.__name__: f for f in (quiet, drift, sawtooth, position, bimodal)}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Of simulated runs of stacks that are alike but for the last one, which takes `SLOWER` times as long.

    Shares of intervals that hold the true ratio, of runs that name a winner among equals, and of runs that find the
    slow one.
    """

    coverage: float
    false_winners: float
    found: float


def simulate(noise: Noise, *, stacks: int, blocks: int, runs: int, seed: int = 1, before: bool = False) -> Outcome:
    """Simulate runs; `before` with random orders and every comparison's own error, as it was once."""
    equal = [result for results in _runs(noise, stacks, blocks, runs, seed, 1.0, before=before) for result in results]
    slow = [results[-1] for results in _runs(noise, stacks, blocks, runs, seed + 1, SLOWER, before=before)]
    held = [low <= 1.0 <= high for low, high in (c.interval for c in equal if c.interval)]
    held += [low <= SLOWER <= high for low, high in (c.interval for c in slow if c.interval)]
    wrong = [
        any(c.standing in ("faster", "slower") for c in equal[i : i + stacks - 1])
        for i in range(0, len(equal), stacks - 1)
    ]
    return Outcome(
        coverage=sum(held) / len(held),
        false_winners=sum(wrong) / runs,
        found=sum(c.standing == "slower" for c in slow) / runs,
    )


def _runs(
    noise: Noise, stacks: int, blocks: int, runs: int, seed: int, truth: float, *, before: bool
) -> Iterator[list[Comparison]]:
    """Each run's comparisons of medians, in the order of the stacks."""
    rng = np.random.default_rng([seed, stacks, blocks])
    plan = plan_of(stacks, blocks)
    ratios = {cell.id: 1.0 for cell in plan.cells} | {plan.cells[-1].id: truth}
    order = random_blocks if before else schedule
    with patch.object(intervals, "moderated", list) if before else nullcontext():
        for run in range(runs):
            trials = order(plan.cells, blocks, run)
            cells = measured(plan, trials, noise(rng, blocks, stacks), ratios, rng)
            yield [c for c in compare_cells(plan, cells) if c.statistic == "median"]


@dataclass(frozen=True, kw_only=True)
class Winners:
    """The share of simulated runs of equal stacks in several settings in which any of them is called faster or slower.

    `by_setting` is what it would be if each setting were corrected by itself.
    """

    of_run: float
    by_setting: float


def false_winners(noise: Noise, *, stacks: int, blocks: int, settings: int, runs: int, seed: int = 1) -> Winners:
    """Simulate runs whose answer is drawn from several settings, all measured in the same blocks."""
    rng = np.random.default_rng([seed, stacks, blocks, settings])
    plan = plan_of(stacks, blocks, settings)
    ratios = {cell.id: 1.0 for cell in plan.cells}
    named, alone = 0, 0
    for run in range(runs):
        trials = schedule(plan.cells, blocks, run)
        cells = measured(plan, trials, noise(rng, blocks, stacks * settings), ratios, rng)
        named += _has_winner(plan, cells)
        each = ([cell for cell in cells if cell.operation == o.id] for o in plan.operations)
        alone += any(_has_winner(plan, of_setting) for of_setting in each)
    return Winners(of_run=named / runs, by_setting=alone / runs)


def _has_winner(plan: Plan, cells: Sequence[CellSummary]) -> bool:
    of_medians = (c for c in compare_cells(plan, cells) if c.statistic == "median")
    return any(c.standing in ("faster", "slower") for c in of_medians)


def random_blocks(cells: Sequence[Cell], blocks: int, seed: int) -> tuple[PlannedTrial, ...]:
    """Every block in a random order of its own: what orders were before they were balanced."""
    source = random.Random(seed)  # noqa: S311 - an order, not a secret
    order = [(block, cell) for block in range(blocks) for cell in source.sample(cells, len(cells))]
    return tuple(PlannedTrial(index=i, block=block, cell=cell.id, seed=i) for i, (block, cell) in enumerate(order))


def plan_of(stacks: int, blocks: int, settings: int = 1) -> Plan:
    """A plan of so many stacks that differ in name alone, each in so many settings (operations)."""
    names = [f"s{number}" for number in range(stacks)]
    operations = [f"o{number}" for number in range(settings)]
    cells = tuple(
        Cell(
            id=f"{name}.{operation}",
            stack=name,
            operation=operation,
            placement="p",
            factors={"connection": "reuse", "concurrency": 1},
            load=Load(requests=1000),
            warmup=Warmup(),
        )
        for operation in operations
        for name in names
    )
    return Plan(
        name="coverage",
        question="",
        provider="local",
        machine=None,
        pin="off",
        stacks=tuple(Stack(id=n, protocol=n, responder="r", client="c", label=n) for n in names),
        operations=tuple(Operation(id=o, name=o, label=o) for o in operations),
        placements=(Placement(id="p", name="p", kind="local"),),
        cells=cells,
        trials=(),
        repeats=blocks,
        seed=1,
        limits=Limits(wall_s=1, cost_usd=0, ttl_s=1),
    )


def measured(
    plan: Plan, trials: Sequence[PlannedTrial], effects: Logs, ratios: dict[str, float], rng: np.random.Generator
) -> list[CellSummary]:
    """What a run would have measured: each trial's median in ms, 1 ms but for ratio, effects and noise."""
    logs = effects + rng.normal(0, BLOCK_SD, size=(len(effects), 1)) + rng.normal(0, TRIAL_SD, size=effects.shape)
    of_cell: dict[str, list[TrialSummary]] = {cell.id: [] for cell in plan.cells}
    for trial, log in zip(trials, logs.ravel(), strict=True):
        of_cell[trial.cell].append(_trial(trial, ratios[trial.cell] * exp(log)))
    return [_cell(cell, tuple(of_cell[cell.id])) for cell in plan.cells]


def _trial(trial: PlannedTrial, median: float) -> TrialSummary:
    return TrialSummary(
        index=trial.index,
        block=trial.block,
        n=1000,
        errors=0,
        median=median,
        p99=None,
        mean=median,
        minimum=median,
        throughput_per_s=1000 / median,
        cpu_share=None,
        started_wall_ns=trial.index,
    )


def _cell(cell: Cell, trials: tuple[TrialSummary, ...]) -> CellSummary:
    return CellSummary(
        id=cell.id,
        stack=cell.stack,
        factors={"protocol": cell.stack, "responder": "r", "client": "c", **cell.factors},
        operation=cell.operation,
        placement="p",
        labels=Labels(stack=cell.stack, operation=cell.operation, placement="p", load="1,000 requests, 1 in flight"),
        distribution=None,
        counts=Counts(failed_trials=0, requests=1000 * len(trials), errors={}),
        trials=trials,
        median_interval=None,
        throughput_per_s=None,
    )


def table(runs: int, seed: int) -> Iterator[str]:
    """The lines of the table, in Markdown."""
    yield "| noise | stacks | blocks | coverage | false winners | slower one found |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, noise in NOISES.items():
        for stacks in STACKS:
            for blocks in BLOCKS:
                size = {"stacks": stacks, "blocks": blocks, "seed": seed}
                old = simulate(noise, runs=runs, before=True, **size)
                new = simulate(noise, runs=runs, **size)
                pairs = [(getattr(old, key), getattr(new, key)) for key in ("coverage", "false_winners", "found")]
                shares = [f"{100 * a:.1f} → {100 * b:.1f} %" for a, b in pairs]
                yield f"| {name} | {stacks} | {blocks} | {' | '.join(shares)} |"


def winners_table(runs: int, seed: int) -> Iterator[str]:
    """Equal stacks in several settings: how often a run names a winner, in Markdown."""
    yield "| noise | stacks | settings | blocks | runs with a false winner |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for name, noise in NOISES.items():
        for stacks, settings, blocks in SEVERAL:
            found = false_winners(noise, stacks=stacks, blocks=blocks, settings=settings, runs=runs, seed=seed)
            shares = f"{100 * found.by_setting:.1f} → {100 * found.of_run:.1f} %"
            yield f"| {name} | {stacks} | {settings} | {blocks} | {shares} |"


def tables(runs: int, seed: int) -> Iterator[str]:
    """Both tables, the lines of one and then of the other."""
    yield from table(runs, seed)
    yield ""
    yield from winners_table(runs, seed)


def main() -> None:
    """Print the tables, and with `--write` keep them."""
    print_tables("python -m benchmarks.coverage", tables, names=("coverage", "several-settings"), runs=1000)


if __name__ == "__main__":
    main()
