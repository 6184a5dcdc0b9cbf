"""What a requester says of its own pauses, against those that its rows show: Req/s and Little's law rest on both."""

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from tests.support.judged import of, verdicts
from tests.support.matrices import a_matrix_plan, a_matrix_run
from tests.support.runs import US, a_run

EIGHT = p.Load(concurrency=8, requests=4_000)
OPEN = p.Load(concurrency=64, requests=2_000, rate_per_s=500.0)
LITTLE, OWN = "Little's law", "requester's own work"


def stops_at(share):
    def spoil(draft):
        rows = draft.columns
        rows["received_ns"] = rows["sent_ns"] + ((rows["received_ns"] - rows["sent_ns"]) * share).astype(np.int64)

    return spoil


@pytest.mark.parametrize("share", [0.3, 0.5, 0.75, 0.85])
def test_a_clock_that_stops_early_is_found_though_each_request_has_a_connection_of_its_own(share):
    found = of(a_run(load=EIGHT, connection="per-request", spoil=stops_at(share)), LITTLE)
    assert {result.verdict for result in found} == {"fail"}


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


@pytest.mark.parametrize("planned", [{}, {"load": EIGHT}, {"load": EIGHT, "connection": "per-request"}, {"load": OPEN}])
@pytest.mark.parametrize("share", [0.05, 0.5, 2.0])
def test_more_pauses_than_the_rows_have_room_for_fail(planned, share):
    def overstated(draft):
        draft.done["paused_s"] += share * draft.done["measured_s"]

    run = a_run(spoil=overstated, **planned)
    assert {result.verdict for result in of(run, LITTLE)} == {"fail"}
    assert all(len(cell.trials) == 5 and cell.throughput_per_s for cell in summarise(run).cells)


def test_a_trial_that_gives_no_figure_is_not_passed_over_in_silence():
    def nothing_measured(draft):
        if draft.block == 2:
            draft.columns["phase"][:] = 0
            draft.done |= {"requests": 0, "verified": 0, "warmup_requests": draft.done["rows"]}
            draft.stats["answered"] = 0

    (first, *_) = of(a_run(spoil=nothing_measured), "completeness")
    assert first.verdict == "warn"
    assert first.evidence["empty"] == 1
    assert "4 of 5 planned trials gave samples" in first.explanation


def paused_after(pauses_ns):
    """Lengthen the pause after each request, and let the requester say so."""

    def spoil(draft):
        rows = draft.columns
        shift = np.cumsum(pauses_ns(rows["received_ns"] - rows["sent_ns"]))
        for name in ("sent_ns", "intended_ns", "received_ns"):
            rows[name][1:] += shift[:-1]
        measured = rows["phase"] == 1
        own_s = float(pauses_ns(rows["received_ns"] - rows["sent_ns"])[measured][:-1].sum()) / 1e9
        draft.done["paused_s"] += own_s
        draft.done["measured_s"] += own_s
        for clock in draft.done["anchor_end"]:
            draft.done["anchor_end"][clock] += int(shift[-1])

    return spoil


def test_a_close_that_is_awaited_over_a_distance_is_the_requesters_own_pause():
    """Half of the time of a WebSocket over 60 ms: as long as a request, and no CPU time."""
    closing = paused_after(lambda latency_ns: np.full(latency_ns.size, 60_000_000))
    assert verdicts(a_run(connection="per-request", spoil=closing))[LITTLE] == "pass"


@pytest.mark.parametrize("stall_ms", [1, 50])
def test_stalls_between_requests_are_no_clock_that_stops_early_for_the_slowest(stall_ms):
    """With the time to the next send they make requests look slow that are not."""

    def stalls(latency_ns):
        return np.where(np.arange(latency_ns.size) % 50 == 7, stall_ms * 1_000_000, 0)

    assert verdicts(a_run(spoil=paused_after(stalls)))[LITTLE] != "fail"


@pytest.mark.parametrize(("share", "blocks", "verdict"), [(0.7, 5, "fail"), (0.6, 2, "fail"), (0.95, 5, "pass")])
def test_a_clock_that_stops_early_for_the_slowest_alone_is_found(share, blocks, verdict):
    def cut(draft):
        if draft.block >= blocks:
            return
        rows = draft.columns
        latency = rows["received_ns"] - rows["sent_ns"]
        slowest = latency >= np.quantile(latency[rows["phase"] == 1], 0.99)
        rows["received_ns"] = rows["received_ns"] - (latency * (1 - share) * slowest).astype(np.int64)

    assert verdicts(a_run(spoil=cut))[LITTLE] == verdict


@pytest.mark.parametrize(
    ("who", "verdict"),
    [("Python", "pass"), ("rest-Python-Python", "warn")],
    ids=["all requesters of one language", "one stack of that language"],
)
def test_pauses_are_held_against_those_of_requesters_in_the_same_language(who, verdict):
    """A harness in another language verifies and records in another time, which is nobody's fault."""
    longer = paused_after(lambda latency_ns: np.full(latency_ns.size, 50 * US))

    def spoil(draft):
        if draft.cell.stack.endswith(who):
            longer(draft)

    plan = a_matrix_plan(spoken=("Go", "Python"), blocks=3, load=p.Load(concurrency=1, requests=300), warmup=10)
    found = verdicts(a_matrix_run(plan, lambda key: 1.0, spoil=spoil))
    assert (found[OWN], found[LITTLE]) == (verdict, "pass")
