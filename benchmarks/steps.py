"""How often `orch runs trend` marks a step, where there is none and where there is one, in simulated series of runs.

    python -m benchmarks.steps [--runs 400] [--seed 1] [--write]

`any`: series with a mark. `near`: series with a mark within two runs of the true step. `far`: series with a mark farther
away. Beside it the same library with the usual penalty (3 σ² ln n, σ from successive differences) and, where it is
installed, Apache Otava with its own default (p at most 0.001). `--write` keeps the table in docs/validation/.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from math import log, sqrt

import numpy as np
import ruptures

from benchmarks.simulated import print_tables
from orchestrator.history.steps import SHORTEST, steps

NOISE = 0.02
LENGTHS = (12, 40, 100)
Method = Callable[[Sequence[float]], list[int]]


def usual(logs: Sequence[float]) -> list[int]:
    """Return the steps of PELT with the penalty of the Bayesian information criterion."""
    values = np.array(logs)
    sigma = float(np.median(np.abs(np.diff(values)))) / 0.6745 / sqrt(2)
    detector = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST).fit(values.reshape(-1, 1))
    return list(detector.predict(pen=3 * sigma**2 * log(len(values)))[:-1])


def otava(logs: Sequence[float]) -> list[int]:
    """Return the change points of Apache Otava."""
    return [int(point.index) for point in import_module("otava.analysis").compute_change_points(list(logs))[0]]


METHODS: Mapping[str, Method] = {
    "orch": steps,
    "usual penalty": usual,
    **({"Otava": otava} if find_spec("otava") else {}),
}


def level(count: int, *changes: tuple[int, float]) -> np.ndarray:
    """Return the true logs of a series in which each change (its first run, its ratio less 1) stays."""
    return sum((np.where(np.arange(count) >= at, log(1 + by), 0.0) for at, by in changes), np.zeros(count))


def truths(count: int) -> Iterator[tuple[str, np.ndarray, int | None]]:
    """Yield each kind of series: its name, its true logs, and where its only step is."""
    at = round(0.6 * count)
    yield "no step", level(count), None
    for by in (0.01, 0.02, 0.03, 0.05, 0.10):
        yield f"step of {by:.0%}", level(count, (at, by)), at
    yield "ten steps of 1%", level(count, *((round((n + 1) * count / 11), 0.01) for n in range(10))), None
    yield "ramp to 5%", np.linspace(0, log(1.05), count), None
    yield "5% for an eighth", level(count, (at, 0.05), (at + max(SHORTEST, count // 8), 1 / 1.05 - 1)), None


def noises(random: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """Return noise of each kind, of the same SD; the lasting one has a correlation of 0.3 between neighbours."""
    normal = random.normal(size=count)
    lasting = normal.copy()
    for place in range(1, count):
        lasting[place] = 0.3 * lasting[place - 1] + sqrt(1 - 0.3**2) * normal[place]
    heavy = random.standard_t(3, count) / sqrt(3)
    return {"normal": NOISE * normal, "heavy tails": NOISE * heavy, "lasting": NOISE * lasting}


def table(runs: int, seed: int) -> Iterator[str]:
    """Yield the table's lines."""
    heads = [f"{name}: {share}" for name in METHODS for share in ("any", "near", "far")]
    yield f"| runs | series | noise | {' | '.join(heads)} |"
    yield f"| --- {'| --- ' * (2 + len(heads))}|"
    for count in LENGTHS:
        for name, truth, at in truths(count):
            for noise in ("normal", "heavy tails", "lasting") if name in ("no step", "step of 5%") else ("normal",):
                random = np.random.default_rng(seed)
                series = [truth + noises(random, count)[noise] for _ in range(runs)]
                cells = [cell for method in METHODS.values() for cell in shares([method(s) for s in series], at)]
                yield f"| {count} | {name} | {noise} | {' | '.join(cells)} |"


def shares(marks: Sequence[Sequence[int]], at: int | None) -> tuple[str, str, str]:
    """Return the shares of series with any mark, with one near the only step, and with one far from it."""
    marked = f"{np.mean([bool(places) for places in marks]):.1%}"
    if at is None:
        return marked, "", ""
    near = np.mean([any(abs(place - at) <= 2 for place in places) for places in marks])
    far = np.mean([any(abs(place - at) > 2 for place in places) for places in marks])
    return marked, f"{near:.1%}", f"{far:.1%}"


if __name__ == "__main__":
    print_tables("benchmarks.steps", table, names=("steps",), runs=400)
