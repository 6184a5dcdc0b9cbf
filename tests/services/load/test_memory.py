"""Replies that are kept, within how much memory; how connections are shared, and how long they took to open."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Trial
from services.python.contract.requester_lines import Opening
from services.python.load.memory import LEAST_BYTES, MOST_BYTES, room_for_replies
from services.python.load.openings import Openings, openings_of
from services.python.load.sharing import Shares
from services.python.load.unverified import Unverified
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


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the clock will say, one after the other."""
    stamps: list[int] = []
    monkeypatch.setattr(time, "monotonic_ns", lambda: stamps.pop(0))
    return stamps


def test_the_handshake_of_tls_is_no_part_of_connecting(clock: list[int]) -> None:
    clock += [1_000, 6_000]
    books = Openings()
    begun = books.begin()
    books.secured(3_000)
    books.opened(begun)
    assert books.told() == Opening(connections=1, connect_s=2e-6, tls_s=3e-6)


def test_medians_are_told_and_what_nobody_told_is_null() -> None:
    books = Openings()
    assert books.told() is None
    for took_ns in (10_000_000, 2_000_000, 4_000_000):
        books.connected(took_ns)
    assert books.told() == Opening(connections=3, connect_s=0.004, tls_s=None)
    books.connected(8_000_000)
    assert books.told() == Opening(connections=4, connect_s=0.006, tls_s=None)


@pytest.mark.parametrize(
    ("connection", "concurrency", "is_kept"),
    [("per-request", 1, True), ("per-request", 2, False), ("reuse", 1, True), ("reuse", 2, True)],
)
def test_nothing_is_noted_where_several_open_at_once(connection: str, concurrency: int, is_kept: bool) -> None:
    trial = Trial(
        protocol="tcp",
        client="socket",
        operation="add",
        record="",
        connection=connection,  # type: ignore[arg-type]
        load=Load(concurrency=concurrency, requests=1),
    )
    books = openings_of(trial)
    books.connected(1)
    books.secured(1)
    books.opened(books.begin())
    assert (books.told() is not None) is is_kept


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
