"""A cell whose checks failed does not disown the others."""

from dataclasses import replace

from orchestrator.findings.validity import withhold
from orchestrator.summarise import summarise
from tests.support.runs import US, a_run


def slow_sends(draft):
    """What half of the declared rate looks like; committed by one stack alone."""
    if "grpc" in draft.cell.stack:
        rows = draft.columns
        rows["sent_ns"] = rows["intended_ns"] + (rows["intended_ns"] - rows["intended_ns"].min())
        rows["received_ns"] = rows["sent_ns"] + 300 * US


def overloaded():
    from orchestrator.experiment.plan import plan as p

    load = p.Load(concurrency=64, requests=2000, rate_per_s=500.0)
    return summarise(a_run(spoil=slow_sends, stacks=("rest", "grpc", "http+cbor"), load=load))


def test_a_comparison_with_an_invalid_cell_gives_no_ratio_and_both_failures_are_named():
    summary = overloaded()
    pair = next(c for c in summary.comparisons if c.stack_label == "grpc (thin)")
    assert (pair.ratio, pair.interval, pair.by_block) == (None, None, ())
    sound = next(c for c in summary.comparisons if c.stack_label == "http+cbor (thin)")
    (both,) = withhold([sound], {sound.cell: ("floor",), sound.reference_cell: ("reply", "noise")})
    assert both.reason.cells == (sound.cell, sound.reference_cell)
    assert both.reason.names == ("floor", "reply", "noise")
    (few,) = withhold([replace(sound, interval=None, standing="cannot tell")], {sound.cell: ("floor",)})
    assert (few.ratio, few.reason.names) == (None, ("floor",))
