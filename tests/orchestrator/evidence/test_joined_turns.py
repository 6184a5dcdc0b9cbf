"""Turns are read as if they had followed one another; disturbed ones count as warm-up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.evidence.joined_turns import counted, joined, turn_medians
from orchestrator.evidence.run_evidence import Samples
from orchestrator.results.manifest import RequesterRecord, TrialRecord
from orchestrator.results.turn_times import TurnTime
from services.python.contract.requester_lines import Done

MS = 1_000_000
EACH = 10  # requests of a turn, one after the other, 4 ms each with 1 ms between


def record(*waited_s: float) -> TrialRecord:
    """A trial with a turn of 50 ms each second, of which each waited so long for a CPU."""
    turns = tuple(
        TurnTime(
            requests=EACH,
            warm_up=2,
            begin_ns=(place + 1) * 1000 * MS,
            end_ns=((place + 1) * 1000 + 50) * MS,
            cpu_s=0.02,
            waited_s=waited,
            stolen_s=0.0,
        )
        for place, waited in enumerate(waited_s)
    )
    return TrialRecord(
        index=0,
        block=0,
        cell="c",
        attempt=0,
        outcome="ok",
        started_wall_ns=0,
        ended_wall_ns=0,
        overhead_s=0.0,
        turns=turns,
    )


def columns(turns: int) -> dict[str, np.ndarray]:
    """Five requests of the warm-up, then two before each turn, and ten within it."""
    sent = [place * 5 * MS for place in range(5)]
    phase = [0] * 5
    for turn in range(1, turns + 1):
        begin = turn * 1000 * MS
        sent += [begin - 10 * MS, begin - 5 * MS, *(begin + place * 5 * MS for place in range(EACH))]
        phase += [0, 0] + [1] * EACH
    count = len(sent)
    sent_ns = np.array(sent, dtype=np.int64)
    return {
        "sequence": np.arange(1, count + 1),
        "phase": np.array(phase),
        "connection": np.zeros(count, dtype=np.int64),
        "intended_ns": sent_ns,
        "sent_ns": sent_ns,
        "received_ns": sent_ns + 4 * MS,
        "bytes_sent": np.ones(count, dtype=np.int64),
        "bytes_received": np.ones(count, dtype=np.int64),
        "status": np.zeros(count, dtype=np.int64),
        "kind": np.zeros(count, dtype=np.int64),
    }


def samples(joint: dict[str, np.ndarray]) -> Samples:
    return Samples(joint)


def test_the_window_is_as_long_as_the_turns_together() -> None:
    joint = samples(joined(columns(3), record(0.0, 0.0, 0.0)))
    assert joint.measured == 3 * EACH
    assert joint.span_ns == 3 * 49 * MS  # of each turn from the first request to the last reply
    assert set(joint.latency_ns) == {4 * MS}
    assert joint.out_of_place == 0
    assert joint.most_in_flight == 1


def test_the_warm_up_of_each_turn_comes_before_all_turns() -> None:
    before = columns(2)
    joint = joined(before, record(0.0, 0.0))
    warm = joint["phase"] == 0
    assert joint["received_ns"][warm].max() <= joint["sent_ns"][~warm].min()
    assert np.array_equal(joint["sequence"], before["sequence"])


def test_a_request_of_the_warm_up_within_a_turn_is_out_of_place() -> None:
    before = columns(2)
    before["phase"][-1] = 0
    assert samples(joined(before, record(0.0, 0.0))).out_of_place == 1


def test_a_disturbed_turn_counts_as_warm_up() -> None:
    made, before = record(0.0, 0.04, 0.0), columns(3)
    joint = joined(before, made)
    assert samples(joint).measured == 2 * EACH
    assert samples(joint).span_ns == 2 * 49 * MS
    assert samples(joint).out_of_place == 0
    done = Done(
        rows=41, warmup_requests=11, requests=30, errors={}, verified=30, measured_s=0.147, cpu_s=0.06, paused_s=0.027
    )
    part = counted(RequesterRecord(host="h", done=done, samples="s"), made, before, joint)
    assert (part.done.requests, part.done.warmup_requests, part.done.verified) == (20, 21, 20)
    assert part.done.cpu_s == 0.04
    assert part.done.paused_s == pytest.approx(2 * 9 * MS / 1e9)


def test_a_requester_is_held_up_in_its_pauses_as_long_as_they_are() -> None:
    made, before = record(0.0, 0.04, 0.0), columns(3)
    second = slice(5 + 2 + EACH + 2, 5 + 2 * (2 + EACH))
    before["received_ns"][second] -= (
        MS  # pauses of 2 ms, of which the requester worked for no larger share than elsewhere
    )
    paused_s = 0.7 * (9 + 18 + 9) * MS / 1e9
    done = Done(rows=41, warmup_requests=11, requests=30, errors={}, measured_s=0.147, cpu_s=0.06, paused_s=paused_s)
    part = counted(RequesterRecord(host="h", done=done, samples="s"), made, before, joined(before, made))
    assert part.done.paused_s == pytest.approx(0.7 * 18 * MS / 1e9)


def test_errors_of_a_disturbed_turn_are_left_out() -> None:
    made, before = record(0.0, 0.04, 0.0), columns(3)
    before["status"][22] = 4  # in the second turn: a time-out
    joint = joined(before, made)
    done = Done(rows=41, warmup_requests=11, requests=30, errors={"timeout": 1}, verified=29)
    part = counted(RequesterRecord(host="h", done=done, samples="s"), made, before, joint)
    assert (part.done.errors, part.done.verified) == ({}, 20)


def test_without_a_disturbed_turn_the_done_line_stays() -> None:
    made, before = record(0.0, 0.0), columns(2)
    part = RequesterRecord(host="h", done=Done(rows=29, warmup_requests=9, requests=20, errors={}), samples="s")
    assert counted(part, made, before, joined(before, made)) == replace(part)


def test_each_turn_that_counts_has_a_median_of_its_own() -> None:
    trial = record(0.0, 0.0, 0.04)
    samples = Samples(joined(columns(3), trial))
    assert turn_medians(samples, trial) == ((1000 * MS, 4.0), (2000 * MS, 4.0))
