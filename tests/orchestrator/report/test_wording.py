"""What stands beside tables and charts says what they show, and no more."""

from dataclasses import replace

from orchestrator.report import render
from tests.support.pages import Document
from tests.support.summaries import a_run


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
