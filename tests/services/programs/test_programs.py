"""Responder and requester as programs: the process contract, end to end over `tcp`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from services.python.contract.lines import STATUSES, Load, Payload, Warmup
from services.python.load.record import read_record
from services.python.load.recorder import Tally
from services.python.trial.run import not_sent_reason
from tests.support.ends import PATIENCE_S, make_trial, program, responder, trial_of

pytestmark = pytest.mark.busy


def test_bytes_and_packets_are_those_of_the_measured_phase(tmp_path: Path):
    load, payload = Load(requests=10), Payload(kind="exchange", size=1000, reply_size=3000)
    with responder("tcp") as (_, ready):
        asked = {"operation": "exchange", "payload": payload, "load": load}
        done = make_trial(trial_of("tcp", "socket", ready["port"], tmp_path / "record", **asked))[-1]
    if done["wire"] is None:
        pytest.skip("this system has no TCP_INFO")
    assert done["wire"]["bytes_sent"] == 10 * (1000 + 4 + 5)
    assert done["wire"]["bytes_received"] == 10 * (3000 + 5)
    assert done["min_rtt_us"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("client", ["socket", "uvloop"])
def test_a_requester_that_is_killed_with_several_in_flight_leaves_verified_rows_alone(tmp_path: Path, client: str):
    record = tmp_path / "record"
    load = Load(duration_s=60, concurrency=4)
    with responder("tcp") as (_, ready), program("services.python.programs.request") as requester:
        warmup = Warmup(requests=20, at_least_s=0)
        requester.send(trial_of("tcp", client, ready["port"], record, load=load, warmup=warmup).to_json())
        while requester.read().get("phase") != "measured":
            pass
        requester.process.kill()
        requester.process.wait(PATIENCE_S)
    rows = list(read_record(record))
    assert {STATUSES[row.status] for row in rows} == {"ok"}
    assert sum(row.phase == 0 for row in rows) >= 20  # the warm-up
    assert sum(row.phase == 1 for row in rows) >= 1  # one a second is looked at at once
    assert all(row.sent_ns < row.received_ns and row.bytes_received > 0 for row in rows)


_NOISY = """
import os, sys
from services.python.contract.requester_lines import Failed
from services.python.programs.lines import Lines
lines = Lines()
print("a banner by print")
os.write(1, b"a banner by write\\n")
os.system("echo a banner by a child")
lines.write(Failed(kind="trial", message="no"))
sys.stdout.flush()
"""


def test_what_a_library_prints_does_not_reach_stdout():
    ended = subprocess.run([sys.executable, "-c", _NOISY], capture_output=True, text=True, timeout=PATIENCE_S)
    assert ended.stdout == '{"kind":"trial","message":"no","type":"failed"}\n'
    assert sorted(ended.stderr.splitlines()) == ["a banner by a child", "a banner by print", "a banner by write"]


@pytest.mark.parametrize(
    ("not_sent", "busy_s", "cpu_s", "reason"),
    [
        (0, 4.0, 0.1, None),
        (3, 3.9, 0.1, "connections-busy"),
        (3, 3.9, 0.95, "requester-behind"),  # its own core was full: the connections waited for it
        (3, 2.0, 0.1, "requester-behind"),  # something held it up
    ],
)
def test_why_requests_were_not_sent(not_sent: int, busy_s: float, cpu_s: float, reason: str | None):
    tally = Tally(not_sent=not_sent, busy_ns=int(busy_s * 1e9), first_sent_ns=0, last_received_ns=1_000_000_000)
    assert not_sent_reason(tally, concurrency=4, cpu_s=cpu_s) == reason
