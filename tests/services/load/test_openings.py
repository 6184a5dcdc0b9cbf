"""The books of how long connections took to open."""

from __future__ import annotations

import time

import pytest

from services.python.contract.lines import Load, Trial
from services.python.contract.requester_lines import Opening
from services.python.load.openings import Openings, openings_of


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
