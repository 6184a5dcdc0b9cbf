"""Turns of `protos/process.md`: a requester measures when its turn comes, and does nothing meanwhile."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import TRIAL_LINES, Asking, validated
from tests.conformance.reference.record import rows_of

pytestmark = pytest.mark.busy

ROUNDS, WARM_UP = 3, 2
IN_TURNS: dict[str, Any] = {"hold": True, "turn_warm_up": WARM_UP}


def trial_of(asking: Asking, port: int, **changes: Any) -> dict[str, Any]:
    load = {"duration_s": 0.05, **changes.pop("load", {})}
    return asking.line(port, **{**IN_TURNS, "load": load, **changes})


@pytest.mark.parametrize(
    ("in_flight", "connection", "requests"),
    [(1, "reuse", None), (3, "reuse", None), (1, "per-request", None), (1, "reuse", 5), (3, "reuse", 7)],
)
def test_each_turn_has_a_warm_up_and_a_window_and_nothing_is_sent_between(
    asking: Asking, in_flight: int, connection: str, requests: int | None
):
    with asking.server() as server, asking.ends.start("request") as program:
        load: dict[str, Any] = {"concurrency": in_flight}
        if requests is not None:
            load |= {"requests": requests, "duration_s": None}
        program.send(trial_of(asking, server.port, load=load, connection=connection))
        assert [program.line(kind)["type"] for kind in ("checked", "start", "warm")] == ["checked", "start", "warm"]
        turns, came = [], []
        for _ in range(ROUNDS):
            came.append(len(server.operations))
            time.sleep(0.05)
            came.append(len(server.operations))
            program.send("turn")
            turns.append(program.line("turn"))
        program.send("end")
        done = [validated(line, *TRIAL_LINES) for line in program.rest()][-1]
        assert program.status() == 0, program.said
    assert came[::2] == came[1::2]  # nothing came while it was not its turn
    assert [turn["number"] for turn in turns] == [0, 1, 2]
    rows = rows_of(asking.record)
    assert sorted(row.sequence for row in rows) == list(range(1, done["rows"] + 1))
    measured = [row for row in rows if row.phase == 1]
    for turn in turns:
        begin, end = turn["begin_ns"], turn["end_ns"]
        if requests is None:
            assert end - begin >= 50_000_000
        else:
            assert turn["requests"] == requests
        within = [row for row in measured if begin <= row.sent_ns <= end]
        assert len(within) == turn["requests"]
        last_ns = max(row.received_ns for row in within)
        assert last_ns <= end if requests is None else last_ns == end
        assert all(row.received_ns <= begin or row.sent_ns > end for row in rows if row.phase == 0)
    assert sum(turn["requests"] for turn in turns) == len(measured) == done["requests"] == done["verified"] > 0
    assert done["warmup_requests"] == 3 + ROUNDS * WARM_UP * in_flight
    assert done["measured_s"] <= sum(turn["end_ns"] - turn["begin_ns"] for turn in turns) / 1e9
    assert done["begin_ns"] == turns[0]["begin_ns"]


def test_it_may_end_without_a_turn(asking: Asking):
    with asking.server() as server, asking.ends.start("request") as program:
        program.send(trial_of(asking, server.port))
        for kind in ("checked", "start", "warm"):
            program.line(kind)
        program.send("end")
        done = program.line("done")
    assert (done["requests"], done["warmup_requests"], done["errors"]) == (0, 3, {})


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="CPU time of another process is read from /proc")
def test_who_waits_for_a_turn_uses_no_cpu(asking: Asking):
    with asking.server() as server, asking.ends.start("request") as program:
        program.send(trial_of(asking, server.port))
        for kind in ("checked", "start", "warm"):
            program.line(kind)
        # A runtime may still compile or collect garbage; whoever polls does so in every second.
        assert any(_cpu_share(program.process.pid) <= 0.05 for _ in range(3))


def _cpu_share(process: int) -> float:
    before, begun_ns = _cpu_ticks(process), time.monotonic_ns()
    time.sleep(1)
    used_s = (_cpu_ticks(process) - before) / os.sysconf("SC_CLK_TCK")
    return used_s * 1e9 / (time.monotonic_ns() - begun_ns)


def _cpu_ticks(process: int) -> int:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.parametrize(
    "changes",
    [{"hold": False}, {"load": {"duration_s": None}}, {"load": {"rate_per_s": 100.0}}, {"load": {"think_s": 0.01}}],
    ids=["not-held", "without-an-end", "rate", "think-time"],
)
def test_what_has_no_turns_is_refused(asking: Asking, changes: dict[str, Any]):
    with asking.server() as server:
        trial = asking.ends.request(trial_of(asking, server.port, **changes))
    assert trial.failed["kind"] == "trial"
    assert not server.operations
