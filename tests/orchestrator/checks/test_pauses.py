"""What a requester says of its own pauses, against those that its rows show: Req/s and Little's law rest on both."""

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from tests.support.judged import of, verdicts
from tests.support.runs import US, a_run

EIGHT = p.Load(concurrency=8, requests=4_000)
OPEN = p.Load(concurrency=64, requests=2_000, rate_per_s=500.0)
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


@pytest.mark.parametrize("planned", [{}, {"load": EIGHT}, {"load": EIGHT, "connection": "per-request"}, {"load": OPEN}])
@pytest.mark.parametrize("share", [0.05, 0.5, 2.0])
def test_more_pauses_than_the_rows_have_room_for_fail(planned, share):
    def overstated(draft):
        draft.done["paused_s"] += share * draft.done["measured_s"]

    run = a_run(spoil=overstated, **planned)
    assert {result.verdict for result in of(run, LITTLE)} == {"fail"}
    assert all(len(cell.trials) == 5 and cell.throughput_per_s for cell in summarise(run).cells)


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
