"""A choice that was varied and has a larger effect than what a run compares."""

from __future__ import annotations

from dataclasses import replace
from math import exp, prod
from random import Random

import pytest

from orchestrator.findings.effects import effects, greatest
from orchestrator.findings.ranking import rankings
from orchestrator.findings.summary import RunSummary
from tests.support.concluded import cell_of, setting, summary


def by_connection(new: float) -> RunSummary:
    """Two stacks with a kept connection, and with a new one for each call that takes so much longer."""
    medians = {"rest": 0.3, "grpc": 0.2}
    longer = {name: median + new for name, median in medians.items()}
    return summary(setting(medians, connection="reuse"), setting(longer, connection="per-request"))


@pytest.mark.parametrize(("new", "gap"), [(1.0, 1.0), (0.02, None)])
def test_the_larger_effect_is_found_where_it_is_larger_than_the_difference_compared(new: float, gap: float) -> None:
    run = by_connection(new)
    found = greatest(effects(run.cells, "stack", run.matters), rankings(run))
    if gap is None:
        assert found is None
    else:
        assert found is not None
        effect, least = found
        assert (effect.factor, effect.better, effect.worse) == ("connection", "reuse", "per-request")
        assert (effect.gap, least) == (pytest.approx(gap), pytest.approx(0.1))


def test_an_effect_that_is_no_surer_than_chance_decides_nothing() -> None:
    """Among 80 pairs of equal cells some differ by chance: one alone is no reason to choose."""
    rng = Random(5)
    cells = []
    for stack in ("rest", "grpc", "cbor", "avro", "tcp"):
        for number in range(8):
            cell = cell_of(stack, 0.3, connection=("reuse", "per-request")[number % 2], concurrency=number // 2)
            medians = [0.3 * exp(rng.gauss(0, 0.03)) for _ in cell.trials]
            trials = tuple(replace(t, median=m) for t, m in zip(cell.trials, medians, strict=True))
            assert cell.distribution is not None
            middle = prod(medians) ** (1 / len(medians))
            cells.append(replace(cell, trials=trials, distribution=replace(cell.distribution, median=middle)))
    found = effects(cells, "stack", 0.05)
    assert len(found) == 20
    assert not [effect for effect in found if effect.is_sure]
