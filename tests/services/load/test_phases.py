"""When a phase is over, and when the requests of an open loop are due."""

from __future__ import annotations

import itertools
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.python.contract.lines import Load, Warmup
from services.python.load.phases import MEASURED, NS, Extent, Phase, arrivals, measured, warm_up


def test_warm_up_goes_on_until_both_requests_and_seconds_are_reached():
    goes_on = warm_up(Warmup(requests=10, at_least_s=1, at_most_s=5)).goes_on
    assert goes_on(10, NS - 1)
    assert goes_on(9, 4 * NS)
    assert not goes_on(10, NS)


@pytest.mark.parametrize(
    ("load", "taken", "elapsed_s", "goes_on"),
    [
        (Load(requests=3), 2, 1e6, True),
        (Load(requests=3), 3, 0, False),
        (Load(duration_s=2), 10**9, 1.9, True),
        (Load(duration_s=2), 0, 2, False),
        (Load(requests=3, duration_s=2), 2, 1.9, True),
        (Load(requests=3, duration_s=2), 3, 0, False),
        (Load(requests=3, duration_s=2), 0, 2, False),
    ],
)
def test_a_closed_loop_ends_at_requests_or_duration_whichever_comes_first(load, taken, elapsed_s, goes_on):
    extent = measured(load)
    assert extent.goes_on(taken, int(elapsed_s * NS)) is goes_on


@given(
    requests=st.one_of(st.none(), st.integers(0, 5)),
    least_ns=st.integers(0, 5),
    most_ns=st.one_of(st.none(), st.integers(0, 8)),
    begin_ns=st.integers(0, 1000),
    elapsed_ns=st.lists(st.integers(0, 9), max_size=12).map(sorted),
)
def test_a_phase_gives_numbers_as_long_as_its_extent_goes_on(requests, least_ns, most_ns, begin_ns, elapsed_ns):
    bounds = {"requests": requests, "most_ns": most_ns}
    extent = Extent(least_ns=least_ns, **{name: bound for name, bound in bounds.items() if bound is not None})
    phase = Phase(number=MEASURED, begin_ns=begin_ns, first_sequence=1, extent=extent, most=None)
    for now_ns in elapsed_ns:
        taken = phase.taken
        assert phase.take(begin_ns + now_ns) == (taken + 1 if extent.goes_on(taken, now_ns) else 0)


def test_a_load_without_an_end_is_refused():
    with pytest.raises(ValueError, match="nothing would end this trial"):
        measured(Load())


def test_uniform_arrivals_are_evenly_spaced():
    due = arrivals(Load(rate_per_s=4, requests=3, arrivals="uniform"), seed=1)
    assert list(due) == [0, NS // 4, NS // 2]


@given(seed=st.integers(0, 2**32))
def test_arrivals_depend_on_the_seed_alone_and_never_go_back(seed: int):
    load = Load(rate_per_s=1000, duration_s=0.2)
    due = arrivals(load, seed)
    assert due == arrivals(load, seed)
    assert list(due) == sorted(due)
    assert all(0 <= offset < 0.2 * NS for offset in due)


def test_poisson_arrivals_have_exponential_gaps_of_the_wanted_mean():
    due = arrivals(Load(rate_per_s=1000, requests=20_000), seed=7)
    gaps = [(b - a) / NS for a, b in pairwise(due)]
    assert statistics.mean(gaps) == pytest.approx(0.001, rel=0.05)
    assert statistics.stdev(gaps) == pytest.approx(0.001, rel=0.05)  # an exponential's deviation is its mean


@pytest.mark.parametrize("rate", [0, -1, 1_000_000_001, float("nan"), None])
def test_a_rate_must_be_above_zero_and_have_a_gap_that_can_be_counted(rate):
    with pytest.raises(ValueError, match="above 0, from 1e-06 to 1,000,000,000 a second"):
        arrivals(Load(rate_per_s=rate, requests=1), seed=1)


def test_threads_that_take_at_once_leave_no_number_out_and_get_none_twice():
    phase = Phase(number=MEASURED, begin_ns=0, first_sequence=5, extent=measured(Load(requests=40_000)), most=40_000)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            taken = [t.result() for t in [pool.submit(_all, phase) for _ in range(8)]]
    finally:
        sys.setswitchinterval(before)
    assert sorted(itertools.chain(*taken)) == list(range(5, 40_005))
    assert (phase.taken, phase.next_sequence) == (40_000, 40_005)


def _all(phase: Phase) -> list[int]:
    return list(iter(lambda: phase.take(0), 0))
