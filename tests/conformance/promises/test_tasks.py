"""Tasks: several calls, one after the other on one connection, are timed as one, and each of them is a part of it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.conformance.kit import Asking, right
from tests.conformance.reference.contract import STATUS, STATUSES
from tests.conformance.reference.generator import arrivals
from tests.conformance.reference.generator import pair as pair_of
from tests.conformance.reference.record import Row
from tests.conformance.reference.server import Action, Asked, Close, Error, Reply, Script, Silence

pytestmark = pytest.mark.busy

Tasks = list[tuple[Row, list[Row]]]

TASK, PART = 1, 2
CALLS = 3
BEFORE = 1 + 3 * CALLS  # requests: the check, and the warm-up


def make(asking: Asking, script: Script = right, **changes: Any):
    """A trial of tasks, and the server that remembers."""
    return asking.made(script, **{"calls": CALLS, **changes})


def tasks_of(rows: list[Row]) -> Tasks:
    """Each task with the rows of parts that stand behind it, in the order of the file."""
    found: Tasks = []
    for row in rows:
        assert row.kind in (TASK, PART)
        if row.kind == TASK:
            found.append((row, []))
        else:
            assert found, "a part stands before every task"
            found[-1][1].append(row)
    return found


def measured(rows: list[Row]) -> Tasks:
    return sorted((entry for entry in tasks_of(rows) if entry[0].phase == 1), key=lambda entry: entry[0].sequence)


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("connection", ["reuse", "per-request"])
def test_a_task_is_a_row_and_its_calls_directly_follow_it(asking: Asking, connection: str, concurrency: int):
    load = {"requests": 20, "concurrency": concurrency}
    trial, server = make(asking, connection=connection, load=load)
    done = trial.done
    assert (done["rows"], done["warmup_requests"], done["requests"], done["verified"]) == (23 * 4, 3, 20, 20)
    assert len(server.operations) == 1 + 23 * CALLS
    found = tasks_of(trial.rows)
    assert sorted(task.sequence for task, _ in found) == list(range(1, 24))
    for task, parts in found:
        assert (task.parent, task.status) == (0, 0)
        assert [(part.sequence, part.parent, part.status) for part in parts] == [
            (n, task.sequence, 0) for n in (1, 2, 3)
        ]
        assert {(part.phase, part.connection) for part in parts} == {(task.phase, task.connection)}
        assert all(part.intended_ns == part.sent_ns for part in parts)
        stamps = [task.sent_ns, *(at for part in parts for at in (part.sent_ns, part.received_ns)), task.received_ns]
        assert stamps == sorted(stamps)
        assert sum(part.received_ns - part.sent_ns for part in parts) <= task.received_ns - task.sent_ns
        for size in ("bytes_sent", "bytes_received"):
            assert getattr(task, size) == sum(getattr(part, size) for part in parts) > 0


def test_counts_and_sizes_are_those_of_tasks(asking: Asking):
    trial, server = make(asking)
    done, found = trial.done, measured(trial.rows)
    assert done["body_bytes_sent"] == sum(task.bytes_sent for task, _ in found)
    assert done["body_bytes_received"] == sum(task.bytes_received for task, _ in found)
    assert trial.lines[0]["body_bytes_sent"] == len(server.operations[0].body), "the check makes one call"
    span_s = (found[-1][0].received_ns - found[0][0].sent_ns) / 1e9
    assert done["measured_s"] == pytest.approx(span_s, rel=1e-6)


def test_each_call_of_a_task_has_a_request_of_its_own(asking: Asking):
    trial, server = make(asking)
    assert trial.done["requests"] == 10
    assert [asked.fields for asked in server.operations[1:]] == [pair_of(7, n) for n in range(1, 13 * CALLS + 1)]


def test_calls_of_a_task_are_one_after_the_other(asking: Asking):
    trial, server = make(asking, lambda number, asked: Reply({}, after_s=0.005))
    assert {asked.in_flight for asked in server.operations} == {1}
    parts = [part for _, parts in measured(trial.rows) for part in parts]
    assert all(one.received_ns <= next_.sent_ns for one, next_ in itertools.pairwise(parts))
    came = [asked.came_ns for asked in server.operations[BEFORE:]]
    assert all(part.sent_ns < at < part.received_ns for part, at in zip(parts, came, strict=True))


def test_per_request_means_one_connection_for_a_whole_task(asking: Asking):
    trial, server = make(asking, connection="per-request")
    carried = [asked.connection for asked in server.operations[1:]]
    assert carried == [2 + task for task in range(13) for _ in range(CALLS)]
    assert trial.done["connections_opened"] == 10
    assert sorted(task.connection for task, _ in tasks_of(trial.rows)) == list(range(13))


@pytest.mark.parametrize(("action", "status"), [(Error(), "protocol"), (Close(), "closed")])
def test_a_task_ends_with_the_call_that_fails_and_keeps_the_parts_it_had(asking: Asking, action: Action, status: str):
    """The second call of the second measured task."""
    wanted = BEFORE + CALLS + 2
    trial, server = make(asking, lambda number, asked: action if number == wanted else None)
    done = trial.done
    assert (done["errors"], done["requests"], done["verified"]) == ({status: 1}, 10, 9)
    assert len(server.operations) == 1 + 13 * CALLS - 1, "its third call is not made"
    (task, parts) = measured(trial.rows)[1]
    assert (task.sequence, STATUSES[task.status]) == (5, status)
    assert [(part.sequence, STATUSES[part.status]) for part in parts] == [(1, "ok"), (2, status)]
    assert all(task.status == 0 and len(parts) == CALLS for task, parts in measured(trial.rows) if task.sequence != 5)


def test_every_reply_of_a_task_is_verified(asking: Asking):
    wanted = {BEFORE + 2, BEFORE + CALLS + 3}
    trial, _ = make(asking, lambda number, asked: Reply({"sum": 0}) if number in wanted else None)
    assert (trial.done["errors"], trial.done["verified"]) == ({"wrong-reply": 2}, 8)
    first, second, *rest = measured(trial.rows)
    wrong = STATUS["wrong-reply"]
    assert [first[0].status, *(part.status for part in first[1])] == [wrong, 0, wrong, 0]
    assert [second[0].status, *(part.status for part in second[1])] == [wrong, 0, 0, wrong]
    assert all(row.status == 0 for task, parts in rest for row in (task, *parts))


@pytest.mark.slow
def test_the_time_out_is_that_of_each_call(asking: Asking):
    """Two calls that take most of it pass, though together they take longer; one that never ends does not."""
    timeout_s, slow = 1.5, {BEFORE + 1, BEFORE + 2}

    def script(number: int, asked: Asked) -> Action | None:
        if number in slow:
            return Reply({}, after_s=0.6 * timeout_s)
        return Silence() if number == BEFORE + CALLS + 2 else None

    trial, _ = make(asking, script, timeout_s=timeout_s)
    assert trial.done["errors"] == {"timeout": 1}
    first, second, *_ = measured(trial.rows)
    assert first[0].status == 0
    assert [STATUSES[part.status] for part in second[1]] == ["ok", "timeout"]
    waited_s = (second[1][1].received_ns - second[1][1].sent_ns) / 1e9
    assert waited_s > 0.9 * timeout_s, "it gave up too early"


def test_in_an_open_loop_a_task_is_due_and_not_its_calls(asking: Asking):
    load = {"requests": 30, "rate_per_s": 111.1, "concurrency": 4, "arrivals": "uniform"}
    trial, _ = make(asking, load=load)
    done, found = trial.done, measured(trial.rows)
    assert [task.intended_ns - done["begin_ns"] for task, _ in found] == arrivals(7, 111.1, "uniform", 30)
    assert all(task.sent_ns >= task.intended_ns for task, _ in found)
    assert all(len(parts) == CALLS for _, parts in found)


@pytest.mark.slow
def test_a_task_that_was_not_sent_has_no_parts(asking: Asking):
    load = {"duration_s": 0.5, "rate_per_s": 100.0, "concurrency": 1, "arrivals": "uniform"}
    trial, _ = make(asking, lambda number, asked: Reply({}, after_s=0.04), load=load)
    unsent = [(task, parts) for task, parts in measured(trial.rows) if task.status == STATUS["not-sent"]]
    assert len(unsent) == trial.done["not_sent"] > 0
    assert all(parts == [] and task.connection == -1 for task, parts in unsent)
