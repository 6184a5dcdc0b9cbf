"""Who leads of several that are each compared with one reference alone."""

from __future__ import annotations

from math import log

from hypothesis import given
from hypothesis import strategies as some

from orchestrator.analysis.equivalence import standing
from orchestrator.analysis.ranking import Side, leaders

LEAST = log(1.05)


def side(cell: str, ratio: float, width: float) -> Side:
    interval = (ratio / width, ratio * width)
    return Side(cell=cell, ratio=ratio, interval=interval, standing=standing(interval))


def test_one_that_is_slower_than_the_reference_does_not_lead_beside_it() -> None:
    """The quickest is open, so it is ahead of nobody; the reference is ahead of `late`."""
    open_one, late = side("open", 0.95, 1.19), side("late", 1.2, 1.13)
    assert leaders([open_one, late], "reference", LEAST) == ("open", "reference")


def test_a_reference_that_one_is_ahead_of_does_not_lead_beside_it() -> None:
    open_one, early = side("open", 0.90, 1.2), side("early", 0.92, 1.01)
    assert leaders([open_one, early], "reference", LEAST) == ("open", "early")


@given(
    some.lists(some.tuples(some.floats(0.5, 2.0), some.sampled_from([1.001, 1.02, 1.1, 1.4])), min_size=1, max_size=6)
)
def test_nobody_leads_beside_one_who_is_ahead_of_him(drawn: list[tuple[float, float]]) -> None:
    sides = [side(f"side {number}", ratio, width) for number, (ratio, width) in enumerate(drawn)]
    ahead = leaders(sides, "reference", LEAST)
    assert ahead
    standings = {of.cell: of.standing for of in sides if of.cell in ahead}
    assert "reference" not in ahead or not {"faster", "slower"} & set(standings.values())
    assert not {"faster", "slower"} <= set(standings.values()) or max(
        of.ratio for of in sides if of.cell in ahead
    ) <= 1.05 * min(of.ratio for of in sides if of.cell in ahead)
