"""What is said over all groups of cells at once, before each of them is spoken of."""

import numpy as np
import pytest

from orchestrator.analysis.summarise import summarise
from orchestrator.experiment.plan import plan as p
from tests.support.runs import MS, a_run


def places(*rtts_ms):
    """One host, and two hosts so far apart."""
    far = [
        p.Placement(id=f"far{rtt}", name=f"{rtt} ms away", kind="cross-region", link=p.Link(rtt_ms=rtt))
        for rtt in rtts_ms
    ]
    return [p.Placement(id="local", name="local", kind="local"), *far]


def first_sentence(**run):
    verdicts = summarise(a_run(**run)).verdicts
    return next(verdict for verdict in verdicts if not verdict.startswith("These numbers"))


def test_one_group_needs_no_summing_up():
    assert first_sentence().startswith("add, local, reuse")


def test_a_lead_that_distance_eats_up_is_said_with_its_intervals_and_the_floor():
    said = first_sentence(placements=places(0.5))
    assert "For add with connections kept open, grpc (thin) takes 33 % less time" in said
    assert "over distance its lead shrinks to" in said
    assert "at 0.5 ms away, where 80 %" in said
    assert said.endswith("of its time is the TCP floor.")
    assert said.count(" to ") >= 2


def test_a_lead_that_ends_in_a_tie_is_said_to():
    said = first_sentence(placements=places(3.0))
    assert said.startswith(
        "grpc (thin) against rest (thin): faster on placement local, a tie on placement 3.0 ms away."
    )
    assert "over distance this does not last: at 3.0 ms away they tie (equivalent within 5 %" in said


def test_the_stack_that_wins_more_often_is_the_subject_even_if_it_is_the_reference():
    said = first_sentence(placements=places(2.0), base_us={"rest": 100.0, "grpc": 400.0})
    assert said.startswith("rest (thin) is faster than grpc (thin) in both settings.")


def test_settings_that_do_not_agree_are_counted_apart():
    def spoil(draft):
        """The other way round where it is far."""
        if draft.cell.placement != "local" and "rest" not in draft.cell.stack:
            later = (
                np.arange(draft.columns["sequence"].size) * 20 * MS
            )  # a request begins when the one before it has ended
            for stamp in ("intended_ns", "sent_ns", "received_ns"):
                draft.columns[stamp] += later
            draft.columns["received_ns"] += 20 * MS
            for clock in draft.done["anchor_end"]:
                draft.done["anchor_end"][clock] += int(later[-1]) + 20 * MS

    said = first_sentence(placements=places(30.0, 60.0), spoil=spoil)
    assert said.startswith(
        "rest (thin) against grpc (thin): faster on placement 30.0 ms away and on placement 60.0 ms away, "
        "slower on placement local."
    )
    assert "over distance this reverses: rest (thin) takes 25 % less time than grpc (thin)" in said


def test_several_stacks_are_told_against_the_reference_and_those_alike_together():
    base = {"rest": 300.0, "grpc": 150.0, "cbor": 200.0, "avro": 600.0}
    said = first_sentence(stacks=("rest", "grpc", "cbor", "avro"), placements=places(1.0), base_us=base)
    assert said.startswith(
        "Against rest (thin), over 2 settings: "
        "grpc (thin) and cbor (thin): faster in both; avro (thin): slower in both."
    )


@pytest.mark.parametrize("blocks", [1, 2])
def test_where_nothing_is_told_nothing_is_summed_up(blocks):
    assert first_sentence(blocks=blocks, placements=places(30.0)).startswith("Not resolved: ")


def test_one_cpu_rather_than_two_is_no_distance():
    pinned = [
        p.Placement(id=f"local-{pin}", name=f"local-{pin}", kind="local", pin=pin) for pin in ("apart", "together")
    ]
    said = first_sentence(placements=pinned)
    assert "faster in both" in said or "in both settings" in said
    assert "distance" not in said
