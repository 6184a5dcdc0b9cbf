"""Verified content a second, with its interval, and what a run says of it by size."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.cli.answer import answer_lines
from orchestrator.evidence.cell_summaries import content, goodput
from orchestrator.experiment.plan.plan import Operation
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.questions.axes.by_size import by_size
from orchestrator.report.render import render
from orchestrator.summarise import summary_of_json
from services.python.contract.lines import Load, Warmup
from tests.support.summaries import a_run


def a_cell(calls: int = 1):
    from orchestrator.experiment.plan.plan import Cell

    factors = {"calls": calls, "connection": "reuse", "concurrency": 1}
    return Cell(
        id="x",
        stack="s",
        operation="o",
        placement="local",
        factors=factors,
        load=Load(requests=1),
        warmup=Warmup(),
        timeout_s=1.0,
        kind="call" if calls == 1 else "task",
    )


def of(kind: str) -> Operation:
    return Operation(id="o", name="o", label="o", payload={"kind": kind}, request_bytes=3000, reply_bytes=1000)


def trials(*rates: float):
    return [replace(a_run().cells[0].trials[0], throughput_per_s=rate) for rate in rates]


def test_content_is_that_of_requests_and_replies_whose_every_byte_is_compared() -> None:
    for kind in ("bytes", "records", "json", "transfer"):
        assert content(of(kind), a_cell()) == (3000, 1000)
    for kind in ("none", "image", "events", "evolution"):
        assert content(of(kind), a_cell()) is None
    assert content(replace(of("bytes"), calls=3), a_cell(calls=3)) == (9000, 3000)
    assert content(of("bytes"), replace(a_cell(), kind="stream")) is None


def test_goodput_is_content_times_right_replies_a_second() -> None:
    rate, interval = goodput((3000, 1000), trials(500.0, 500.0, 500.0))
    assert rate == pytest.approx(2.0)
    assert interval == pytest.approx((2.0, 2.0))


def test_its_interval_comes_from_the_spread_between_trials() -> None:
    rate, interval = goodput((1_000_000, 0), trials(90.0, 100.0, 110.0))
    assert interval is not None
    assert rate is not None
    assert interval[0] < 90 < rate < 110 < interval[1]
    assert goodput((1_000_000, 0), trials(90.0, 110.0))[1] is None


@pytest.mark.parametrize(
    ("sizes", "rates"), [(None, (1.0,)), ((0, 0), (1.0,)), ((1, 1), ()), ((1, 1), (5.0, 0.0, 5.0))]
)
def test_without_content_or_a_right_reply_in_each_trial_there_is_none(sizes, rates) -> None:
    assert goodput(sizes, trials(*rates)) == (None, None)


def a_sweep(*sizes: int) -> RunSummary:
    """Two stacks asked with so many bytes each way; the first one's goodput is the size in MB/s."""
    run = a_run(stacks=2)
    cells: list[CellSummary] = []
    for size in sizes:
        for number, cell in enumerate(run.cells):
            label = f"transfer {size} B, reply {size} B"
            mb_per_s = float(size * (number + 1))
            cells.append(
                replace(
                    cell,
                    id=f"{cell.stack}-{size}",
                    operation=label,
                    operation_id=f"transfer-{size}",
                    load=f"{1000 - size} requests, 1 in flight",
                    payload_bytes=(size, size),
                    goodput_mb_per_s=mb_per_s,
                    goodput_interval=(mb_per_s * 0.9, mb_per_s * 1.1),
                    wire_bytes=(size + 50.0, size + 70.0),
                )
            )
    return replace(run, cells=tuple(cells), comparisons=(), checks=())


def test_three_sizes_of_one_setting_are_one_table_whatever_their_loads() -> None:
    [table] = by_size(a_sweep(10, 20, 30).cells)
    assert table.setting == "local · connections kept open · 1 in flight"
    assert [(row.request_bytes, row.reply_bytes) for row in table.rows] == [(10, 10), (20, 20), (30, 30)]
    assert [figures and figures.goodput_mb_per_s for figures in table.rows[1].cells] == [20.0, 40.0]
    assert table.rows[2].cells[0].wire_bytes == (80.0, 100.0)


def test_two_sizes_and_other_settings_make_no_table() -> None:
    run = a_sweep(10, 20, 30)
    assert by_size(a_sweep(10, 20).cells) == ()
    assert by_size(a_run(operations=2).cells) == ()
    apart = [cell.having(concurrency=number % 3 + 1) for number, cell in enumerate(run.cells)]
    assert by_size(apart) == ()


def test_a_stack_that_was_not_asked_with_a_size_has_no_figures_there() -> None:
    [table] = by_size(a_sweep(10, 20, 30).cells[:-1])
    assert table.rows[2].cells[1] is None


def test_terminal_json_and_report_show_goodput_and_bytes_on_the_wire_by_size() -> None:
    run = a_sweep(10, 20, 30)
    lines = "\n".join(answer_lines(run))
    assert "goodput by size, MB/s (95 % interval) · local" in lines
    assert "40.0 (36.0 to 44.0)" in lines
    assert "80 B, 100 B" in lines
    page = render(run)
    assert "goodput by size" in page
    assert "40.0 (36.0 to 44.0)" in page
    assert "goodput by size" not in render(a_run())


def test_the_summary_keeps_goodput_through_json() -> None:
    run = a_sweep(10, 20, 30)
    assert summary_of_json(run.to_json()).cells[3].goodput_interval == run.cells[3].goodput_interval


def test_an_interval_of_goodput_wider_than_a_factor_of_ten_is_left_out() -> None:
    run = a_sweep(10, 20, 30)
    cells = [replace(cell, goodput_interval=(1.0, 4000.0)) for cell in run.cells]
    vague = replace(run, cells=tuple(cells))
    lines = "\n".join(answer_lines(vague))
    assert "40.0" in lines
    assert "4,000" not in lines
