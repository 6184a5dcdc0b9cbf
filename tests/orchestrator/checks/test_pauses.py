"""Pauses that a requester tells of, and groups of latencies: found where there are any."""

import numpy as np
import pytest

from orchestrator.checks.latency.modes import DELAYED, EXPECT, LOST, causes_of, waits
from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from tests.support.drafts import longer
from tests.support.judged import verdicts
from tests.support.runs import US, a_run

EIGHT = p.Load(concurrency=8, requests=4_000)
LITTLE, OWN = "Little's law", "requester's own work"


@pytest.mark.parametrize("connection", ["reuse", "per-request"])
def test_what_eight_workers_pause_for_on_average_is_what_each_of_them_does(connection):
    """60 us of verifying between two requests of each worker: `paused_s` says it of one worker, not of all together."""

    def verifies_in_flight(draft):
        rows, workers = draft.columns, 8
        lane = (rows["sequence"] - 1) % workers
        for worker in range(workers):
            mine = np.flatnonzero(lane == worker)
            later = np.empty(mine.size, dtype=np.int64)
            later[np.argsort(rows["sent_ns"][mine])] = np.arange(mine.size) * 60 * US
            for name in ("sent_ns", "intended_ns", "received_ns"):
                rows[name][mine] += later
        order = np.argsort(rows["received_ns"], kind="stable")
        draft.columns = {name: values[order] for name, values in rows.items()}
        requests_of_each = int((rows["phase"] == 1).sum()) / workers
        draft.done["paused_s"] += requests_of_each * 60e-6 - 60e-6
        for clock in ("wall_ns", "monotonic_ns"):
            draft.done["anchor_end"][clock] += int(1e9)

    assert verdicts(a_run(load=EIGHT, connection=connection, spoil=verifies_in_flight))[LITTLE] == "pass"


MS = 1_000_000


def latencies(*groups):
    """Groups of (count, median in ms, sigma of the log), sorted."""
    random = np.random.default_rng(1)
    return np.sort(
        np.concatenate([(m * MS * random.lognormal(0, sigma, n)).astype(np.int64) for n, m, sigma in groups])
    )


@pytest.mark.parametrize("median_ms", [0.3, 20, 200])
@pytest.mark.parametrize("sigma", [0.05, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("n", [100, 1_000, 100_000])
def test_one_skewed_group_waits_for_nothing(n, sigma, median_ms):
    assert waits(latencies((n, median_ms, sigma))).groups == ()


def test_groups_that_wait_are_told_apart_with_their_shares():
    single = waits(latencies((900, 0.1, 0.1), (100, 42.1, 0.02))).groups
    assert [(group.cause, group.share) for group in single] == [(DELAYED, 0.1)]
    two = waits(latencies((800, 0.1, 0.1), (150, 42.1, 0.02), (50, 210.1, 0.02))).groups
    assert [(group.cause, group.share) for group in two] == [(DELAYED, 0.15), (LOST, 0.05)]


def test_a_distance_is_added_to_a_retransmission_time_out():
    assert causes_of(30 * MS + 285 * MS, 30 * MS) == (LOST,)
    assert causes_of(120 * MS, 0.1 * MS) == ()
    assert causes_of(500 * MS, 250 * MS) == (DELAYED, LOST)


def kept_connections_wait(extra_ms, cpu_ms=0.0, base_ms=0.0):
    """Every request on a kept connection takes so much longer, and so much of that is CPU time; all take `base_ms` more."""

    def spoil(draft):
        longer(draft, (base_ms + (extra_ms if draft.cell.connection == "reuse" else 0)) * MS)
        draft.stats["cpu_s"] += draft.columns["sequence"].size * cpu_ms / 1e3

    return spoil


BOTH = {"calls": [{"connection": "reuse"}, {"connection": "per-request"}]}


@pytest.mark.parametrize(
    ("extra_ms", "cpu_ms", "base_ms", "planned", "cause"),
    [
        (43.5, 0, 0, {}, DELAYED),
        (43.5, 0, 0, BOTH, DELAYED),
        (43.5, 0, 10, BOTH, None),
        (1003, 0, 0, {}, EXPECT),
        (43.5, 43, 0, {}, None),
        (70, 0, 0, BOTH, None),
        (5, 0, 0, BOTH, None),
    ],
)
def test_a_wait_of_all_requests_has_its_cause_by_the_floor(extra_ms, cpu_ms, base_ms, planned, cause):
    run = a_run(spoil=kept_connections_wait(extra_ms, cpu_ms, base_ms), stacks=("rest",), **planned)
    (kept, *_) = (r for r in summarise(run).checks if r.name == "latency modes" and "per-request" not in r.cell)
    assert kept.verdict == ("warn" if cause else "pass")
    assert kept.evidence.get("causes", []) == ([cause.name] if cause else [])
