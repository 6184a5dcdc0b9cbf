"""The real harness commits one error at a time against a real responder, and the check for it fires."""

import subprocess
import sys

import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import action, explanation
from tests.support import faults, quota, recorders
from tests.support.faults import Fault, a_real_run
from tests.support.judged import verdicts

pytestmark = [pytest.mark.alone, pytest.mark.busy]

CLEAN = {
    "one after the other": {},
    "four in flight, with a payload": {"concurrency": 4, "operation": "echo"},
    "a new connection per request": {"connection": "per-request"},
    "an open loop": {"rate_per_s": 400.0, "concurrency": 16},
}


@pytest.mark.parametrize("trial", CLEAN.values(), ids=CLEAN.keys())
def test_an_honest_harness_fails_no_check_however_loud_the_machine(trial, tmp_path):
    run = a_real_run(tmp_path, **trial)
    failed = [(r.name, explanation(r), r.evidence) for r in summarise(run).checks if r.verdict == "fail"]
    # An open loop on a machine that has no CPU to spare offers less than it should, and says so.
    assert [f for f in failed if not (f[0] == "offered load" and "rate_per_s" in trial)] == []


FAULTS = {
    "a timer stopped at enqueue": (Fault(dialer=faults.timer_stopped_at_enqueue), "floor", {"operation": "echo"}),
    "a batch sharing one stamp": (Fault(recorder=recorders.OneStampPerBatch), "in flight", {}),
    "more in flight than declared": (Fault(declared={"concurrency": 1}), "in flight", {"concurrency": 4}),
    "a queue position for a latency": (Fault(recorder=recorders.PlaceInLine), "queueing ramp, Little's law", {}),
    "samples dropped": (Fault(recorder=recorders.SlowOnesDropped), "completeness", {}),
    "replies not verified": (Fault(recorder=recorders.Unverified), "reply", {}),
    "a responder on the wrong host": (Fault(check=faults.anyone_will_do), "reply", {"ready_identity": "another"}),
    "a pool under per-request": (
        Fault(dialer=faults.connections_kept_in_a_pool),
        "connections",
        {"connection": "per-request"},
    ),
    "reconnecting under reuse": (Fault(dialer=faults.a_new_connection_for_every_call), "connections", {}),
    "half the declared rate": (
        Fault(declared={"rate_per_s": 800.0}),
        "offered load",
        {"rate_per_s": 400.0, "concurrency": 16},
    ),
    "CPU time for wall time": (Fault(clock=faults.cpu_clock), "clocks", {}),
    "a clock of milliseconds": (Fault(clock=faults.millisecond_clock), "clocks", {}),
    "sizes made up": (Fault(dialer=faults.sizes_made_up), "codec size", {"operation": "echo"}),
}

WEST = p.Placement(id="west", name="west", kind="cross-region", link=p.Link(rtt_ms=6.0, rate_mbit=10.0))
FAULTS |= {
    "CPU time per call": (
        Fault(recorder=recorders.CpuTimePerCall, way={"rtt_ms": 6}),
        "Little's law",
        {"requests": 150},
    ),
    "one round trip where a new connection takes two": (
        Fault(dialer=faults.connections_kept_in_a_pool, way={"rtt_ms": 6}),
        "round-trips",
        {"requests": 150, "connection": "per-request", "placement": WEST},
    ),
    "a clock that stops at 90 %": (Fault(recorder=recorders.clock_that_stops_at(0.9)), "Little's law", {}),
    "a clock that stops at 75 %, eight new connections at once": (
        Fault(recorder=recorders.clock_that_stops_at(0.75)),
        "Little's law",
        {"connection": "per-request", "concurrency": 8, "requests": 400},
    ),
    "a clock that stops at 90 % over a distance": (
        Fault(recorder=recorders.clock_that_stops_at(0.9), way={"rtt_ms": 6}),
        "Little's law",
        {"requests": 150},
    ),
    "a link that is not the one declared": (Fault(), "goodput", {"operation": "echo", "placement": WEST}),
}


@pytest.mark.parametrize(("after", "requests"), [(1, 400), (100, 1_000)])
def test_a_responder_that_closes_kept_connections_fails_connections_and_nothing_that_is_right(
    after, requests, tmp_path
):
    judgement = verdicts(a_real_run(tmp_path, Fault(way={"closes_after": after}), requests=requests))
    assert judgement["connections"] == "fail"
    assert judgement["completeness"] == "pass"
    assert judgement["codec size"] in ("pass", "cannot tell")


@pytest.mark.parametrize("name", FAULTS)
def test_the_checks_fire_on_the_error_that_the_harness_commits(name, tmp_path):
    fault, checks, trial = FAULTS[name]
    found = verdicts(a_real_run(tmp_path, fault, **trial))
    assert {found[check] for check in checks.split(", ")} == {"fail"}


def test_what_an_overloaded_harness_does_not_send_is_counted(tmp_path):
    run = a_real_run(tmp_path, Fault(way={"rtt_ms": 6}), rate_per_s=1_000.0, requests=5_000, duration_s=0.5)
    summary = summarise(run)
    (cell,) = summary.cells
    assert cell.counts.errors == {}
    assert cell.counts.not_sent > 3 * 300
    assert {c.name for c in summary.checks if c.verdict == "fail"} == {"offered load"}


WARNED = {
    "a responder that gets slower": (Fault(way={"rtt_ms": 2, "grows_us": 30}), "steady state", {"requests": 300}),
    "a responder that works as much as it can": (
        Fault(responder="tests.support.costly_responder"),
        "responder's core",
        {"concurrency": 4, "requests": 2_000},
    ),
}


@pytest.mark.parametrize("name", WARNED)
def test_what_makes_numbers_hard_to_read_is_a_warning(name, tmp_path):
    fault, check, trial = WARNED[name]
    assert verdicts(a_real_run(tmp_path, fault, **trial))[check] == "warn"


def test_a_delayed_acknowledgement_is_a_mode_with_its_cause(tmp_path):
    run = a_real_run(tmp_path, Fault(dialer=faults.some_requests_in_two_writes), requests=1_000)
    (modes,) = [result for result in summarise(run).checks if result.name == "latency modes"]
    assert modes.verdict == "warn"
    assert "a delayed acknowledgement" in explanation(modes)
    assert "TCP_NODELAY" in action(modes)


def test_lost_packets_are_counted_and_named_as_the_mode_they_make(tmp_path):
    run = a_real_run(tmp_path, Fault(way={"loses": 0.08}), requests=300)
    summary = summarise(run)
    judgement = {result.name: result for result in summary.checks}
    assert judgement["lost packets"].verdict == "warn"
    assert sum(trial.retransmits for trial in summary.cells[0].trials) > 0
    assert "a retransmission time-out" in explanation(judgement["latency modes"])
    assert "TCP sent" in explanation(judgement["latency modes"])


@pytest.mark.skipif(quota.tree() is None, reason="this process may make no cgroup with a CPU quota")
def test_a_throttled_core_is_noise(tmp_path):
    judgement = summarise(a_real_run(tmp_path, Fault(quota=True), requests=2_000)).checks
    (noise,) = [result for result in judgement if result.name == "noise"]
    assert noise.verdict == "warn"
    assert "On responder" in explanation(noise)
    assert "the CPU quota stopped it" in explanation(noise)


def test_other_processes_at_work_are_noise(tmp_path):
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        assert verdicts(a_real_run(tmp_path, requests=4_000))["noise"] == "warn"
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()
