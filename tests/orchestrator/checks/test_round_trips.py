"""The check `round-trips`: what a distance adds, against what the connection policy implies."""

import numpy as np

from orchestrator.experiment.plan import plan as p
from tests.support.judged import verdicts
from tests.support.runs import MS, S, a_run

LINK = p.Link(rtt_ms=30.0, rate_mbit=1_000.0)
WEST = p.Placement(id="west", name="west", kind="cross-region", from_zone="a", to_zone="b", link=LINK)
HERE = p.Placement(id="local", name="local", kind="local")


def test_one_round_trip_where_a_new_connection_needs_two_is_impossible():
    def spoil(draft):
        if draft.cell.placement == "west":
            draft.columns["received_ns"] = draft.columns["received_ns"] - 30 * MS

    run = a_run(spoil=spoil, stacks=("rest",), placements=[HERE, WEST], connection="per-request")
    assert verdicts(run)["round-trips"] == "fail"


def test_a_stall_on_one_host_makes_no_round_trips_impossible():
    def spoil(draft):
        if draft.cell.placement == "local":
            rows = draft.columns
            late = np.arange(rows["sent_ns"].size) % 3 != 0  # two in three, so that the median is a stall
            delay = np.cumsum(late) * 60 * MS
            rows["sent_ns"] = rows["sent_ns"] + delay - late * 60 * MS
            rows["received_ns"] = rows["received_ns"] + delay
            rows["intended_ns"] = rows["sent_ns"]
            draft.done["anchor_end"]["monotonic_ns"] += 1_000 * S

    assert verdicts(a_run(spoil=spoil, placements=[HERE, WEST]))["round-trips"] == "cannot tell"


def test_a_round_trip_too_many_is_a_warning():
    def spoil(draft):
        if draft.cell.placement == "west":
            rows = draft.columns
            shift = np.arange(rows["sent_ns"].size) * 60 * MS
            rows["sent_ns"], rows["received_ns"] = rows["sent_ns"] + shift, rows["received_ns"] + shift + 60 * MS
            rows["intended_ns"] = rows["sent_ns"]
            draft.done["anchor_end"]["monotonic_ns"] += 100 * S

    assert verdicts(a_run(spoil=spoil, placements=[HERE, WEST]))["round-trips"] == "warn"


def test_tls_takes_one_more_to_open_a_connection():
    def spoil(draft):
        if draft.cell.placement == "west":
            draft.columns["received_ns"] = draft.columns["received_ns"] - 30 * MS

    secured = [{"connection": "per-request", "tls": "tls1.3"}]
    run = {"stacks": ("rest",), "placements": [HERE, WEST], "calls": secured}
    assert verdicts(a_run(**run))["round-trips"] == "pass"
    assert verdicts(a_run(**run, spoil=spoil))["round-trips"] == "fail"
