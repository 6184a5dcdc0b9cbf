"""How a run ends in the terminal: the short answer and one small table; all else on request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.cli.short_answer import short_lines
from orchestrator.findings.summary import RunSummary
from orchestrator.report import render
from orchestrator.summarise import summarise, summary_of_json
from orchestrator.wording.answer import answer
from orchestrator.wording.axis_tables import tables
from tests.support.concluded import check, setting, summary
from tests.support.pages import Document
from tests.support.runs import a_run


def test_a_table_has_stack_median_difference_and_checks() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2}))
    run = replace(run, checks=(check("tail shape", run.cells[1].id, "warn"),))
    lines = list(short_lines(run))
    head = next(line for line in lines if "median, µs" in line)
    rest, grpc = lines[lines.index(head) + 2], lines[lines.index(head) + 1]
    assert head.split("  ")[1] == "stack"
    assert rest.split() == ["rest", "300.0", "reference", "ok"]
    assert grpc.split() == ["grpc", "200.0", "-100.0", "(-103.9", "to", "-96.0)", "warn:", "tail", "shape"]


def test_as_many_stacks_as_the_quickstart_has_end_in_25_lines() -> None:
    stacks = (
        "rest",
        "grpc",
        "cbor",
        "avro",
        "msgpack",
        "websocket",
        "socketio",
        "graphql",
        "connect",
        "protobuf",
        "json",
    )
    run = summary(setting({stack: 0.1 + number / 10 for number, stack in enumerate(stacks)}))
    lines = list(short_lines(run, width=100))
    assert len(lines) <= 23  # and two of run and report
    assert all(any(f"  {stack} " in line for line in lines) for stack in stacks)


def test_many_settings_are_cut_and_counted() -> None:
    ways = ("none", "gzip", "zstd")
    run = summary(
        *(setting({"rest": 0.3, "grpc": 0.2}, compression=way, tls=tls) for way in ways for tls in ("none", "tls1.3"))
    )
    lines = list(short_lines(run))
    assert len(lines) <= 25
    assert any(line.startswith("... and ") and line.endswith(" more lines") for line in lines)
    assert lines[-1].startswith("everything else: the report, or `orch runs show latest --full`")


def test_a_run_along_an_axis_has_a_table_for_its_operation() -> None:
    run = summary(*(setting({"rest": 0.3, "grpc": 0.2}, concurrency=n) for n in (1, 2, 4, 8)))
    lines = list(short_lines(run))
    assert [line.split() for line in lines if line.startswith(("  rest", "  grpc"))] == [
        ["rest", *["300"] * 4],
        ["grpc", *["200"] * 4],
    ]
    assert not any(line.startswith("... and ") for line in lines)


def test_tables_without_room_are_counted() -> None:
    loads = [(n, think) for n in (1, 4) for think in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]
    run = summary(*(setting({"rest": 0.3, "grpc": 0.2}, concurrency=n, think=think) for n, think in loads))
    lines = list(short_lines(run))
    shown = sum(line.startswith("add · ") for line in lines)
    assert (len(tables(run)), shown) == (6, 4)
    assert "... and 2 more tables" in lines


def test_a_cell_that_failed_has_no_difference() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2}))
    run = replace(run, checks=(check("reply", run.cells[1].id),))
    row = next(line for line in short_lines(run) if line.startswith("  grpc"))
    assert row.split() == ["grpc", "200.0", "-", "failed:", "reply"]


@pytest.fixture(scope="module")
def measured() -> RunSummary:
    return summarise(a_run())


def test_report_terminal_and_json_say_the_same(measured: RunSummary) -> None:
    shown = Document(render(measured)).text.replace("\u00a0", " ")
    lines = " ".join(short_lines(measured, width=10_000))
    for text in answer(measured).sentences:
        assert text.replace("`", "") in shown
        assert text in lines
    assert answer(summary_of_json(measured.to_json())) == answer(measured)
