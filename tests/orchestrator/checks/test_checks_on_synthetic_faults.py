"""More errors in the data: connections that end, packets that are lost, clocks that stop early, requests of two kinds."""

import re

import numpy as np
import pytest

from orchestrator.checks import CHECKS
from orchestrator.experiment.plan import plan as p
from orchestrator.findings.check_result import counts
from orchestrator.summarise import summarise
from orchestrator.wording import left_out
from orchestrator.wording.checks.sentences import action, explanation
from tests.support.drafts import longer
from tests.support.judged import of, verdicts
from tests.support.made_up import HERE, OPEN, WEST, clock_that_stops_at
from tests.support.runs import MS, S, a_run, host_counters


def test_what_applies_to_nothing_is_not_counted_as_passed():
    judgement = summarise(a_run()).checks
    verdict_counts = counts(judgement)
    assert verdict_counts["not applicable"] == 6
    assert verdict_counts["pass"] == len(CHECKS) - 6
    assert left_out.verdicts(judgement) == f"{len(CHECKS) - 6} passed, 6 do not apply"


def test_what_could_not_be_looked_at_is_not_counted_as_passed():
    judgement = verdicts(a_run(load=p.Load(concurrency=1, requests=60)))
    assert {judgement[name] for name in ("queueing ramp", "steady state")} == {"cannot tell"}


def test_a_host_that_counts_nothing_is_not_called_quiet():
    def spoil(draft):
        for reading in (draft.done["host_before"], draft.done["host_after"], draft.stats["host"]):
            reading |= {"cpu_ticks": None, "pressure_us": {"cpu": None}, "throttling": None}

    assert verdicts(a_run(spoil=spoil))["noise"] == "cannot tell"


def longer_by(extra_ms, share):
    """That share of the requests waits so much longer, up to a tenth more."""

    def spoil(draft):
        some = np.random.default_rng(7).random(draft.columns["sequence"].size) < share
        longer(draft, np.where(some, extra_ms * (1 + 0.1 * np.random.default_rng(8).random(some.size)), 0) * MS)

    spoil.__name__ = f"{share}_of_the_requests_longer_by_{extra_ms}_ms"
    return spoil


def packets_lost_by_the_requester(draft):
    draft.done["wire"]["retransmits"] = 12


def one_packet_lost(draft):
    draft.done["wire"]["retransmits"] = 1


def packets_lost_by_the_responder(draft):
    draft.stats["host"] = host_counters(10 * S, retransmits=12)


def packets_lost_by_connections_that_overlap(draft):
    draft.done["wire"] = None
    draft.done["host_after"] = host_counters(10 * S, retransmits=12)


def packets_that_nobody_counted(draft):
    draft.done["wire"] = None
    draft.done["host_after"]["tcp"] = None


def responder_saturated(draft):
    span_s = (draft.columns["received_ns"].max() - draft.columns["sent_ns"].min()) / S
    draft.stats["cpu_s"] = draft.stats_before["cpu_s"] + 0.95 * span_s


@pytest.mark.parametrize(("again", "is_named"), [(None, True), (0, False), (2, False), (60, True)])
def test_lost_packets_explain_a_mode_only_where_as_many_were_sent_again(again, is_named):
    """A hundred requests of a trial wait 200 ms: without a count a lost packet is a guess, with two packets it is none."""

    def spoil(draft):
        wait = np.zeros(draft.columns["sequence"].size, dtype=np.int64)
        wait[60::10] = 205 * MS
        longer(draft, wait)
        draft.done["wire"] = None if again is None else draft.done["wire"] | {"retransmits": again}

    (result, *_) = (r for r in summarise(a_run(spoil=spoil)).checks if r.name == "latency modes")
    assert (result.verdict == "warn") == bool(result.evidence["causes"]) == is_named


def requester_that_works_itself(share):
    def spoil(draft):
        draft.done["entering_s"] = share * draft.done["measured_s"]

    return spoil


def in_grpc(spoil):
    def only_there(draft):
        if "grpc" in draft.cell.stack:
            spoil(draft)

    return only_there


def in_a_block(spoil):
    """In grpc, and in the first block alone."""

    def only_there(draft):
        if draft.block == 0:
            in_grpc(spoil)(draft)

    return only_there


def requester_that_does_not_say_what_it_does(draft):
    del draft.done["entering_s"]


def responder_that_counts_nothing(draft):
    draft.stats["cpu_s"] = None


def a_share_of_connections_closed(every):
    """Every so many requests the connection ends: the next request fails and the one after that opens another."""

    def spoil(draft):
        rows = draft.columns
        n = rows["sequence"].size
        rows["status"][rows["sequence"] % (every + 1) == 0] = 3
        rows["connection"] = rows["sequence"] // (every + 1)
        measured = rows["phase"] == 1
        failed = int((rows["status"] != 0).sum())
        draft.done["connections_opened"] = int(np.unique(rows["connection"][measured]).size) - 1
        draft.done["verified"] = int((measured & (rows["status"] == 0)).sum())
        draft.stats |= {"peers": n // (every + 1) + 3, "answered": n + 2 - failed}

    return spoil


@pytest.mark.parametrize(("every", "verdict"), [(1, "fail"), (2, "fail"), (10, "fail"), (100, "fail"), (700, "warn")])
def test_connections_that_are_opened_again_count_however_many_errors_explain_them(every, verdict):
    judgement = verdicts(a_run(spoil=a_share_of_connections_closed(every)))
    assert judgement["connections"] == verdict
    assert judgement["completeness"] == "pass"


EIGHT = {"load": p.Load(concurrency=8, requests=4000)}
SHARED = {
    "stacks": ("grpc",),
    "load": p.Load(concurrency=8, requests=4000),
    "calls": [{"connection": "reuse", "connections": 4}],
}


def over(connections, peers):
    """Requests carried by so many connections as the requester numbers them, while the responder sees so many peers."""

    def spoil(draft):
        draft.columns["connection"] = draft.columns["sequence"] % connections
        draft.stats["peers"] = peers

    spoil.__name__ = f"over_{connections}_with_{peers}_peers"
    return spoil


FAULTS = [
    (over(4, 6), "connections", "pass", SHARED),
    (over(4, 5), "connections", "fail", SHARED),  # a library that puts two channels on one connection
    (over(2, 4), "connections", "fail", SHARED),  # one that opens fewer, and says so
    (over(3, 5), "connections", "warn", SHARED),
    (over(8, 10), "connections", "pass", EIGHT),
    (over(8, 9), "connections", "fail", EIGHT),
    (over(8, 3), "connections", "fail", EIGHT),  # all over one, which the requester numbers as eight
    (over(1, 3), "connections", "fail", EIGHT),
    (clock_that_stops_at(0.9), "Little's law", "fail", {}),
    (clock_that_stops_at(0.9), "Little's law", "fail", {"placements": [HERE, WEST]}),
    (packets_lost_by_the_requester, "lost packets", "warn", {}),
    (one_packet_lost, "lost packets", "pass", {}),
    (packets_lost_by_the_responder, "lost packets", "warn", {"placements": [HERE, WEST]}),
    (packets_lost_by_connections_that_overlap, "lost packets", "warn", {"connection": "per-request"}),
    (packets_that_nobody_counted, "lost packets", "cannot tell", {}),
    (responder_saturated, "responder's core", "warn", {"load": p.Load(concurrency=8, requests=16_000)}),
    (responder_saturated, "responder's core", "cannot tell", EIGHT),  # for 0.2 s only
    (responder_saturated, "responder's core", "warn", OPEN),
    (responder_saturated, "responder's core", "pass", {}),
    (responder_that_counts_nothing, "responder's core", "cannot tell", {}),
    (requester_that_works_itself(0.04), "requester's own work", "pass", EIGHT),
    (requester_that_works_itself(0.06), "requester's own work", "warn", EIGHT),
    (in_grpc(requester_that_works_itself(0.25)), "requester's own work", "fail", EIGHT),
    (requester_that_works_itself(0.25), "requester's own work", "warn", EIGHT),
    (in_a_block(requester_that_works_itself(0.25)), "requester's own work", "warn", EIGHT),
    (requester_that_works_itself(0.25), "requester's own work", "pass", {}),
    (requester_that_does_not_say_what_it_does, "requester's own work", "cannot tell", EIGHT),
    (longer_by(40, 0.1), "latency modes", "warn", {}),
    (longer_by(40, 0.02), "latency modes", "warn", {}),
    (longer_by(1, 0.3), "latency modes", "pass", {}),
    (longer_by(0.05, 0.3), "latency modes", "pass", {}),
]


@pytest.mark.parametrize(
    ("spoil", "check", "verdict", "planned"), FAULTS, ids=[f"{f[0].__name__}-{f[1]}-{i}" for i, f in enumerate(FAULTS)]
)
def test_the_check_says_what_it_should_of_the_error(spoil, check, verdict, planned):
    run = a_run(spoil=spoil, **planned)
    assert verdicts(run)[check] == verdict
    assert all(action(r) != "Nothing to do." for r in of(run, check) if r.verdict in ("fail", "warn", "cannot tell"))
    texts = [text for result in of(run, check) for text in (explanation(result), action(result))]
    assert [text for text in texts if len(re.findall(r"\.(?= [A-Z]|$)", text)) > 2] == []


@pytest.mark.parametrize(("are_all", "verdict"), [(False, "cannot tell"), (True, "pass")])
def test_trials_that_drift_either_way_are_steady_only_where_the_blocks_other_stacks_drift_alike(are_all, verdict):
    """Some trials get 15 % slower after a fifth of the window, the others faster."""

    def spoil(draft):
        if not are_all and "grpc" not in draft.cell.stack:
            return
        latency = draft.columns["received_ns"] - draft.columns["sent_ns"]
        late = np.arange(latency.size) > latency.size // 4
        latency[late] = (latency[late] * (1.15 if draft.block % 2 else 1 / 1.15)).astype(np.int64)
        draft.columns["received_ns"] = draft.columns["sent_ns"] + latency

    first = next(result for result in of(a_run(spoil=spoil), "steady state") if "grpc" in result.cell)
    assert first.verdict == verdict
    low, high = first.evidence["interval"]
    assert low < 1 / 1.05
    assert high > 1.05


def test_an_intended_time_that_follows_the_sends_is_found():
    """Coordinated omission: late sends that count from when they were sent."""

    def spoil(draft):
        draft.columns["sent_ns"] += np.arange(draft.columns["sent_ns"].size) // 7 * 1_000
        draft.columns["received_ns"] += np.arange(draft.columns["sent_ns"].size) // 7 * 1_000
        draft.columns["intended_ns"] = draft.columns["sent_ns"].copy()

    run = a_run(load=p.Load(concurrency=64, requests=2_000, rate_per_s=500.0), spoil=spoil)
    (first, *_) = of(run, "offered load")
    assert first.verdict == "fail"
    assert "were not due at the times that the trial's seed gives" in explanation(first)


@pytest.mark.parametrize(
    ("tls", "connection", "verdict"),
    [("tls1.3", "per-request", "pass"), ("tls1.3", "reuse", "fail"), ("none", "per-request", "fail")],
)
def test_handshakes_are_allowed_for_beside_compressed_bodies_where_each_request_has_one(tls, connection, verdict):
    def handshaken(draft):
        draft.done["wire"]["bytes_received"] += 5_000 * draft.done["requests"]

    calls = [{"connection": connection, "compression": "gzip", "tls": tls}]
    assert verdicts(a_run(calls=calls, spoil=handshaken))["codec size"] == verdict
