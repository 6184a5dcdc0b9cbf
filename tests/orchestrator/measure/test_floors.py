from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.measure.baselines import Floor, floor_load, floors, is_opened
from services.python.contract.requester_lines import Done
from tests.support.plans import plan

SMALL = Floor(policy="reuse", send_bytes=64, receive_bytes=64, cells=("a",))
LARGE = Floor(policy="reuse", send_bytes=300_000, receive_bytes=26, cells=("a",))


def done(warmup_requests: int) -> Done:
    return Done(rows=0, warmup_requests=warmup_requests, requests=0, errors={})


def cells(*names: str, policy: str = "reuse"):
    one = plan("tcp").cells[0].having(connection=policy)
    return [replace(one, id=name, stack=name) for name in names]


def single(sizes: dict[tuple[str, str], tuple[int, int]]) -> dict[tuple[str, str], tuple[tuple[int, int]]]:
    """Sizes of cells of one operation."""
    return {exchange: (size,) for exchange, size in sizes.items()}


def test_cells_that_fit_one_segment_share_a_floor_of_the_largest_of_them():
    sizes = {("a", "echo"): (64, 1_300), ("b", "echo"): (900, 10)}
    assert floors(cells("a", "b"), single(sizes)) == [
        Floor(policy="reuse", send_bytes=900, receive_bytes=1_300, cells=("a", "b"))
    ]


def test_larger_bodies_have_a_floor_of_exactly_their_size():
    sizes = {
        ("a", "echo"): (64, 64),
        ("b", "echo"): (1_401, 64),
        ("c", "echo"): (64, 1_401),
        ("d", "echo"): (2_000, 64),
    }
    found = floors(cells("a", "b", "c", "d"), single(sizes))
    assert [(f.send_bytes, f.receive_bytes) for f in found] == [(64, 64), (64, 1_401), (1_401, 64), (2_000, 64)]


def test_a_few_bytes_of_encoding_make_no_other_floor():
    sizes = {("a", "echo"): (1_580_000, 26), ("b", "echo"): (1_580_004, 6), ("c", "echo"): (2_106_668, 8)}
    found = floors(cells("a", "b", "c"), single(sizes))
    assert [(f.send_bytes, f.receive_bytes, f.cells) for f in found] == [
        (1_580_004, 26, ("a", "b")),
        (2_106_668, 8, ("c",)),
    ]


def test_each_connection_policy_has_its_own():
    sizes = {("a", "echo"): (64, 64), ("b", "echo"): (64, 64)}
    found = floors([*cells("a"), *cells("b", policy="per-request")], single(sizes))
    assert {f.policy for f in found} == {"reuse", "per-request"}


def test_a_stack_that_failed_the_smoke_test_has_no_floor():
    assert floors(cells("a"), {}) == []


def test_a_look_is_short_and_longer_only_where_the_distance_asks_for_it():
    near, far = floor_load(SMALL, 0.0001)[0], floor_load(SMALL, 0.1)[0]
    assert (near.requests, near.duration_s) == (200, 2.0)
    assert far.duration_s == 4.0


def test_a_large_body_on_a_kept_connection_finds_tcps_window_opened():
    _, warmup = floor_load(LARGE, 0.12)
    assert LARGE.opening == 8
    assert warmup.requests >= 4
    assert warmup.at_most_s > 10  # the larger exchange is not cut off over a slow link
    assert is_opened(LARGE, done(warmup.requests))
    assert not is_opened(LARGE, done(1))
    assert not is_opened(LARGE, done(0))


@pytest.mark.parametrize("floor", [SMALL, replace(LARGE, policy="per-request"), replace(LARGE, send_bytes=14_480)])
def test_where_no_window_is_kept_or_needed_none_is_opened(floor):
    assert floor.opening == 1
    assert not is_opened(floor, done(50))


def test_opening_a_window_takes_no_more_memory_than_a_large_body():
    assert replace(LARGE, send_bytes=100_000_000).opening == 2
