from __future__ import annotations

from typing import Any

import pytest

from orchestrator.measure.target import Ask, Deadline
from services.python.contract.counters import Clocks
from services.python.contract.lines import Load, Warmup
from services.python.contract.requester_lines import Progress, Start

START = Start(anchor=Clocks(wall_ns=0, monotonic_ns=0))
MEASURED = Progress(phase="measured", requests=1, elapsed_s=1.0)


def deadline(*, calls: int = 1, **load) -> Deadline:
    warmup = Warmup(at_most_s=10.0)
    ask = Ask(
        protocol="tcp",
        responder="threads",
        client="socket",
        operation="echo",
        load=Load(**load),
        warmup=warmup,
        timeout_s=5.0,
        calls=calls,
    )
    return Deadline(ask=ask, ready_s=90.0)


def test_a_task_may_take_the_time_out_of_each_of_its_calls():
    task = deadline(calls=3, duration_s=10.0)
    task.heard(START, 0.0)
    assert task.next_line_s == 3 * 5.0 + 30.0
    assert task.at_most_s == 10.0 + 10.0 + 2 * 3 * 5.0 + 30.0


def test_the_first_line_may_take_as_long_as_the_slowest_start_and_a_request_together():
    assert deadline(requests=10).next_line_s == 95.0


def test_every_further_line_may_take_as_long_as_a_request_that_hangs():
    waiting = deadline(requests=10)
    waiting.heard(START, 0.0)
    assert 5.0 < waiting.next_line_s < 95.0


@pytest.mark.parametrize(
    ("load", "rest_s"),
    [
        ({"requests": 10, "think_s": 60.0}, 60),
        ({"requests": 10, "think_s": 60.0, "thinking": "exponential"}, 32 * 60),
        ({"duration_s": 100.0, "think_s": 60.0, "thinking": "exponential"}, 100),
    ],
)
def test_a_line_may_take_as_long_as_its_workers_rest(load: dict[str, Any], rest_s: float):
    waiting = deadline(**load)
    waiting.heard(START, 0.0)
    assert waiting.next_line_s == 5.0 + rest_s + 30.0


def test_the_stage_follows_the_lines():
    waiting = deadline(requests=10)
    stages = [waiting.stage]
    for line in (START, MEASURED):
        waiting.heard(line, 0.0)
        stages.append(waiting.stage)
    assert stages == ["check", "warm-up", "measure"]


def test_a_load_bounded_in_time_has_an_end_and_one_bounded_in_requests_has_none():
    bounded, unbounded = deadline(duration_s=60.0), deadline(requests=10)
    assert bounded.at_most_s is not None
    for waiting, goes_on in ((bounded, False), (unbounded, True)):
        assert waiting.heard(START, 100.0)
        assert waiting.heard(MEASURED, 100.0 + 60.0)
        assert waiting.heard(MEASURED, 100.0 + bounded.at_most_s + 1.0) is goes_on
