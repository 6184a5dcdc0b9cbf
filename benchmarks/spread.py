"""How sure a spread and "the most predictable" are, by simulation of requests with the real analysis.

    python -m benchmarks.spread [--runs 1000] [--seed 1] [--write]

A trial is 1,000 requests of one of `SHAPES`; its offset, its scale and so its spread differ from trial to trial. The truth
is the geometric mean over trials of the spread that each would show with endlessly many requests. `--write`
keeps the tables in docs/validation/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from benchmarks.coverage import measured, plan_of
from benchmarks.simulated import print_tables
from orchestrator.evidence.collect import spreads
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.compare import compare_spreads
from orchestrator.findings.summary import CellSummary
from orchestrator.findings.trial_values import SPREAD_NAMES, SPREADS, SpreadName, over_trials
from orchestrator.questions.stability import find as stability
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import Interval

REQUESTS = 1000
BLOCKS = (3, 5, 10)
STACKS = (2, 5)
RESAMPLES = 999
OFFSET = 1.0  # ms that every request takes, whatever happens
STEADIER = 0.7  # the spread of one stack over that of the others, where they differ
_SCALE_SD = 0.2  # of the log of a trial's spread: trials differ by a fifth
_ENDLESS = 1_000_000

Floats = npt.NDArray[np.float64]
Shape = Callable[[np.random.Generator, int], Floats]


def narrow(rng: np.random.Generator, n: int) -> Floats:
    """Log-normal, and nothing else."""
    return rng.lognormal(0.0, 0.5, n)


def tail(rng: np.random.Generator, n: int) -> Floats:
    """Log-normal, and two requests in a hundred wait for something else, ten times as long on average."""
    waits = np.where(rng.random(n) < 0.02, rng.exponential(10.0, n), 0.0)
    values: Floats = rng.lognormal(0.0, 0.5, n) + waits
    return values


def two_ways(rng: np.random.Generator, n: int) -> Floats:
    """Every third request takes another way, three times as long."""
    values: Floats = rng.lognormal(0.0, 0.2, n) * np.where(rng.random(n) < 1 / 3, 3.0, 1.0)
    return values


def stalls(rng: np.random.Generator, n: int) -> Floats:
    """Log-normal, and one request in five hundred waits forty times as long: two in a trial."""
    waits = np.where(rng.random(n) < 0.002, rng.exponential(40.0, n), 0.0)
    values: Floats = rng.lognormal(0.0, 0.5, n) + waits
    return values


SHAPES: dict[str, Shape] = {"narrow": narrow, "tail": tail, "stalls": stalls, "two ways": two_ways}


def a_trial(rng: np.random.Generator, shape: Shape, scale: float) -> dict[str, float]:
    """The spreads of a trial's requests, 0.1 ms apart or so."""
    ms = OFFSET + 0.1 * scale * shape(rng, REQUESTS)
    known = spreads(np.sort((ms * 1e6).astype(np.int64)))
    return {name: value for name, value in known.items() if value is not None}


def _scales(rng: np.random.Generator, count: int) -> Floats:
    return rng.lognormal(0.0, _SCALE_SD, count)


@cache
def truth(shape: str) -> dict[SpreadName, float]:
    """The geometric mean over trials of what each would show with endlessly many requests."""
    rng = np.random.default_rng(0)
    endless = np.sort(SHAPES[shape](rng, _ENDLESS))
    scales = 0.1 * _scales(rng, 20_000)
    q25, q50, q75, q99 = np.quantile(endless, [0.25, 0.5, 0.75, 0.99])
    relative = (OFFSET + scales * q99) / (OFFSET + scales * q50)
    middle = float(np.exp(np.log(scales).mean()))
    return {
        "sd": middle * float(endless.std()),
        "iqr": middle * float(q75 - q25),
        "p99_to_p50": float(np.exp(np.log(relative).mean())),
    }


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Shares of 95 % intervals that hold the truth: of a bootstrap of the trials, and of `over_trials`."""

    bootstrap: float
    interval: float


def coverage(shape: str, *, blocks: int, runs: int, seed: int = 1) -> dict[SpreadName, Coverage]:
    """Simulate cells of so many trials, and count by each spread."""
    rng = np.random.default_rng([seed, blocks])
    held: dict[SpreadName, list[tuple[bool, bool]]] = {name: [] for name in SPREAD_NAMES}
    for _ in range(runs):
        trials = [a_trial(rng, SHAPES[shape], float(scale)) for scale in _scales(rng, blocks)]
        found = over_trials(trials)
        for name in SPREAD_NAMES:
            resampled = _bootstrap(rng, [trial[name] for trial in trials])
            ours = found[name].interval
            true = truth(shape)[name]
            held[name].append((_holds(resampled, true), ours is not None and _holds(ours, true)))
    return {
        name: Coverage(bootstrap=sum(one for one, _ in of) / runs, interval=sum(other for _, other in of) / runs)
        for name, of in held.items()
    }


def _bootstrap(rng: np.random.Generator, values: list[float]) -> Interval:
    """The percentile interval of the geometric mean, by resampling trials (Efron 1979)."""
    logs = np.log(np.asarray(values))
    means = logs[rng.integers(0, logs.size, size=(RESAMPLES, logs.size))].mean(axis=1)
    low, high = np.exp(np.quantile(means, [intervals.ALPHA / 2, 1 - intervals.ALPHA / 2]))
    return float(low), float(high)


def _holds(interval: Interval, value: float) -> bool:
    return interval[0] <= value <= interval[1]


@dataclass(frozen=True, kw_only=True)
class Named:
    """Shares of simulated runs in which by a spread one is called the most predictable.

    Any of equal stacks; the one that is steadier than the others; and another one in its place.
    """

    among_equals: float
    found: float
    wrong: float


def named(shape: str, *, stacks: int, blocks: int, runs: int, seed: int = 1) -> dict[SpreadName, Named]:
    """Simulate runs of equal stacks, and of such of which the first is steadier; by each spread."""
    equal = [*_winners(shape, stacks, blocks, runs, seed, 1.0)]
    apart = [*_winners(shape, stacks, blocks, runs, seed + 1, STEADIER)]
    return {
        name: Named(
            among_equals=sum(name in winners for winners in equal) / runs,
            found=sum(winners.get(name) == 0 for winners in apart) / runs,
            wrong=sum(winners.get(name, 0) != 0 for winners in apart) / runs,
        )
        for name in SPREAD_NAMES
    }


def _winners(
    shape: str, stacks: int, blocks: int, runs: int, seed: int, ratio: float
) -> Iterator[dict[SpreadName, int]]:
    """Of each run the place of the stack that is the most predictable, by each spread by which one is."""
    rng = np.random.default_rng([seed, stacks, blocks])
    plan = plan_of(stacks, blocks)
    places = {cell.id: place for place, cell in enumerate(plan.cells)}
    effects = np.zeros((blocks, stacks))
    for run in range(runs):
        cells = measured(plan, schedule(plan.cells, blocks, run), effects, dict.fromkeys(places, 1.0), rng)
        cells = [_with_spreads(cell, rng, shape, ratio if place == 0 else 1.0) for place, cell in enumerate(cells)]
        found = stability.least(compare_spreads(plan, cells), {cell.id: cell for cell in cells})
        yield {least.by: places[least.cells[0]] for least in found if len(least.cells) == 1}


def _with_spreads(cell: CellSummary, rng: np.random.Generator, shape: str, ratio: float) -> CellSummary:
    scales = ratio * _scales(rng, len(cell.trials))
    trials = tuple(
        replace(trial, values=a_trial(rng, SHAPES[shape], float(scale)))
        for trial, scale in zip(cell.trials, scales, strict=True)
    )
    return replace(cell, trials=trials, means=over_trials([trial.values for trial in trials]))


def table(runs: int, seed: int) -> Iterator[str]:
    """The lines of both tables, in Markdown."""
    yield f"| requests | blocks | {' | '.join(SPREADS.values())} |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for shape in SHAPES:
        for blocks in BLOCKS:
            held = coverage(shape, blocks=blocks, runs=runs, seed=seed)
            each = (f"{100 * of.bootstrap:.1f} → {100 * of.interval:.1f} %" for of in held.values())
            yield f"| {shape} | {blocks} | {' | '.join(each)} |"
    yield ""
    yield "| requests | stacks | blocks | by | named among equals | the steadier one named | another one named |"
    yield "| --- | ---: | ---: | --- | ---: | ---: | ---: |"
    for shape in SHAPES:
        for stacks in STACKS:
            for blocks in BLOCKS:
                found = named(shape, stacks=stacks, blocks=blocks, runs=max(1, runs // 5), seed=seed)
                for by, of in found.items():
                    shares = f"{100 * of.among_equals:.1f} % | {100 * of.found:.1f} % | {100 * of.wrong:.1f} %"
                    yield f"| {shape} | {stacks} | {blocks} | {SPREADS[by]} | {shares} |"


def main() -> None:
    """Print the tables, and with `--write` keep them."""
    print_tables("python -m benchmarks.spread", table, names=("spread", "most-predictable"), runs=1000)


if __name__ == "__main__":
    main()
