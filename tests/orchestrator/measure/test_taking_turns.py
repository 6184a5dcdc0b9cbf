"""A group of cells takes turns on running ends; one that breaks the contract fails alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import Interrupted
from orchestrator.hosts.base import Pair
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.trial import Bench
from orchestrator.measure.turns import Member, take_turns
from services.python.contract.lines import Load
from tests.orchestrator.measure.test_trial import ASK
from tests.support.hosts import FakeHost, FakeTime, checked_line, done_line

TURNS = replace(ASK, load=Load(duration_s=0.05), turn_warm_up=3)
ORDERS = ((0, 1), (1, 0), (0, 1), (1, 0))


def turn_line(number: int, **changes: Any) -> dict[str, Any]:
    begin_ns = number * 10**9
    window = {"begin_ns": begin_ns, "end_ns": begin_ns + 50_000_000}
    return {"type": "turn", "number": number, "requests": 90, "cpu_s": 0.02, "waited_s": 0.0, **window, **changes}


def beginning() -> Iterator[dict[str, Any]]:
    yield checked_line()
    yield {"type": "start", "anchor": {"wall_ns": 0, "monotonic_ns": 0}}
    yield {"type": "warm", "requests": 10}


def turning(process: Any, **of_the_second: Any) -> Iterator[dict[str, Any]]:
    yield from beginning()
    number = 0
    while process.received[-1] == "turn":
        process.host.diary.append(f"turn of {process.trial['seed']}")
        yield turn_line(number, **(of_the_second if number == 1 else {}))
        number += 1
    assert process.received[-1] == "end"
    yield done_line(90 * number)


@pytest.fixture
def host(tmp_path: Path) -> FakeHost:
    made = FakeHost(folder=tmp_path / "host", time=FakeTime(), diary=[])
    made.requester = lambda number: turning
    return made


def group(host: FakeHost) -> list[Member]:
    bench = Bench(clock=host.time.clock(), interrupts=Interrupts(), on_progress=lambda line: None)
    trials = [bench.prepare(replace(TURNS, seed=seed), Pair((host,), host), f"t{seed}") for seed in (0, 1)]
    return [Member(trial=trial, turns_in_block=4) for trial in trials]


def test_turns_follow_the_orders_and_all_ends_end(host: FakeHost) -> None:
    members = group(host)
    rounds: list[int] = []
    outcomes = take_turns(members, ORDERS, rounds.append)
    assert [outcome.failure for outcome in outcomes] == [None, None]
    turns = [entry for entry in host.diary if entry.startswith("turn")]
    assert turns == [f"turn of {place}" for order in ORDERS for place in order]
    assert [len(member.turns) for member in members] == [4, 4]
    assert [turn.warm_up for turn in members[0].turns] == [3, 3, 3, 3]
    assert [outcome.parts[0].done.requests for outcome in outcomes] == [360, 360]
    assert host.left_behind == []
    assert rounds[-5:] == [0, 1, 2, 3, 4]


def test_a_disturbed_turn_is_measured_again(host: FakeHost) -> None:
    host.requester = lambda number: lambda process: turning(process, waited_s=0.04)
    members = group(host)
    take_turns(members, ORDERS, lambda number: None)
    assert [len(member.turns) for member in members] == [5, 5]


@pytest.mark.parametrize("phase", [0, 0.3, 0.9])
@pytest.mark.parametrize("turns", [1, 3, 4, 7, 10])
def test_few_turns_are_spread_over_all_rounds(host: FakeHost, turns: int, phase: float) -> None:
    member = replace(group(host)[0], turns_in_block=turns)
    due = [number for number in range(10) if member.is_due(number, 10, phase)]
    assert len(due) == turns
    assert {later - sooner for sooner, later in pairwise(due)} <= {10 // turns, -(-10 // turns)}


def unasked(process: Any) -> Iterator[dict[str, Any]]:
    yield from beginning()
    yield turn_line(0)
    yield turn_line(0)


def done_early(process: Any) -> Iterator[dict[str, Any]]:
    yield from beginning()
    yield done_line(10)


def before_warm(process: Any) -> Iterator[dict[str, Any]]:
    yield checked_line()
    yield turn_line(0)


def dies(process: Any) -> Iterator[dict[str, Any]]:
    yield from beginning()
    yield turn_line(0)


@pytest.mark.parametrize(
    ("talk", "stage", "kind"),
    [
        (unasked, "measure", "protocol"),
        (done_early, "measure", "protocol"),
        (before_warm, "warm-up", "protocol"),
        (dies, "measure", "requester-died"),
    ],
)
def test_one_that_breaks_the_contract_fails_alone(host: FakeHost, talk: Any, stage: str, kind: str) -> None:
    host.requester = lambda number: talk if number == 0 else turning
    first, second = take_turns(group(host), ORDERS, lambda number: None)
    assert (first.failure.stage, first.failure.kind) == (stage, kind)
    assert second.failure is None
    assert host.left_behind == []


def test_an_interrupt_leaves_no_process(host: FakeHost) -> None:
    def interrupt(number: int) -> None:
        if number == 2:
            raise Interrupted("SIGINT")

    with pytest.raises(Interrupted):
        take_turns(group(host), ORDERS, interrupt)
    assert host.left_behind == []
