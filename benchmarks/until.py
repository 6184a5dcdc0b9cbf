"""Whether intervals cover what they say where a run ends as soon as they are narrow enough, and how many blocks that saves.

`python -m benchmarks.until` simulates runs whose blocks spread in a known way, and ends each by the rule of
`orchestrator/questions/until/find.py`. It counts how often the interval that is reported then holds the true ratio, prints a
table and writes every figure to `benchmarks/results/until.json`; `--table` keeps what docs/validation holds of that file.
Many runs are computed at once, with numpy. `tests/benchmarks/test_until.py` holds its rule to that of orch, run for run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.simulated import write
from orchestrator.questions.until.find import SHARE
from orchestrator.statistics.intervals import ALPHA, LogMean, moderated, t_quantile

RESULTS = Path(__file__).parent / "results" / "until.json"
WITHIN = 0.03
AT_MOST = 30
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


def saved(
    *, compared: int, within: float, sd: float = 0.05, runs: int, sure: float = 0.9, doubt: float = 0.5, seed: int = 1
) -> dict[str, Any]:
    """Trials against fixed repeats that reach the same width as surely, as a share.

    How far blocks spread is not known beforehand: from run to run it is drawn around `sd`, by a factor whose log has SD
    `doubt`. `fixed` is the fewest blocks with which a share `sure` of runs reaches the width; `until` may make as many.
    """
    source = np.random.default_rng([seed, compared])
    room = 160
    logs = log_ratios(_normal, source, runs=runs, blocks=room, compared=compared, sd=sd)
    logs *= np.exp(source.normal(0, doubt, runs))[:, None, None]

    def reached(fixed: int) -> float:
        here = logs[:, :fixed]
        half = _halves(here, ALPHA / compared)
        return float((half <= log(1 + within)).all(axis=1).mean())

    low, high = 2, room
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) >= sure else (middle, high)
    blocks, _, halves = ended(logs[:, :high], within=within)
    return {
        "compared": compared,
        "within": within,
        "fixed": high,
        "fixed_reached": reached(high),
        "sure": sure,
        "doubt": doubt,
        "runs": runs,
        "blocks": float(blocks.mean()),
        "ratio": float(blocks.mean() / high),
        "reached": float((halves <= log(1 + within) * (1 + 1e-9)).all(axis=1).mean()),
    }


def shipped() -> list[tuple[str, int, float]]:
    """Each experiment of `experiments/` that compares anything in three blocks or more: name, comparisons, margin."""
    from orchestrator.errors import OrchError
    from orchestrator.experiment.plan.planning import make_plan
    from orchestrator.findings.power import planned_comparisons

    found = []
    for path in sorted((Path(__file__).parent.parent / "experiments").glob("*.yaml")):
        try:
            plan = make_plan(path)
        except OrchError:
            continue  # needs what this machine does not have
        compared = planned_comparisons(plan)
        if compared and plan.repeats >= 3 and plan.until is None and all(cell.find is None for cell in plan.cells):
            found.append((path.stem, compared, plan.matters))
    return found


def table(found: Mapping[str, Any]) -> Iterator[str]:
    """The coverage of a comparison alone, as a table: what docs/validation/until.csv holds of the figures."""
    alone = {
        (row["effects"], row["sd"]): row
        for row in found["coverage"]
        if (row["compared"], row["at_least"], row["at_most"]) == (1, 3, AT_MOST)
    }
    plain = {row["sd"]: row for row in found["uncorrected"]}
    yield f"| SD of a block | {' | '.join(EFFECTS)} | normal, uncorrected | blocks, mean |"
    for sd in SPREADS:
        covered = " | ".join(f"{alone[name, sd]['covered']:.1%}" for name in EFFECTS)
        blocks = alone["normal", sd]["blocks_mean"]
        yield f"| {sd:.1%} | {covered} | {plain[sd]['covered']:.1%} | {blocks:.1f} |"


def main() -> None:
    """Print and write all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="keep the table of --output in docs/validation, and end")
    told = parser.parse_args()
    if told.table:
        write("until", table(json.loads(told.output.read_text(encoding="utf-8"))))
        return
    rows = [
        coverage(effects, runs=told.runs, compared=compared, sd=sd, at_least=at_least, at_most=at_most)
        for effects in EFFECTS
        for compared in (1, 3, 8)
        for at_least, at_most in ((3, 30), (5, 30), (3, 10))
        for sd in SPREADS
    ]
    plain = [coverage("normal", runs=told.runs, sd=sd, share=1.0) for sd in SPREADS]
    for row in (*rows, *plain):
        print(
            f"{row['effects']:12} {row['compared']} compared, {row['at_least']} to {row['at_most']} blocks,"
            f" share {row['share']}, SD {row['sd']:5}: {row['covered']:.2%}, {row['blocks_mean']:.1f} blocks"
        )
    for likeness, sd in product((0.3, 0.6, 0.9), (0.02, 0.04, 0.08)):
        of = correlated(likeness, sd=sd, runs=told.runs)
        print(
            f"blocks correlated by {likeness}, SD {sd}: {of['covered']:.1%};"
            f" of {of['fixed']} fixed blocks {of['fixed_covered']:.1%}"
        )
    experiments = [
        {"experiment": name, **saved(compared=min(compared, 30), within=margin, runs=max(200, told.runs // 20))}
        for name, compared, margin in shipped()
    ]
    for of in experiments:
        print(
            f"{of['experiment']:28} {of['compared']:3} compared, ± {of['within']:.0%}: {of['fixed']} fixed blocks"
            f" reach it in {of['fixed_reached']:.0%} of runs, {of['blocks']:.1f} in {of['reached']:.0%}:"
            f" {of['ratio']:.2f} of the trials"
        )
    ratio = float(np.median([of["ratio"] for of in experiments])) if experiments else None
    print(f"median over {len(experiments)} experiments: {ratio:.2f} of the trials of fixed repeats")
    told.output.write_text(
        json.dumps({"coverage": rows, "uncorrected": plain, "saved": experiments, "saved_median": ratio}, indent=1)
        + "\n"
    )


if __name__ == "__main__":
    main()
