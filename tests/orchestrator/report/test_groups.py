from __future__ import annotations

from dataclasses import replace

from orchestrator.experiment.plan.plan import Stack
from orchestrator.report import palette
from orchestrator.report.groups import anchor, groups, stack_colours
from tests.support.findings import labelled
from tests.support.summaries import a_run


def test_cells_that_differ_in_the_stack_alone_are_one_group():
    every = groups(a_run(stacks=3, placements=2, operations=2))

    assert [len(group.cells) for group in every] == [3, 3, 3, 3]
    assert [group.title.split(" · ")[:2] for group in every] == [
        ["add", "local"],
        ["image 1.58 MB", "local"],
        ["add", "cross-region"],
        ["image 1.58 MB", "cross-region"],
    ]


def test_cells_stand_in_the_order_of_their_medians_and_the_silent_ones_last():
    run = a_run(stacks=4)
    silent = replace(run.cells[0], distribution=None)
    (group,) = groups(replace(run, cells=(silent, *run.cells[1:])))

    medians = [cell.distribution.median for cell in group.measured if cell.distribution]
    assert medians == sorted(medians)
    assert group.cells[-1] == silent


def test_loads_split_groups_and_their_titles_say_so():
    run = a_run(stacks=1)
    other = labelled(replace(run.cells[0], id="b"), load="1,000 requests, 16 in flight")
    every = groups(replace(run, cells=(*run.cells, other)))

    assert [group.title for group in every] == [
        "add · local · connections kept open · 1,000 requests, 1 in flight",
        "add · local · connections kept open · 1,000 requests, 16 in flight",
    ]


def test_a_tcp_floor_stands_only_beside_the_cells_whose_bytes_it_carried():
    small, large = groups(a_run(stacks=2, operations=2))

    assert [floor.kind for floor in small.floors] == ["ping", "tcp"]
    assert [floor.send_bytes for floor in small.floors] == [0, 16]
    assert [floor.send_bytes for floor in large.floors] == [0, 1_580_000]


def test_a_cell_finds_its_own_comparison_and_the_reference_has_none():
    (group,) = groups(a_run(stacks=3))
    reference = next(cell for cell in group.cells if cell.stack == "rest-fastapi")

    assert reference.id in group.references
    assert group.against_reference(reference) is None
    assert all(group.against_reference(cell) for cell in group.cells if cell is not reference)


def test_a_stack_keeps_its_number_whatever_its_place_in_a_table():
    run = a_run(stacks=3, placements=2)

    assert stack_colours(run) == {"grpc": 0, "rest-fastapi": 1, "rest-flask": 2}


def test_a_control_has_its_originals_colour_and_another_line_style():
    run = a_run(stacks=4)
    stacks = tuple(
        Stack(
            **dict.fromkeys(("id", "protocol", "responder", "client", "label"), cell.stack),
            control_of=run.cells[1].stack if place in (0, 3) else None,
        )
        for place, cell in enumerate(run.cells)
    )

    numbers = list(stack_colours(replace(run, plan=replace(run.plan, stacks=stacks))).values())

    looks = [(palette.series(number), palette.dash(number)) for number in numbers]
    assert len(set(looks)) == 4
    assert looks[0][0] == looks[1][0] == looks[3][0] != looks[2][0]


def test_an_anchor_is_safe_in_a_path_and_a_link():
    assert anchor('rest (flask)/"x"') == "rest-flask-x"
    assert anchor("…") == "x"


def test_a_caption_says_the_load_once():
    run = a_run(stacks=1)
    loads = ("50/s (poisson) for 2 s, at most 25 in flight", "100/s (poisson) for 2 s, at most 25 in flight")
    cells = tuple(labelled(replace(run.cells[0], id=load), load=load) for load in loads)

    assert [group.caption.count("(poisson)") for group in groups(replace(run, cells=cells))] == [1, 1]
    assert groups(run)[0].caption.endswith(run.cells[0].labels.load)
