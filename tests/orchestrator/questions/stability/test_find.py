"""How far latencies spread, and which stack is the most predictable: on trials whose spread is known, and by simulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks import spread as simulated
from orchestrator.evidence.collect import spreads
from orchestrator.experiment.plan import plan as p
from orchestrator.findings.summary import RunSummary
from orchestrator.findings.trial_values import SPREAD_NAMES, over_trials
from orchestrator.questions.stability import find as stability
from orchestrator.questions.stability.find import QUESTION as STABILITY
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from tests.support.drafts import Draft
from tests.support.runs import a_plan, a_run
from tests.support.shapes import narrow

MS = 1_000_000
STACKS = ("rest", "grpc", "http+cbor")
BASE_US = {"rest": 300.0, "grpc": 300.0, "http+cbor": 300.0}


def tailed(rng: np.random.Generator, rows: int, base_ns: float, rtt_ns: float) -> np.ndarray:
    """Who is slower has a wider body, and a tail: one request in fifty takes six times as long."""
    usual = narrow(rng, rows, base_ns, rtt_ns)
    if base_ns < 250_000:
        return usual
    wide = usual + rng.gamma(2.0, 0.2, size=rows) * base_ns
    return np.where(rng.random(rows) < 0.02, 6 * wide, wide)


def with_stability(plan: p.Plan) -> p.Plan:
    return replace(plan, stability=True)


def measured(seed: int = 1, **planned: Any) -> RunSummary:
    run = {key: planned.pop(key) for key in ("shape", "base_us", "spoil", "effects") if key in planned}
    run["seed"] = seed
    return summarise(a_run(with_stability(a_plan(**planned)), **run))


def test_a_trials_spread_is_that_of_its_requests() -> None:
    ordered = np.arange(1, 2001, dtype=np.int64) * MS  # 1 ms, 2 ms, ... 2 s
    assert spreads(ordered, 0, 3001.5) == pytest.approx(
        {
            "sd": float(np.std(np.arange(1, 2001), ddof=1)),
            "iqr": 999.5,
            "p99_to_p50": 1980.01 / 1000.5,
            "first_to_steady": 3001.5 / 1000.5,
        }
    )


def test_a_failed_request_widens_the_iqr_and_never_narrows_it() -> None:
    ordered = np.sort(np.random.default_rng(1).gamma(2.0, 1e6, 1900).astype(np.int64))
    without, with_failed = (spreads(ordered, failed)["iqr"] for failed in (0, 100))
    assert without is not None
    assert with_failed is not None
    assert with_failed > without


def test_a_cells_spread_is_its_trials_with_their_t_interval() -> None:
    values = [0.2, 0.25, 0.3, 0.22]
    trials = [{"sd": sd, "iqr": 2 * sd} for sd in values]
    spreads = over_trials(trials)
    mean = intervals.of_trials(values)
    assert spreads.keys() == {"sd", "iqr"}
    assert spreads["sd"].value == pytest.approx(mean.ratio)
    assert spreads["sd"].interval == pytest.approx(mean.interval())
    assert over_trials([*trials, {}]) == {}


def test_who_spreads_less_by_all_is_the_most_predictable() -> None:
    summary = measured(shape=tailed, base_us={"rest": 300.0, "grpc": 200.0})
    by = {c.statistic: c for c in STABILITY.of(summary)}
    assert list(by) == list(SPREAD_NAMES)
    assert {c.standing for c in by.values()} == {"less"}


def test_an_error_leaves_no_sd_and_says_why() -> None:
    def spoil(draft: Draft) -> None:
        if draft.cell.stack.startswith("grpc") and draft.block == 1:
            draft.columns["status"][-1] = 3
            draft.done["errors"] = {"closed": 1}
            draft.done["verified"] -= 1

    summary = measured(spoil=spoil)
    sd = next(c for c in STABILITY.of(summary) if c.statistic == "sd")
    assert (sd.standing, sd.ratio) == ("cannot tell", None)
    assert (sd.reason.kind, sd.reason.numbers) == (ReasonKind.MISSING, {"blocks": 1, "of": 5})


def test_a_winner_needs_every_other_stack_to_be_shown_to_spread_more() -> None:
    summary = measured(stacks=STACKS, base_us=BASE_US)
    cells = {cell.id: cell for cell in summary.cells}
    (rest, grpc, cbor) = cells
    sd = {(c.cell, c.reference_cell): c for c in STABILITY.of(summary) if c.statistic == "sd"}
    known = {(grpc, rest): "less", (cbor, rest): "not resolved", (cbor, grpc): "not resolved"}
    judged = [replace(sd[pair], standing=standing) for pair, standing in known.items()]
    (spread,) = stability.least(judged, cells)
    assert set(spread.cells) == {grpc, cbor}
    judged[2] = replace(judged[2], standing="more")
    assert stability.least(judged, cells)[0].cells == (grpc,)


@pytest.mark.slow
@pytest.mark.parametrize("shape", simulated.SHAPES)
def test_intervals_hold_the_true_spread_as_often_as_they_say(shape: str) -> None:
    coverage = simulated.coverage(shape, blocks=5, runs=300)
    for name, shares in coverage.items():
        # A tail's spread is underestimated in every trial, and an SD that a request or two make is most of all.
        least = 0.8 if shape == "tail" else 0.7 if (shape, name) == ("stalls", "sd") else 0.9
        assert shares.interval > least, name
        assert shares.bootstrap < shares.interval, name


@pytest.mark.slow
def test_among_equals_none_is_called_the_most_predictable_more_often_than_promised() -> None:
    for name, shares in simulated.named("narrow", stacks=5, blocks=5, runs=100).items():
        assert shares.among_equals <= 0.1, name
        assert shares.wrong <= 0.05, name
    assert simulated.named("narrow", stacks=2, blocks=10, runs=60)["iqr"].found > 0.6
