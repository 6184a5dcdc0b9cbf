"""A task is the sample, its calls are its parts: both styles, closed and open loop, whatever goes wrong in it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import STATUSES
from services.python.load.client import CallFailed, Part
from services.python.load.phases import MEASURED, Extent, Phase
from services.python.load.record import KINDS, Record, Row, read_record
from services.python.load.recorder import Recorder
from services.python.load.task import AwaitingTasks, BlockingTasks, make_task
from tests.support.bench import Bench
from tests.support.scripted import AwaitableDialer

pytestmark = pytest.mark.busy

CALLS = 3


def _verify(request: Any, reply: Any) -> str | None:
    return None if reply.get("right") else f"a wrong reply to {request['sequence']}"


class TaskBench(Bench):
    """Its calls are tasks."""

    def __init__(self, style: str, path: Path, *, in_flight: int = 1) -> None:
        super().__init__(style, path, _verify, in_flight=in_flight, kind="task")
        self.time.tick_ns = 1
        self.make = make_task(super().make, CALLS)  # type: ignore[method-assign]

    def blocking(self) -> Any:
        return BlockingTasks(self.dialer, _verify, self.time.clock().monotonic_ns)

    def awaiting(self) -> Any:
        return AwaitingTasks(AwaitableDialer(self.dialer), _verify, self.time.clock().monotonic_ns)


@pytest.fixture(params=["blocking", "awaiting"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def bench(style: str, tmp_path: Path) -> Iterator[Bench]:
    made = TaskBench(style, tmp_path / "record")
    yield made
    made.close()


def _shape(rows: list[Row]) -> list[tuple[str, int, int, str]]:
    return [(KINDS[row.kind], row.sequence, row.parent, STATUSES[row.status]) for row in rows]


def test_the_task_is_the_sample_and_its_calls_directly_follow_it(bench: Bench):
    bench.run(2)
    rows = bench.rows()
    assert _shape(rows) == [
        ("task", 1, 0, "ok"),
        *(("part", place, 1, "ok") for place in (1, 2, 3)),
        ("task", 2, 0, "ok"),
        *(("part", place, 2, "ok") for place in (1, 2, 3)),
    ]
    assert [(row.bytes_sent, row.bytes_received) for row in rows[:2]] == [(30, 60), (10, 20)]
    assert {(row.phase, row.connection) for row in rows} == {(MEASURED, 0)}
    assert bench.dialer.dials == 1
    for task, *parts in (rows[:4], rows[4:]):
        stamps = [task.sent_ns, *(stamp for p in parts for stamp in (p.sent_ns, p.received_ns)), task.received_ns]
        assert stamps == sorted(stamps)
        assert sum(p.received_ns - p.sent_ns for p in parts) <= task.received_ns - task.sent_ns
        assert all(p.intended_ns == p.sent_ns for p in parts)


@pytest.mark.parametrize("status", ["protocol", "timeout"])
def test_a_task_that_fails_keeps_the_parts_it_had_and_makes_no_further_call(bench: Bench, status: str):
    bench.dialer.script = {2: CallFailed(status, "no more")}
    bench.run(1)
    assert _shape(bench.rows()) == [("task", 1, 0, status), ("part", 1, 1, "ok"), ("part", 2, 1, status)]
    assert bench.dialer.calls == 2
    assert bench.recorder.tally.error_examples == {status: "call 2 of 3: no more"}


def test_every_reply_of_a_task_is_verified(bench: Bench):
    bench.dialer.script = {2: {"right": False}, 3: {"right": False}}
    bench.run(1)
    wrong = "wrong-reply"
    assert _shape(bench.rows()) == [
        ("task", 1, 0, wrong),
        ("part", 1, 1, "ok"),
        ("part", 2, 1, wrong),
        ("part", 3, 1, wrong),
    ]
    assert bench.recorder.tally.error_examples == {wrong: "call 2 of 3: a wrong reply to 2"}


def test_in_an_open_loop_a_task_is_due_and_not_its_calls(bench: Bench):
    bench.dialer.service_ns = 600_000
    loops = bench.loops()
    loops.open()
    due = array("q", [0, 1_000_000, 2_000_000])
    phase = bench.open_phase(due)
    loops.open_loop(phase, due, phase.begin_ns + 1_500_000)
    bench.recorder.settle()
    rows = bench.rows()
    tasks = [row for row in rows if KINDS[row.kind] == "task"]
    assert [row.intended_ns - phase.begin_ns for row in tasks] == list(due)
    assert [STATUSES[row.status] for row in tasks] == ["ok", "not-sent", "not-sent"]
    assert tasks[1:] == rows[-2:], "what was never sent has no parts"
    assert bench.recorder.tally.not_sent == 2


def test_rows_stand_together_when_several_tasks_are_in_flight(style: str, tmp_path: Path):
    bench = TaskBench(style, tmp_path / "record", in_flight=4)
    bench.dialer.script = {number: CallFailed("protocol", "no") for number in range(2, 200, 7)}
    bench.run(50)
    rows = bench.rows()
    bench.event_loop.close()
    parent = place = 0
    for row in rows:
        if KINDS[row.kind] == "task":
            parent, place = row.sequence, 0
        else:
            place += 1
            assert (row.parent, row.sequence) == (parent, place)
    assert sorted(row.sequence for row in rows if KINDS[row.kind] == "task") == list(range(1, 51))


def test_the_books_take_the_parts_of_any_client_that_tells_them(tmp_path: Path):
    """What a codec's client does: no task, and its value is verified like any other."""

    class InTwoSteps:
        def value(self, reply: Any) -> Any:
            return reply

        def sizes(self, request: Any, reply: Any) -> tuple[int, int]:
            return 7, -1

        def parts(self, request: Any, reply: Any) -> list[Part]:
            return [Part(sent_ns=at, received_ns=at + 1, bytes_sent=7, bytes_received=-1) for at in (10, 12)]

    with Record(tmp_path / "record", 10) as record:
        recorder = Recorder(record, _verify, timeout_s=30, progress=lambda line: None, kind="codec")
        recorder.begin(Phase(number=MEASURED, begin_ns=1, first_sequence=1, extent=Extent(), most=None))
        for sequence, right in ((1, True), (2, False)):
            recorder.replied(sequence, 0, 9, 9, 14, InTwoSteps(), {"sequence": sequence}, {"right": right})
    rows = list(read_record(tmp_path / "record"))
    assert [shape[0] for shape in _shape(rows)] == ["codec", "part", "part"] * 2
    assert [shape[3] for shape in _shape(rows)] == ["ok", "ok", "ok", "wrong-reply", "ok", "ok"]
