"""How much passes in a round trip under a window, on runs whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.distance.find import QUESTION as DISTANCE
from orchestrator.questions.distance.windows import WindowFit, fit
from orchestrator.summarise import summarise, summary_of_json
from tests.support.runs import a_plan, a_run

KIB = 1024
RTT_MS = 30.0
SIZES = (512 * KIB, 1024 * KIB, 2048 * KIB)
FAR = p.Placement(
    id="far", name="far", kind="cross-region", from_zone="a", to_zone="b", link=p.Link(rtt_ms=RTT_MS, rate_mbit=1000.0)
)


def measured(window: float, blocks: int = 5, *, noise: float = 0.0, seed: int = 1):
    """Medians of each of `SIZES` by block, and the floor: the number of windows times the round trip, and 2 ms."""
    random = np.random.default_rng(seed)
    floor = {block: RTT_MS + float(random.normal(0, noise / 10)) for block in range(blocks)}
    medians = [
        {block: 2.0 + size / window * floor[block] + float(random.normal(0, noise)) for block in range(blocks)}
        for size in SIZES
    ]
    return SIZES, medians, floor


@pytest.mark.parametrize("window", [65_535.0, 262_144.0])
def test_without_noise_a_window_passes_in_each_round_trip(window: float) -> None:
    found = fit(*measured(window))
    assert found is not None
    assert found.per_round_trip == pytest.approx(window)
    assert found.interval == pytest.approx((window, window))
    assert (found.at_zero, found.off_line) == pytest.approx((2.0, 0.0), abs=1e-6)
    assert found.blocks == 5


@pytest.mark.parametrize("blocks", [3, 5])
def test_95_of_100_intervals_hold_the_true_window(blocks: int) -> None:
    fits = [fit(*measured(65_536.0, blocks, noise=3.0, seed=seed)) for seed in range(600)]
    held = [f is not None and f.interval is not None and f.interval[0] <= 65_536.0 <= f.interval[1] for f in fits]
    assert 0.92 <= sum(held) / len(held) <= 0.98


def a_transfer(size: int, **planned: Any) -> p.Plan:
    operation = p.Operation(
        id=f"transfer-{size}",
        name="transfer",
        label=f"transfer of {size} B",
        payload={"kind": "transfer", "size": size, "reply_size": 32},
        request_bytes=size,
        reply_bytes=32,
    )
    load = p.Load(concurrency=1, requests=20)
    planned = {"placements": [FAR], **planned}
    return a_plan(operation=operation, load=load, warmup=3, stacks=("rest",), **planned)


def even(rng: np.random.Generator, rows: int, base_ns: float, _rtt_ns: float) -> np.ndarray:
    return base_ns * (1 + np.abs(rng.normal(0, 0.001, size=rows)))


def a_sized_run(
    windows: dict[str, Any], rounds_of: float, *, link: p.Placement = FAR, between: float = 0.001, **changed: Any
) -> RunSummary:
    """Three sizes with these windows; each takes as many round trips as it has windows of `rounds_of` bytes."""
    ways = [{"connection": "reuse"}, *([{"connection": "reuse", **windows}] if windows else [])]
    plans = [a_transfer(size, calls=ways, placements=[link]) for size in SIZES]
    first = plans[0]
    cells = tuple(cell for plan in plans for cell in plan.cells)
    plan = replace(
        first,
        cells=cells,
        operations=tuple(operation for plan in plans for operation in plan.operations),
        trials=schedule(cells, first.repeats, first.seed),
        resolved={"rest-thin": {"settings": {"protocol": {"flow_window: SIZE": "of each stream"}}}},
    )
    effects = {str(size): size / rounds_of - 1 for size in SIZES}
    base_us = {"rest": RTT_MS * 1000}
    return summarise(a_run(plan, base_us=base_us, effects=effects, between=between, shape=even, **changed))


def windows_of(summary: RunSummary) -> dict[int | None, WindowFit]:
    return {row.window: row for row in DISTANCE.of(summary).windows}


def test_a_run_holds_what_passes_against_the_smallest_window_that_it_sets() -> None:
    summary = a_sized_run({"flow_window": 65_536, "tcp_window": 131_072}, 65_536.0)
    found = windows_of(summary)
    assert found.keys() == {None, 65_536}
    row = found[65_536]
    assert (row.stack, row.placement, row.way, row.sizes, row.blocks) == ("rest-thin", "far", "request", 3, 5)
    assert row.of_window == pytest.approx(1.0, abs=0.03)
    assert row.interval is not None
    assert row.interval[0] < row.per_round_trip < row.interval[1]
    assert row.mb_per_s == pytest.approx(row.per_round_trip / row.rtt / 1000)
    assert row.expected_mb_per_s == pytest.approx(65_536 / row.rtt / 1000)
    assert (row.side, row.is_free) == ("as", True)
    assert found[None].of_window is None
    assert DISTANCE.of(summary_of_json(summary.to_json())).windows == DISTANCE.of(summary).windows


def test_more_and_less_than_the_window_are_off() -> None:
    more = windows_of(a_sized_run({"flow_window": 65_536}, 200_000.0))[65_536]
    less = windows_of(a_sized_run({"flow_window": 2**24}, 200_000.0))[2**24]
    assert (more.side, more.is_off, less.side, less.is_off) == ("more", True, "less", True)


def test_an_interval_that_is_too_wide_decides_nothing() -> None:
    """The median of each block is off by a tenth or more, and their mean by less."""
    noisy = windows_of(a_sized_run({"flow_window": 65_536}, 65_536.0, between=0.2, seed=3))[65_536]
    assert (noisy.side, noisy.is_off) == ("unknown", False)


def test_without_a_window_there_is_nothing_to_hold_against() -> None:
    assert DISTANCE.of(a_sized_run({}, 65_536.0)).windows == ()
