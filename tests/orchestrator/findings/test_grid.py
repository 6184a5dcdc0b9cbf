"""Which runs have an axis, and what is beside what along it."""

from __future__ import annotations

import pytest

from orchestrator.findings.grid import sweep
from orchestrator.findings.summary import RunSummary
from tests.support.concluded import cell_of, far, setting, summary
from tests.support.summaries import a_run


def along(run: RunSummary) -> tuple[str, list[list[object]]]:
    """The axis, and the values of each panel's places."""
    along = sweep(run)
    assert along is not None
    return along.axis, [[place.value for place in panel.places] for panel in along.panels]


@pytest.mark.parametrize("factor", ["concurrency", "rate", "think", "calls", "connections", "workers"])
def test_a_number_that_differs_is_the_axis_in_its_order(factor: str) -> None:
    run = summary(*(setting({"rest": 0.3, "grpc": 0.2}, **{factor: number}) for number in (16, 1, 4)))
    assert along(run) == (factor, [[1, 4, 16]])


def test_of_two_axes_placements_are_the_columns_and_loads_have_a_panel_each() -> None:
    run = summary(
        *(setting({"rest": 0.3}, placement=where, concurrency=n) for n in (1, 4) for where in ("local", "far")),
        plan=far(35.0),
    )
    along = sweep(run)
    assert along is not None
    assert (along.axis, [panel.others for panel in along.panels]) == (
        "placement",
        [(("concurrency", 1),), (("concurrency", 4),)],
    )


def test_stacks_that_call_in_different_ways_are_lines_of_one_panel() -> None:
    cells = [
        cell_of(stack, 0.3, connection=connection, concurrency=n)
        for n in (1, 4)
        for stack, connection in (("grpc", "reuse"), ("rest", "per-request"), ("rest", "reuse"))
    ]
    along = sweep(summary((cells, ())))
    assert along is not None
    (panel,) = along.panels
    assert [(line.stack, line.style) for line in panel.lines] == [("grpc", 0), ("rest", 0), ("rest", 1)]
    assert [dict(line.call)["connection"] for line in panel.lines] == ["reuse", "per-request", "reuse"]
    assert all(cell is not None for line in panel.lines for cell in line.cells)


def test_floors_are_those_of_their_placement_and_of_the_cells_they_carried() -> None:
    along = sweep(a_run(stacks=2, placements=2, operations=2))
    assert along is not None
    for panel in along.panels:
        tcp, ping = panel.floors
        assert (tcp.kind, tcp.policy, ping.kind) == ("tcp", "reuse", "ping")
        for floor, place, cell in zip(tcp.floors, panel.places, panel.lines[0].cells, strict=True):
            assert floor is not None
            assert cell is not None
            assert (floor.placement_id, cell.id in floor.cells) == (place.value, True)
