"""A fixed number of connections for all requests in flight: who gets which, and when one ends."""

from __future__ import annotations

import itertools

import pytest

from services.python.load.sharing import Shares


def shares(most: int | None) -> Shares[str]:
    names = (f"connection {number}" for number in itertools.count())
    return Shares(lambda: next(names), most)


@pytest.mark.parametrize(("most", "lanes"), [(1, 5), (2, 5), (3, 3)])
def test_no_more_are_opened_than_asked_for_and_lanes_are_spread_over_them(most: int, lanes: int):
    pool = shares(most)
    held = [pool.take() for _ in range(lanes)]
    numbers = [share.number for share in held]
    assert sorted(set(numbers)) == list(range(most))
    assert max(map(numbers.count, set(numbers))) - min(map(numbers.count, set(numbers))) <= 1
    assert {share.of for share in held} == {f"connection {number}" for number in range(most)}


def test_a_shared_one_ends_with_its_last_holder_and_once():
    pool = shares(1)
    one, other = pool.take(), pool.take()
    assert one.end() is None
    assert one.end() is None
    assert other.end() == "connection 0"
    assert other.end() is None
    again = pool.take()
    assert (again.of, again.number) == ("connection 1", 1)


def test_a_lane_that_comes_back_gets_the_least_used_one():
    pool = shares(2)
    first, second, third = pool.take(), pool.take(), pool.take()
    assert (first.number, second.number, third.number) == (0, 1, 0)
    first.end()
    third.end()
    assert pool.take().number == 2  # the first one had ended
