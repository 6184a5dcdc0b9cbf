"""Replies that are kept, within how much memory; and how connections are shared."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from services.python.load.sharing import Shares
from services.python.load.unverified import LEAST_BYTES, MOST_BYTES, Unverified, room_for_replies
from services.python.operations.base import Lasting

MIB = 1 << 20


def machine(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def meminfo(mib: int) -> dict[str, str]:
    return {"proc/meminfo": f"MemTotal:  99999999 kB\nMemAvailable:   {mib * 1024} kB\n"}


@pytest.mark.parametrize(
    ("files", "room"),
    [
        ({}, LEAST_BYTES),
        (meminfo(600), 75 * MIB),
        (meminfo(100), LEAST_BYTES),
        (meminfo(24_000), MOST_BYTES),
        (
            meminfo(24_000)
            | {
                "proc/self/cgroup": "0::/user/one\n",
                "sys/fs/cgroup/user/memory.max": f"{900 * MIB}\n",
                "sys/fs/cgroup/user/memory.current": f"{100 * MIB}\n",
                "sys/fs/cgroup/user/one/memory.max": "max\n",
            },
            100 * MIB,
        ),
        (
            meminfo(24_000)
            | {
                "proc/self/cgroup": "4:memory:/elsewhere\n1:cpu:/\n0::/\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{1000 * MIB}",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{200 * MIB}",
            },
            100 * MIB,
        ),
    ],
)
def test_an_eighth_of_what_is_free_is_taken_within_bounds(tmp_path: Path, files: dict[str, str], room: int):
    assert room_for_replies(machine(tmp_path, files)) == room


def test_requests_that_are_new_each_time_count_for_the_room_that_they_take() -> None:
    def room(requests: Sequence[dict[str, Any]]) -> int:
        kept = Unverified(1_000_000)
        for request in requests:
            if len(kept.waiting) >= kept.most and not kept.has_room():
                break
            kept.waiting.append((1, 0, 0, 0, 0, request, {"sum": 1}))
        return len(kept.waiting)

    shared = {"data": [bytes(1_000) for _ in range(10)]}
    assert room([shared] * 1000) == 1000
    assert room([Lasting(data=bytes(10_000)) for _ in range(1000)]) == 1000
    assert 80 <= room([{"data": [bytes(1_000) for _ in range(10)]} for _ in range(1000)]) <= 100


@pytest.mark.parametrize("where", ["reply", "request"])
def test_what_holds_a_large_buffer_does_not_wait(where: str) -> None:
    """The next one would be written into pages that the kernel has to provide first, in the middle of a call."""
    kept = Unverified(100_000_000)
    for _ in range(2):
        large = {"data": bytes(5_000)}
        request, reply = ({"sum": 1}, large) if where == "reply" else (large, {"sum": 1})
        kept.waiting.append((1, 0, 0, 0, 0, request, reply))
    assert not kept.has_room()
    assert kept.most == 0


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
