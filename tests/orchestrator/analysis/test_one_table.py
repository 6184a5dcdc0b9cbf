"""What is compared stands in one table, or in tables with one unit, and each says what its own rows are compared with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.analysis.answer import Answer, answer
from orchestrator.analysis.one_unit import units
from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.summary import RunSummary
from orchestrator.cli.answer import answer_lines
from orchestrator.experiment import make_plan
from orchestrator.experiment.plan.plan import Contrast, Link, Placement
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.report.groups import cell_colours, compared, groups, stack_colours
from orchestrator.report.palette import dash, series
from orchestrator.report.render import render
from tests.support.runs import a_plan, a_run

EXPERIMENTS = Path(__file__).resolve().parents[3] / "experiments"
NEAR = Placement(id="local", name="local", kind="local")
FAR = Placement(id="far", name="far", kind="cross-region", from_zone="a", to_zone="b", link=Link(rtt_ms=30.0))


@pytest.fixture(scope="module")
def documents() -> RunSummary:
    """REST, whose documents travel as they are, beside gRPC, where they do so in two ways."""
    plan = make_plan(EXPERIMENTS / "own_json.yaml")
    return summarise(a_run(plan, effects={"value": 40.0}))


def by_distance(*contrasts: Contrast) -> RunSummary:
    return summarise(a_run(a_plan(placements=[NEAR, FAR], contrasts=contrasts or (Contrast(),))))


BY_PLACEMENT = Contrast(factor="placement", references=("local",))


def heads(found: Answer) -> list[str]:
    return [line for line in answer_lines(found, width=300) if line.strip().startswith("stack ")]


def test_cells_compared_by_how_they_are_called_stand_in_one_table(documents):
    found = answer(documents)
    assert len({row.setting for row in found.table}) == len(heads(found)) == 1
    assert "document" not in found.table[0].setting
    assert {row.label for row in found.table} == {
        "rest",
        "grpc with a typed message",
        "grpc with google.protobuf.Value",
    }
    assert {row.stack for row in found.table} == {"rest", "grpc"}


def test_the_head_names_one_reference_and_a_row_its_others(documents):
    found = answer(documents)
    (head,) = heads(found)
    assert head.endswith("against rest")
    line, _ = (line for line in answer_lines(found, width=300) if line.startswith("  grpc with google"))  # times, costs
    assert "; a typed message: slower, " in line
    assert found.reference == "rest"


def test_the_answer_says_of_the_ways_only_what_differs(documents):
    said = " ".join(answer(documents).headline())
    assert (
        "grpc against rest: faster with JSON documents as a typed message, slower with JSON documents as "
        "google.protobuf.Value."
    ) in said
    assert "connections kept open" not in said


def test_where_rows_have_different_references_each_says_its_own():
    found = answer(by_distance(Contrast(), BY_PLACEMENT))
    rows = {(row.setting.split(" · ")[1], row.stack): row for row in found.table}
    assert rows["far", "rest (thin)"].reference == "local"
    assert rows["far", "grpc (thin)"].reference == "rest (thin)"
    assert [(other.reference, other.verdict) for other in rows["far", "grpc (thin)"].others] == [("local", "slower")]
    assert found.reference == ""


def test_a_stack_is_named_with_the_way_in_which_it_was_called_where_that_is_compared():
    ways = [{"connection": way} for way in ("reuse", "per-request")]
    plan = a_plan(calls=ways, contrasts=[Contrast(), Contrast(factor="connection", references=("per-request",))])
    found = answer(summarise(a_run(plan)))
    references = {row.label: row.reference for row in found.table}
    assert references["grpc (thin) with a kept connection"] == "rest (thin) with a kept connection"
    assert references["rest (thin) with a kept connection"] == "a connection per request"


def test_a_control_does_not_take_the_head_away():
    plan = a_plan(calls=[{"compression": how} for how in ("none", "gzip")], controls=1, contrasts=[BY_COMPRESSION])
    found = answer(summarise(a_run(plan)))
    assert [head.rpartition("against ")[2] for head in heads(found)] == ["no compression"]
    assert [row.stack for row in found.table if row.is_control] == ["rest (thin) again"] * 2


BY_COMPRESSION = Contrast(factor="compression", references=("none",))


def test_tables_that_are_compared_share_a_unit_and_others_have_their_own():
    apart, compared = by_distance(), by_distance(BY_PLACEMENT)
    assert [table.unit for table in answer(apart).axis_tables] == ["ms"]
    assert [group.unit.name for group in groups(apart)] == ["µs", "ms"]
    assert [group.unit.name for group in groups(compared)] == ["ms", "ms"]


def test_the_report_has_them_in_one_table_too(documents):
    (group,) = groups(documents)
    found = answer(documents)
    assert [cell.stack_label for cell in group.cells] == [row.label for row in found.table]
    assert "document" not in group.title
    assert "typed message" in next(c for c in group.comparisons if c.stack == group.cells[0].stack).stack_label
    assert documents.cells[0].stack_label in render(documents)


def test_of_two_ways_to_call_each_row_line_and_comparison_of_the_report_says_which():
    calls = [{"compression": how} for how in ("none", "gzip")]
    run = summarise(a_run(a_plan(calls=calls, contrasts=[Contrast(), BY_COMPRESSION])))
    (group,) = groups(run)
    labels = {f"{stack} (thin) with {how}" for stack in ("rest", "grpc") for how in ("no compression", "gzip")}
    assert {cell.stack_label for cell in group.cells} == labels
    assert not group.has_mixed_calls  # the labels say it
    colours = cell_colours([group], run)
    looks = {cell.stack_label: (series(colours[cell.stack]), dash(colours[cell.stack])) for cell in group.cells}
    assert len(set(looks.values())) == 4
    assert looks["rest (thin) with gzip"][0] == looks["rest (thin) with no compression"][0]
    by_stack = {(c.stack_label, c.reference_label) for c in group.comparisons}
    assert by_stack == {(f"grpc (thin) with {how}", f"rest (thin) with {how}") for how in ("no compression", "gzip")}
    assert len(compared([group], run)) == 3  # rest with either, and by compression
    assert {label for label in labels if label in render(run)} == labels


def test_the_terminals_table_of_costs_says_which_too():
    calls = [{"compression": how} for how in ("none", "gzip")]
    run = summarise(a_run(a_plan(calls=calls, contrasts=[BY_COMPRESSION])))
    lines = list(answer_lines(answer(run), width=300))
    begin = next(number for number, line in enumerate(lines) if "requests with" in line)
    assert {line.split("  ")[1] for line in lines[begin + 1 : begin + 5]} == {row.label for row in answer(run).table}


def test_a_default_is_not_said_of_a_stack_that_has_no_other_value():
    """gRPC is no HTTP/1.1, though its cells have that factor's default."""
    both = a_plan(
        calls=[{"http": "1.1"}, {"http": "2"}], contrasts=[Contrast(), Contrast(factor="http", references=("1.1",))]
    )
    cells = tuple(cell for cell in both.cells if cell.stack != "grpc-thin" or cell.factors["http"] == "1.1")
    run = summarise(a_run(replace(both, cells=cells, trials=schedule(cells, both.repeats, both.seed))))
    labels = {"rest (thin) with HTTP/1.1", "rest (thin) with HTTP/2", "grpc (thin)"}
    assert {row.label for row in answer(run).table} == labels
    assert {cell.stack_label for group in groups(run) for cell in group.cells} == labels
    (line,) = [
        line for line in answer_lines(answer(run), width=400) if line.startswith("  grpc (thin)") and "CPU" not in line
    ][1:]
    assert line.endswith(("×", ")", "resolved", "reference"))


def test_a_stack_keeps_its_look_where_nothing_is_compared_by_its_calls():
    run = summarise(a_run(a_plan(calls=[{"compression": how} for how in ("none", "gzip")])))
    found = groups(run)
    assert len(found) == 2
    assert cell_colours(found, run) == stack_colours(run)


def test_tables_are_joined_over_others_too():
    tables = [{"a": 0.2}, {"b": 3.0}, {"c": 90.0}, {"d": 1.0}, {"e": None}]
    found = units(tables, [("b", "c"), ("a", "b"), ("a", "nowhere")])
    assert [unit and unit.name for unit in found] == ["ms", "ms", "ms", "µs", None]
