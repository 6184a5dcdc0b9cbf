"""What stands in a page beside its charts, and where a page is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orchestrator.findings.opening import NOT_TOLD, CellOpening
from orchestrator.report import default_path, render
from tests.support.pages import Cell, Document
from tests.support.summaries import a_run

RUN = a_run(stacks=1)


def test_the_reports_name_says_experiment_date_and_run():
    assert str(default_path(RUN, Path("reports"))) == "reports/six-protocols-2026-11-21-20261121-025500-4f3a.html"
    assert str(default_path(replace(RUN, name="../../etc/passwd"), Path("reports"))).startswith("reports/etc-passwd-")


def test_what_was_not_sent_stands_in_the_tables():
    run = a_run(stacks=1)
    cell = run.cells[0]
    trials = (replace(cell.trials[0], not_sent=1234), *cell.trials[1:])
    document = Document(render(replace(run, cells=(replace(cell, not_sent=1234, trials=trials),))))
    assert document.text.count("1,234 not sent") == 3
    assert "percentiles of those sent" in document.text
    few = replace(run, cells=(replace(cell, not_sent=3),))
    assert "percentiles of those sent" not in Document(render(few)).text


def test_tcp_floors_of_one_table_say_which_bodies_they_carried():
    run = a_run(stacks=2)
    (tcp,) = (floor for floor in run.floors if floor.kind == "tcp")
    assert "tcp 16 B sent" not in Document(render(run)).text
    text = " ".join(Document(render(replace(run, floors=(*run.floors, replace(tcp, receive_bytes=9000))))).text.split())
    assert "tcp 16 B sent, 8 B received" in text
    assert "tcp 16 B sent, 9,000 B received" in text


def test_a_check_names_its_trial_counted_from_one():
    run = a_run(stacks=2)
    check = replace(run.checks[0], evidence={"block": 3, "trial": 19, "trials": [0, 19]})
    text = Document(render(replace(run, checks=(check,)))).text
    assert "trial 20" in text
    assert "trials 1, 20" in text


TOLD = CellOpening(connections=10_000, told=50_000, connect=20.125, connect_interval=(20.1, 20.15))


def test_each_stack_has_its_connections_and_what_their_handshakes_took() -> None:
    run = a_run(stacks=3)
    secured = replace(TOLD, tls=21.5, tls_interval=(21.25, 21.75))
    openings = [TOLD, secured, CellOpening(connections=1)]
    cells = tuple(replace(cell, opening=opening) for cell, opening in zip(run.cells, openings, strict=True))
    cells = (cells[0], cells[1].having(tls="tls1.3"), cells[2].having(tls="tls1.3"))
    document = Document(render(replace(run, cells=cells)))
    found: dict[str, dict[str, Cell]] = {}
    for table in document.tables:
        if "How many connections carried" in table.caption:
            found |= {
                cell.stack_label: table.row(cell.stack_label) for cell in cells if cell.stack_label in str(table.rows)
            }
    first, second, third = (found[cell.stack_label] for cell in cells)
    assert first["Connections"].values == [10_000]
    assert first["TCP handshake, ms"].values == [20.125, 20.1, 20.15]
    assert first["TLS handshake, ms"].text == "none"
    assert first["Told of"].values == [50_000]
    assert second["TLS handshake, ms"].values == [21.5, 21.25, 21.75]
    assert (third["TCP handshake, ms"].text, third["TLS handshake, ms"].text) == (NOT_TOLD, NOT_TOLD)


def test_quic_has_one_handshake_and_no_tcp() -> None:
    run = a_run(stacks=2)
    told = CellOpening(connections=1, told=1, tls=21.5, tls_interval=(21.25, 21.75))
    cells = tuple(replace(cell, opening=told).having(tls="tls1.3", http="3") for cell in run.cells)
    document = Document(render(replace(run, cells=cells)))
    tables = [table for table in document.tables if "How many connections carried" in table.caption]
    row = tables[0].row(cells[0].stack_label)
    assert (row["TCP handshake, ms"].text, row["TLS handshake, ms"].values) == ("none", [21.5, 21.25, 21.75])
    assert "HTTP/3 has no TCP" in tables[0].caption
