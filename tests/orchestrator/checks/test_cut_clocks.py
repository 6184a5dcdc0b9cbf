"""Little's law, of clocks that stop a constant time early: in all trials of a cell, in one of them, and honest pauses."""

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.wording.checks.sentences import explanation
from tests.support.judged import of
from tests.support.runs import US, a_run

LITTLE = "Little's law"
BASE = {"rest": 300.0, "grpc": 300.0}
EIGHT = p.Load(concurrency=8, requests=4_000)


def cut(by_us, *, blocks=range(5)):
    """The clock stops so early; the next request is sent when the reply was there."""

    def spoil(draft):
        if draft.block in blocks and "grpc" in draft.cell.stack:
            draft.columns["received_ns"] = draft.columns["received_ns"] - int(by_us * US)

    return spoil


def pause(by_us, *, every=1):
    """So many microseconds more between requests, of which the requester says nothing: the machine was busy."""

    def spoil(draft):
        rows = draft.columns
        later = np.arange(rows["sent_ns"].size) // every * int(by_us * US)
        for name in ("sent_ns", "intended_ns", "received_ns"):
            rows[name] = rows[name] + later
        for clock in ("wall_ns", "monotonic_ns"):
            draft.done["anchor_end"][clock] += int(later[-1])

    return spoil


def verdicts(**planned):
    return {result.cell.split("__")[0]: result for result in of(a_run(**planned), LITTLE)}


@pytest.mark.parametrize("planned", [{}, {"load": EIGHT}, {"connection": "per-request"}])
def test_a_clock_that_stops_14_us_early_in_every_trial_is_found(planned):
    judgement = verdicts(base_us=BASE, spoil=cut(14), **planned)
    assert (judgement["rest-thin"].verdict, judgement["grpc-thin"].verdict) == ("pass", "fail")
    assert "the clock stops too early" in explanation(judgement["grpc-thin"])


@pytest.mark.parametrize("block", [0, 2, 4])
def test_a_clock_that_stops_early_in_one_trial_alone_is_found_and_the_trial_is_named(block):
    judgement = verdicts(base_us=BASE, spoil=cut(22, blocks=[block]))
    assert (judgement["rest-thin"].verdict, judgement["grpc-thin"].verdict) == ("pass", "fail")
    assert judgement["grpc-thin"].evidence["block"] == block + 1
    assert f"In block {block + 1} (trial " in explanation(judgement["grpc-thin"])


def test_an_honest_requester_on_a_busy_machine_passes():
    """14 us a request and 1.8 % of the latency in the sum over a cell: it was so once, on a machine with two cores."""
    base = {"rest": 780.0, "grpc": 780.0}
    assert {result.verdict for result in of(a_run(base_us=base, spoil=pause(12)), LITTLE)} == {"pass"}


@pytest.mark.parametrize(("blocks", "verdict"), [(1, "warn"), (5, "fail")])
def test_single_pauses_of_a_quiet_host_fail_where_most_trials_have_them(blocks, verdict):
    def spoil(draft):
        if draft.block < blocks:
            pause(50, every=3)(draft)

    assert verdicts(base_us=BASE, spoil=spoil)["grpc-thin"].verdict == verdict
