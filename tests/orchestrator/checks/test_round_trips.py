"""The check `round-trips`: what a distance adds, against what the connection policy implies."""

import numpy as np

from tests.support.drafts import longer
from tests.support.judged import verdicts
from tests.support.made_up import HERE, WEST
from tests.support.runs import MS, a_run


def test_a_stall_on_one_host_makes_no_round_trips_impossible():
    def spoil(draft):
        if draft.cell.placement == "local":
            late = np.arange(draft.columns["sent_ns"].size) % 3 != 0  # two in three, so that the median is a stall
            longer(draft, late * 60 * MS)

    assert verdicts(a_run(spoil=spoil, placements=[HERE, WEST]))["round-trips"] == "cannot tell"


def test_a_round_trip_too_many_is_a_warning():
    def spoil(draft):
        if draft.cell.placement == "west":
            longer(draft, 60 * MS)

    assert verdicts(a_run(spoil=spoil, placements=[HERE, WEST]))["round-trips"] == "warn"


def test_tls_takes_one_more_to_open_a_connection():
    def spoil(draft):
        if draft.cell.placement == "west":
            draft.columns["received_ns"] = draft.columns["received_ns"] - 30 * MS

    secured = [{"connection": "per-request", "tls": "tls1.3"}]
    run = {"stacks": ("rest",), "placements": [HERE, WEST], "calls": secured}
    assert verdicts(a_run(**run))["round-trips"] == "pass"
    assert verdicts(a_run(**run, spoil=spoil))["round-trips"] == "fail"
