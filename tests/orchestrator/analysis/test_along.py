"""What of many differences along axes stands beside the answer."""

from __future__ import annotations

from orchestrator.analysis import along
from orchestrator.questions.axes.crossing import Crossing
from orchestrator.questions.axes.find import Curves, Difference, Gap, Panel


def gap(said: str, *standings: str, crosses: bool = False) -> Gap:
    points = tuple(
        Difference(at=float(place), difference=1.0, interval=None, standing=standing)
        for place, standing in enumerate(standings)
    )
    crossing = Crossing(at=0.5, low=0.4, high=0.6) if crosses else None
    return Gap(stack="rest", label="rest", reference_label="grpc", points=points, crossing=crossing, said=said)


def drawn(
    *gaps: Gap, titles: tuple[str, ...] = ("gzip",), axes: tuple[str, ...] = ("round trip",)
) -> tuple[Curves, ...]:
    panels = tuple(Panel(title=title, lines=(), gaps=gaps) for title in titles)
    return tuple(Curves(axis=title, title=title, unit="ms", scale="linear", panels=panels) for title in axes)


OPEN, TOLD = gap("open.", "not resolved", "tie"), gap("told.", "not resolved", "slower")
FIRST, SECOND, THIRD = (gap(f"{name}.", "faster", "slower", crosses=True) for name in ("first", "second", "third"))


def test_what_crosses_stands_before_what_is_told_and_that_before_what_is_not() -> None:
    assert along.sentences(drawn(OPEN, TOLD, FIRST)) == ("first.", "told.")
    assert along.sentences(drawn(OPEN, OPEN)) == ("open.", "open.")


def test_what_limits_a_store_stands_between_crossings_and_other_differences() -> None:
    said = ("in all.", "one: it.", "two: it.", "limits.", "clients.")
    found = along.placed(said, drawn(TOLD, FIRST), {"one", "two"}, 1, "limits.")
    assert found == ("in all.", "first.", "limits.", "told.", "one: it.", "two: it.", "clients.")
    assert along.placed(said[:3], drawn(TOLD), {"one", "two"}, 1, "") == ("in all.", "told.", "one: it.", "two: it.")
    assert along.placed((), drawn(TOLD), set(), 1, "") == ()


def test_few_of_many_are_said_and_of_crossings_fewer_still_belong_to_the_answer() -> None:
    found = drawn(OPEN, FIRST, SECOND, TOLD, THIRD)
    assert along.sentences(found) == ("first.", "second.", "third.", "told.")
    assert along.crossings(found) == ("first.", "second.")
    assert along.crossings(drawn(OPEN, TOLD)) == ()


def test_setting_and_axis_are_named_where_there_are_several() -> None:
    assert along.sentences(drawn(TOLD, titles=("gzip", "plain"))) == ("gzip: told.", "plain: told.")
    assert along.sentences(drawn(TOLD, axes=("size", "rate"))) == ("By size: told.", "By rate: told.")
