"""Steps in a series of runs: where its level changed, by PELT with a penalty that random orders of the same runs give.

PELT (Killick, Fearnhead and Eckley 2012, Journal of the American Statistical Association 107(500); library `ruptures`)
finds the levels with the least sum of squares plus a penalty for each. The penalty is what a level gains in 95 % of random
orders of the residuals: it needs no known noise and no normal distribution. As levels explain more, it is found anew.
Where nothing changed, at most about 5 % of series have a step (docs/validation/steps.csv). That holds for runs whose
noise is independent: noise that lasts over several runs is a level.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt

from orchestrator.errors import MissingError

SHORTEST = 3  # runs of a level: one or two that lie far out are no level
FEWEST = 3 * SHORTEST  # of fewer runs, a random order too often looks like a step
_ORDERS = 199
_LEVEL = 0.95
_NOTHING = 1e-12  # squares of logs below which values are equal

_Values = npt.NDArray[np.float64]


def steps(logs: Sequence[float]) -> list[int]:
    """Return the index of the first run of each new level in a series of logs, oldest first; [] with fewer than `FEWEST`.

    MissingError under a Python for which there is no ruptures.
    """
    values = np.array(logs, dtype=float)
    starts: list[int] = []
    if len(values) < FEWEST:
        return starts
    random = np.random.default_rng(0)  # the same runs always give the same steps
    while True:
        left = residuals(values, starts) * sqrt(len(values) / (len(values) - len(starts)))
        gains = [_largest_gain(random.permutation(left)) for _ in range(_ORDERS)]
        penalty = float(np.quantile(gains, _LEVEL, method="higher"))
        more = _segments(values, pen=penalty) if penalty > _NOTHING else []
        if len(more) <= len(starts):
            return starts
        starts = more


def residuals(values: _Values, starts: Sequence[int]) -> _Values:
    """Return each value less the mean of its level."""
    return np.concatenate([level - level.mean() for level in np.split(values, starts)])


def _largest_gain(values: _Values) -> float:
    """Return what a level explains at most, as a sum of squares: of one step, or half of what two explain; mean 0."""
    gains = []
    for count in (1, 2):
        edges = [0, *_segments(values, n_bkps=count)]
        sums = np.add.reduceat(values, edges)
        gains.append(float(np.sum(sums**2 / np.diff([*edges, len(values)]))) / count)
    return max(gains)


def _segments(values: _Values, **criterion: float) -> list[int]:
    try:
        from ruptures import KernelCPD  # a tenth of a second, which a listing need not wait
    except ModuleNotFoundError:
        raise MissingError("steps are found by ruptures, which needs a Python older than 3.14") from None
    detector = KernelCPD(kernel="linear", min_size=SHORTEST).fit(values.reshape(-1, 1))
    return [int(place) for place in detector.predict(**criterion)[:-1]]
