from __future__ import annotations

from dataclasses import replace

from orchestrator.measure.floors import Floor, floors, load
from tests.support.plans import plan


def cells(*names: str, policy: str = "reuse"):
    one = plan("tcp").cells[0]
    return [replace(one, id=name, stack=name, connection=policy) for name in names]


def test_cells_that_fit_one_segment_share_a_floor_of_the_largest_of_them():
    sizes = {("a", "echo"): (64, 1_300), ("b", "echo"): (900, 10)}
    assert floors(cells("a", "b"), sizes) == [
        Floor(policy="reuse", send_bytes=900, receive_bytes=1_300, cells=("a", "b"))
    ]


def test_larger_bodies_have_a_floor_of_exactly_their_size():
    sizes = {
        ("a", "echo"): (64, 64),
        ("b", "echo"): (1_401, 64),
        ("c", "echo"): (64, 1_401),
        ("d", "echo"): (2_000, 64),
    }
    found = floors(cells("a", "b", "c", "d"), sizes)
    assert [(f.send_bytes, f.receive_bytes) for f in found] == [(64, 64), (64, 1_401), (1_401, 64), (2_000, 64)]


def test_a_few_bytes_of_encoding_make_no_other_floor():
    sizes = {("a", "echo"): (1_580_000, 26), ("b", "echo"): (1_580_004, 6), ("c", "echo"): (2_106_668, 8)}
    found = floors(cells("a", "b", "c"), sizes)
    assert [(f.send_bytes, f.receive_bytes, f.cells) for f in found] == [
        (1_580_004, 26, ("a", "b")),
        (2_106_668, 8, ("c",)),
    ]


def test_each_connection_policy_has_its_own():
    sizes = {("a", "echo"): (64, 64), ("b", "echo"): (64, 64)}
    found = floors([*cells("a"), *cells("b", policy="per-request")], sizes)
    assert {f.policy for f in found} == {"reuse", "per-request"}


def test_a_stack_that_failed_the_smoke_test_has_no_floor():
    assert floors(cells("a"), {}) == []


def test_a_look_is_short_and_longer_only_where_the_distance_asks_for_it():
    near, far = load(0.0001)[0], load(0.1)[0]
    assert (near.requests, near.duration_s) == (200, 2.0)
    assert far.duration_s == 4.0
