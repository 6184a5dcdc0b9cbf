"""Errors that are made up in the data of a run, one by one, with the check that finds each; `spoil` of `runs.a_run`."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.checks import injections as to
from benchmarks.checks import of_one_host
from orchestrator.experiment.plan import plan as p
from tests.support.runs import MS, US, S, host_counters

LINK = p.Link(rtt_ms=30.0, rate_mbit=1_000.0)
WEST = p.Placement(id="west", name="west", kind="cross-region", from_zone="a", to_zone="b", link=LINK)
HERE = p.Placement(id="local", name="local", kind="local")
BYTES = p.Operation(
    id="echo", name="echo", label="echo 100 kB", payload={"kind": "bytes"}, request_bytes=100_000, reply_bytes=100_000
)


def graded(inject, size):
    """One of the graded errors of benchmarks/checks, in one size."""

    def spoil(draft):
        inject(draft, size, np.random.default_rng(draft.block))

    spoil.__name__ = f"{inject.__name__}_{size:g}"
    return spoil


timer_stopped_early = graded(to.stop_early, 0.99)
two_requests_at_once = graded(to.send_before_the_reply, 0.5)
cpu_time_for_wall_time = graded(to.stop_early, 0.8)
slow_samples_dropped = graded(to.drop_the_slowest, 10)
unverified = graded(to.leave_unverified, 100)
connections_kept = graded(to.keep_connections, 1.0)
one_after_the_other = graded(of_one_host.begin_later, 1.1)
a_fifth_later = graded(of_one_host.begin_later, 0.2)
one_stack_decodes_late = graded(to.decode_late, 0.15)
one_stack_decodes_later_than_it_waits = graded(to.decode_late, 0.4)
cold_start = graded(to.begin_cold, 0.5)
a_payload_that_stayed_at_home = graded(to.carry_less, 0.5)
foreign_work = graded(to.work_beside, 0.9)


def below_the_ping_but_not_the_socket(draft):
    draft.done["min_rtt_us"] = None
    timer_stopped_early(draft)


def everything_sent_at_once(draft):
    rows = draft.columns
    rows["sent_ns"] = rows["sent_ns"].min() + np.arange(rows["sent_ns"].size) * 1_000
    rows["intended_ns"] = rows["sent_ns"]


def place_in_line_as_latency(draft):
    """Each reply's time since the batch was begun, while requests went out one after the other."""
    rows = draft.columns
    measured = np.flatnonzero(rows["phase"] == 1)
    rows["received_ns"][measured] += np.arange(measured.size) * 500 * US


def more_answered_than_recorded(draft):
    draft.stats["answered"] += 50


def another_responder(draft):
    draft.done["identity"] = "somebody else"


def wrong_replies(draft):
    draft.columns["status"][-5:] = 1


def connections_not_kept(draft):
    draft.columns["connection"] = np.arange(draft.columns["connection"].size)
    draft.done["connections_opened"] = draft.done["requests"]
    draft.stats["peers"] = draft.done["requests"] + 2


def half_the_load(draft):
    draft.columns["sent_ns"] = draft.columns["intended_ns"] + (
        draft.columns["intended_ns"] - draft.columns["intended_ns"].min()
    )
    draft.columns["received_ns"] = draft.columns["sent_ns"] + 300 * US
    draft.done["anchor_end"]["monotonic_ns"] += 600 * S


def another_rate(draft):
    start = draft.columns["intended_ns"].min()
    for name in ("intended_ns", "sent_ns", "received_ns"):
        draft.columns[name] = start + (draft.columns[name] - start) * 2
    draft.done["anchor_end"]["monotonic_ns"] += 600 * S


def requester_saturated(draft):
    draft.done["cpu_share"] = 0.97


def without_anchors(draft):
    del draft.done["anchor"]


def without_stamps_of_another(draft):
    draft.heard = None


def in_one_process(spoil):
    """The same error in the second requester process of each host alone."""

    def of_the_second(draft):
        if draft.process == 1:
            spoil(draft)

    of_the_second.__name__ = f"{spoil.__name__}_in_one_process"
    return of_the_second


def twice_its_share(draft):
    """Every other pair of its requests goes out before the replies to the pair before have come."""
    rows = draft.columns
    early = (rows["sequence"] % 4 >= 2) * ((rows["received_ns"] - rows["sent_ns"]) * 9 // 10)
    for name in ("sent_ns", "intended_ns", "received_ns"):
        rows[name] = rows[name] - early


def half_a_window_later(draft):
    """By the clock that both processes have."""
    measured = draft.columns["phase"] == 1
    begun, ended = draft.columns["sent_ns"][measured].min(), draft.columns["received_ns"].max()
    for name in ("sent_ns", "intended_ns", "received_ns"):
        draft.columns[name] = draft.columns[name] + int(0.6 * (ended - begun))
    draft.done["begin_ns"] += int(0.6 * (ended - begun))
    draft.done["anchor_end"]["monotonic_ns"] += ended - begun
    draft.done["anchor_end"]["wall_ns"] += ended - begun


def all_decode_late(draft):
    """There is no stack to hold them against, but a quarter of the time is in no latency."""
    late = (draft.columns["received_ns"] - draft.columns["sent_ns"]) // 4
    draft.columns["received_ns"] = draft.columns["received_ns"] - late
    draft.done["paused_s"] += float(late[draft.columns["phase"] == 1].sum()) / 1e9


def steal(draft):
    draft.done["host_after"] = host_counters(10 * S, steal=100)


def throttling(draft):
    draft.done["host_after"] = host_counters(10 * S, throttled=30)


def pressure(draft):
    """On a host that does not count who used its CPUs."""
    draft.done["host_after"] = host_counters(10 * S, pressure_us=4_000_000)
    draft.done["host_after"]["cpu_ticks"] = None


def a_clock_of_milliseconds(draft):
    for name in ("sent_ns", "intended_ns", "received_ns"):
        draft.columns[name] = draft.columns[name] // MS * MS


def a_clock_that_runs_backwards(draft):
    draft.columns["received_ns"][5] = draft.columns["sent_ns"][5] - 10
    draft.columns["received_ns"][-5] = draft.columns["sent_ns"][-5] - 10


def stamps_of_another_clock(draft):
    for name in ("sent_ns", "intended_ns", "received_ns"):
        draft.columns[name] = draft.columns[name] - 10**12


def a_body_that_never_reached_the_wire(draft):
    draft.done["wire"]["bytes_sent"] = 100


def clock_that_stops_at(share, part=""):
    """Clocks that stop at this share of the latency, in the cells whose stack's id holds this part."""

    def spoil(draft):
        if part in draft.cell.stack:
            rows = draft.columns
            rows["received_ns"] = rows["sent_ns"] + ((rows["received_ns"] - rows["sent_ns"]) * share).astype(np.int64)

    spoil.__name__ = f"clock_that_stops_at_{share}"
    return spoil


OPEN = {"load": p.Load(concurrency=64, requests=2000, rate_per_s=500.0)}
CLEAN: dict[str, dict[str, Any]] = {
    "sequential": {},
    "eight in flight": {"load": p.Load(concurrency=8, requests=4000)},
    "a new connection each time": {"connection": "per-request"},
    "an open loop": OPEN,
    "two placements": {"placements": [HERE, WEST]},
    "a new connection far away": {"placements": [HERE, WEST], "connection": "per-request"},
    "a payload": {"operation": BYTES},
    "with a control": {"controls": 2},
    "two requesters": {"requesters": 2},
}
SHARED = {"load": p.Load(concurrency=8, requests=4000), "calls": [{"connection": "reuse", "processes": 4}]}
SHARED_RATE = {**OPEN, "calls": [{"connection": "reuse", "processes": 4}]}
NEW_OF_EACH = {**SHARED, "calls": [{"connection": "per-request", "processes": 4}]}
FAULTS = [
    (timer_stopped_early, "floor", "fail", {}),
    (below_the_ping_but_not_the_socket, "floor", "fail", {}),
    (timer_stopped_early, "floor", "fail", {"placements": [HERE, WEST]}),
    (two_requests_at_once, "in flight", "fail", {}),
    (everything_sent_at_once, "in flight", "fail", {}),
    (everything_sent_at_once, "queueing ramp", "fail", {}),
    (place_in_line_as_latency, "queueing ramp", "fail", {}),
    (place_in_line_as_latency, "Little's law", "fail", {}),
    (cpu_time_for_wall_time, "Little's law", "fail", {}),
    (cpu_time_for_wall_time, "Little's law", "fail", {"load": p.Load(concurrency=8, requests=4000)}),
    (cpu_time_for_wall_time, "Little's law", "fail", {"connection": "per-request"}),
    (slow_samples_dropped, "completeness", "fail", {}),
    (more_answered_than_recorded, "completeness", "fail", {}),
    (another_responder, "reply", "fail", {}),
    (unverified, "reply", "fail", {}),
    (wrong_replies, "reply", "fail", {}),
    (connections_kept, "connections", "fail", {"connection": "per-request"}),
    (connections_not_kept, "connections", "fail", {}),
    (half_the_load, "offered load", "fail", OPEN),
    (another_rate, "offered load", "fail", OPEN),
    (requester_saturated, "offered load", "warn", {"load": p.Load(concurrency=8, requests=4000)}),
    (requester_saturated, "offered load", "pass", {}),
    (one_after_the_other, "requesters together", "fail", {"requesters": 2}),
    (a_fifth_later, "requesters together", "warn", {"requesters": 2}),
    (a_fifth_later, "requesters together", "not applicable", {}),
    (without_stamps_of_another, "requesters together", "cannot tell", {"requesters": 2}),
    (one_stack_decodes_late, "requester's own work", "warn", {}),
    (one_stack_decodes_later_than_it_waits, "requester's own work", "fail", {}),
    (all_decode_late, "requester's own work", "warn", {}),
    (one_stack_decodes_late, "requester's own work", "pass", {"connection": "per-request"}),
    (one_stack_decodes_later_than_it_waits, "requester's own work", "warn", {"connection": "per-request"}),
    (cold_start, "steady state", "warn", {}),
    (steal, "noise", "warn", {}),
    (throttling, "noise", "warn", {}),
    (pressure, "noise", "warn", {}),
    (foreign_work, "noise", "warn", {}),
    (a_clock_of_milliseconds, "clocks", "fail", {}),
    (a_clock_that_runs_backwards, "clocks", "fail", {}),
    (stamps_of_another_clock, "clocks", "fail", {}),
    (a_payload_that_stayed_at_home, "codec size", "fail", {"operation": BYTES}),
    (a_body_that_never_reached_the_wire, "codec size", "fail", {}),
]
FAULTS_OF_ONE_PROCESS = [
    (in_one_process(twice_its_share), "in flight", "fail", SHARED),
    (in_one_process(cpu_time_for_wall_time), "Little's law", "fail", SHARED),
    (in_one_process(slow_samples_dropped), "completeness", "fail", SHARED),
    (in_one_process(more_answered_than_recorded), "completeness", "fail", SHARED),
    (in_one_process(another_responder), "reply", "fail", SHARED),
    (in_one_process(connections_not_kept), "connections", "fail", SHARED),
    (in_one_process(connections_kept), "connections", "fail", NEW_OF_EACH),
    (in_one_process(half_the_load), "offered load", "fail", SHARED_RATE),
    (in_one_process(another_rate), "offered load", "fail", SHARED_RATE),
    (in_one_process(requester_saturated), "offered load", "warn", SHARED),
    (in_one_process(half_a_window_later), "requesters together", "fail", SHARED),
    (in_one_process(without_anchors), "requesters together", "pass", SHARED),
    (in_one_process(stamps_of_another_clock), "clocks", "fail", SHARED),
]
