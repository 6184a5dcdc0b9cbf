"""Neighbours of a lab's hosts: found nine times in ten, and no clean trial of an f1-micro is warned of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.checks import lab, plans, power
from benchmarks.checks.realistic import clean_run
from orchestrator.analysis.checks.noise import CHECK
from tests.support.runs import Draft

RUNS = 20
Inject = Callable[[Draft, float, np.random.Generator], None]


@pytest.mark.parametrize(("inject", "size"), [(lab.inside, 0.5), (lab.beside, 0.4)])
def test_a_neighbour_is_found_nine_times_in_ten_and_a_clean_lab_is_never_warned_of(inject: Inject, size: float) -> None:
    def warned(size: float) -> int:
        return sum(_verdict(inject, size, seed) == "warn" for seed in range(RUNS))

    assert warned(size) >= power.NINE_IN_TEN * RUNS
    assert warned(0.0) == 0


def _verdict(inject: Inject, size: float, seed: int) -> str:
    rng = np.random.default_rng((seed, 11))
    return power.judged(CHECK, clean_run(seed, spoil=lambda draft: inject(draft, size, rng), **plans.lab(size)))
