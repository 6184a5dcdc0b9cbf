"""Whether intervals cover what they say where a run ends as soon as they are narrow enough, and how many blocks that saves.

`python -m benchmarks.until [--write]` simulates runs whose blocks spread in a known way, and ends each by the rule of
`orchestrator/questions/until/find.py`. It counts how often the reported interval then holds the true ratio; `--write`
keeps the table in docs/validation. Many runs are computed at once, with numpy. `tests/benchmarks/test_until.py` holds the
rule to that of orch, run for run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.simulated import print_tables
from orchestrator.findings.compare import SHARE
from orchestrator.statistics.intervals import ALPHA, LogMean, moderated, t_quantile

WITHIN = 0.03
AT_MOST = 30
SEVERAL = 8  # comparisons; a tenth of the runs, since each moderates the others
SPREADS = (0.003, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.25)
"""SD of a block's log ratio: from blocks that agree at once to those that never do."""

Floats = npt.NDArray[np.float64]
Effects = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def _normal(source: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return source.standard_normal(shape)


def _heavy(source: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Student's t with four degrees of freedom, of SD 1: now and then a block is far off."""
    return source.standard_t(4, shape) / sqrt(2)


def _two_groups(source: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """One trial in five is of a slower group, as processes that landed on another core are; mean 0, SD 1."""
    return np.where(source.random(shape) < 0.2, 2.0, -0.5) * sqrt(0.8) + source.standard_normal(shape) * sqrt(0.2)


EFFECTS: Mapping[str, Effects] = {"normal": _normal, "heavy tails": _heavy, "two groups": _two_groups}


def log_ratios(
    effects: Effects, source: np.random.Generator, *, runs: int, blocks: int, compared: int, sd: float
) -> Floats:
    """Of stacks beside one reference, by run, block and comparison: mean 0; a cell's effect has SD sd / sqrt(2)."""
    cells = effects(source, (runs, blocks, compared + 1)) * (sd / sqrt(2))
    return cells[:, :, 1:] - cells[:, :, :1]


def _halves(logs: Floats, alpha: float) -> Floats:
    """By run and comparison, half of the interval of these blocks (shape: runs, blocks, comparisons)."""
    runs, blocks, compared = logs.shape
    sd = logs.std(axis=1, ddof=1)
    if compared == 1:
        return np.asarray(t_quantile(1 - alpha / 2, blocks - 1) * sd / sqrt(blocks))
    halves = np.empty((runs, compared))
    for run, row in enumerate(sd):
        own = [LogMean(n=blocks, mean=0.0, sd=float(s), se=float(s) / sqrt(blocks), p_value=1.0) for s in row]
        halves[run] = [t_quantile(1 - alpha / 2, r.freedom) * r.se for r in moderated(own) if r is not None and r.se]
    return halves


def ended(
    logs: Floats, *, within: float = WITHIN, at_least: int = 3, share: float = SHARE
) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """By run: after how many blocks it ends; by run and comparison: the mean log, and half of the interval reported then.

    The interval at the run's own level of all comparisons (Bonferroni), moderated as `intervals` does.
    """
    runs, most, compared = logs.shape
    blocks = np.full(runs, most)
    means, halves = np.zeros((runs, compared)), np.zeros((runs, compared))
    open_ = np.ones(runs, dtype=bool)
    for made in range(at_least, most + 1):
        here = logs[open_, :made]
        alpha = ALPHA * (share if made < most else 1.0) / compared
        half = _halves(here, alpha)
        ends = (half <= log(1 + within)).all(axis=1) | (made == most)
        numbers = np.flatnonzero(open_)[ends]
        blocks[numbers], means[numbers], halves[numbers] = made, here.mean(axis=1)[ends], half[ends]
        open_[numbers] = False
    return blocks, means, halves


def coverage(
    effects: str,
    *,
    runs: int,
    compared: int = 1,
    sd: float,
    at_least: int = 3,
    at_most: int = AT_MOST,
    share: float = SHARE,
    seed: int = 1,
) -> dict[str, Any]:
    """How often all intervals of a run hold the true ratios, and after how many blocks runs end."""
    source = np.random.default_rng([seed, int(sd * 1e5), compared, at_most])
    logs = log_ratios(EFFECTS[effects], source, runs=runs, blocks=at_most, compared=compared, sd=sd)
    blocks, means, halves = ended(logs, at_least=at_least, share=share)
    return {
        "effects": effects,
        "compared": compared,
        "sd": sd,
        "at_least": at_least,
        "at_most": at_most,
        "share": share,
        "runs": runs,
        "covered": float((np.abs(means) <= halves).all(axis=1).mean()),
        "blocks_mean": float(blocks.mean()),
        "early": float((blocks < at_most).mean()),
    }


def correlated(
    likeness: float, *, sd: float, runs: int, blocks: int = AT_MOST, within: float = WITHIN, seed: int = 3
) -> dict[str, Any]:
    """Coverage where each block is like the one before it (a correlation), beside as many fixed blocks as `until` makes."""
    source = np.random.default_rng([seed, int(likeness * 100), int(sd * 1e5)])
    fresh = source.standard_normal((runs, blocks, 1)) * sd
    logs = fresh.copy()
    for block in range(1, blocks):
        logs[:, block] = likeness * logs[:, block - 1] + sqrt(1 - likeness**2) * fresh[:, block]
    made, means, halves = ended(logs, within=within)
    fixed = max(3, round(float(made.mean())))
    here = logs[:, :fixed]
    half = t_quantile(1 - ALPHA / 2, fixed - 1) * here.std(axis=1, ddof=1) / sqrt(fixed)
    return {
        "likeness": likeness,
        "sd": sd,
        "runs": runs,
        "covered": float((np.abs(means) <= halves).mean()),
        "fixed": fixed,
        "fixed_covered": float((np.abs(here.mean(axis=1)) <= half).mean()),
    }


def table(runs: int, seed: int) -> Iterator[str]:
    """The lines of docs/validation/until.csv. Several comparisons hold together where all their intervals do."""
    names = " | ".join(EFFECTS)
    yield f"| SD of a block | {names} | normal, uncorrected | blocks, mean | {SEVERAL} compared | their blocks |"
    for sd in SPREADS:
        alone = [coverage(effects, runs=runs, sd=sd, seed=seed) for effects in EFFECTS]
        plain = coverage("normal", runs=runs, sd=sd, seed=seed, share=1.0)
        several = coverage("normal", runs=max(1, runs // 10), sd=sd, seed=seed, compared=SEVERAL)
        covered = " | ".join(f"{row['covered']:.1%}" for row in (*alone, plain))
        blocks = alone[0]["blocks_mean"]
        yield f"| {sd:.1%} | {covered} | {blocks:.1f} | {several['covered']:.1%} | {several['blocks_mean']:.1f} |"


if __name__ == "__main__":
    print_tables("benchmarks.until", table, names=("until",), runs=8_000)
