"""A cell that a check found invalid decides nothing about the others: neither as a control nor as the bare socket."""

import numpy as np

from orchestrator.summarise import summarise
from tests.support.runs import a_plan, a_run


def halved(part, share=0.5):
    """Clocks that stop at half (or that share) of the latency, in the cells whose stack's id holds this."""

    def spoil(draft):
        if part in draft.cell.stack:
            rows = draft.columns
            rows["received_ns"] = rows["sent_ns"] + ((rows["received_ns"] - rows["sent_ns"]) * share).astype(np.int64)

    return spoil


def slower(factor):
    """The control takes so many times as long, and is valid."""

    def spoil(draft):
        if "-aa" in draft.cell.stack:
            rows = draft.columns
            latency = rows["received_ns"] - rows["sent_ns"]
            longer = (latency * factor).astype(np.int64)
            shift = np.concatenate([[0], np.cumsum(longer - latency)[:-1]])
            for name in ("sent_ns", "intended_ns"):
                rows[name] = rows[name] + shift
            rows["received_ns"] = rows["sent_ns"] + longer
            for clock in ("wall_ns", "monotonic_ns"):
                draft.done["anchor_end"][clock] += int(abs(shift[-1])) + int(abs(longer - latency).max())

    return spoil


def standings(run):
    return {(c.stack, c.statistic): (c.standing, c.interval) for c in summarise(run).comparisons if not c.control}


def test_an_invalid_control_changes_no_comparison_of_others():
    found = standings(a_run(controls=1, spoil=halved("-aa")))
    assert found == standings(a_run(controls=1, spoil=halved("-aa", 0.1)))
    assert {standing for standing, _ in found.values()} == {"faster"}


def test_a_clients_share_does_not_rest_on_an_invalid_bare_socket():
    planned = {"stacks": ("rest", "rest"), "clients": ("thin", "raw")}
    shares = {c.client: c.client_share for c in summarise(a_run(a_plan(**planned))).cells}
    assert shares["thin"] is not None
    shares = {c.client: c.client_share for c in summarise(a_run(a_plan(**planned), spoil=halved("raw"))).cells}
    assert shares["thin"] is None
