"""What of a stack's latency is its client's own is told where the run asked the same stack with a native client, too."""

from dataclasses import replace

import pytest

from orchestrator import quantities
from orchestrator.cli.answer import answer_lines
from orchestrator.experiment.plan.plan import Load
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.clients import words as client_words
from orchestrator.questions.clients.find import QUESTION as CLIENTS
from orchestrator.report.render import render
from orchestrator.summarise import summarise, summary_of_json
from tests.orchestrator.checks.test_invalid_controls import halved
from tests.support.runs import a_plan, a_run

STACKS = {"stacks": ("rest", "rest", "rest", "grpc"), "clients": ("quick", "thin", "heavy", "thin")}
TWICE = {"thin": 2.0, "heavy": 4.0}


def planned(*native: str, **given):
    plan = a_plan(**{**STACKS, **given})
    return replace(plan, resolved={stack: {"native": True} for stack in native})


def run_of(*native: str, spoil=None, effects=None, **given) -> RunSummary:
    return summarise(a_run(planned(*native, **given), effects=effects or TWICE, spoil=spoil))


def test_each_client_of_the_same_stack_is_held_against_the_native_one():
    summary = run_of("rest-quick")
    medians = {cell.stack: cell.distribution.median for cell in summary.cells}
    thin, heavy = CLIENTS.of(summary)
    assert [(of.client, of.native, of.stack) for of in (thin, heavy)] == [
        ("thin", "quick", "rest (plain)"),
        ("heavy", "quick", "rest (plain)"),
    ]
    assert (thin.median, thin.native_median) == (medians["rest-thin"], medians["rest-quick"])
    assert thin.difference == pytest.approx(medians["rest-thin"] - medians["rest-quick"])
    assert thin.share == pytest.approx(1 - medians["rest-quick"] / medians["rest-thin"])
    for of, true in ((thin, 0.5), (heavy, 0.75)):
        assert of.share_interval[0] < true < of.share_interval[1]
        assert of.difference_interval == pytest.approx([bound * of.median for bound in of.share_interval])
        assert of.standing == "slower"


def test_terminal_report_and_json_say_it():
    summary = run_of("rest-quick")
    said = client_words.sentence(CLIENTS.of(summary))
    assert said.startswith("The client's own share of the median latency: rest (plain) against quick: thin ")
    lines = "\n".join(answer_lines(summary, width=500))
    page = render(summary)
    (row, _) = client_words.rows(CLIENTS.of(summary))
    thin = CLIENTS.of(summary)[0]
    assert row[3].startswith(f"{quantities.ms(thin.median)} (")
    assert row[7].startswith(f"{quantities.percent(thin.share)} (")
    for text in (row[3], row[6], row[7], client_words.NOTE.split(";")[0]):
        assert text in " ".join(lines.split())
        assert text in page.replace("&#39;", "'")
    assert 'id="client-overhead"' in page
    assert summary_of_json(summary.to_json()) == summary


def test_a_run_without_a_native_client_says_nothing_of_it():
    summary = run_of()
    assert CLIENTS.of(summary) == ()
    assert '<section id="clients">' not in render(summary)


def test_a_client_that_is_quicker_than_the_native_one_has_a_share_below_none():
    (of,) = CLIENTS.of(run_of("rest-heavy", stacks=("rest", "rest"), clients=("heavy", "thin")))
    assert of.share == pytest.approx(-1.0, abs=0.1)
    assert of.difference < 0
    assert of.standing == "faster"


def test_a_client_as_quick_as_the_native_one_is_a_tie_whose_interval_holds_none():
    (of,) = CLIENTS.of(run_of("rest-heavy", stacks=("rest", "rest"), clients=("heavy", "thin"), effects={"x": 1.0}))
    assert of.share_interval[0] < 0 < of.share_interval[1]
    assert of.standing in ("tie", "not resolved")


def test_an_invalid_cell_has_no_share_and_the_reason_stands_there():
    summary = run_of("rest-quick", spoil=halved("rest-quick"))
    assert {(of.share, of.difference, of.standing) for of in CLIENTS.of(summary)} == {(None, None, "cannot tell")}
    assert "failed" in client_words.rows(CLIENTS.of(summary))[0][-1]
    assert "thin not known (" in client_words.sentence(CLIENTS.of(summary))


def test_too_few_blocks_give_a_share_without_an_interval():
    summary = run_of("rest-quick", blocks=2)
    thin = CLIENTS.of(summary)[0]
    assert (thin.share is not None, thin.share_interval, thin.difference_interval) == (True, None, None)
    assert client_words.rows(CLIENTS.of(summary))[0][7] == quantities.percent(thin.share)


def test_an_interval_that_says_next_to_nothing_is_cut_and_not_spelled_out():
    summary = run_of("rest-quick")
    wide = replace(CLIENTS.of(summary)[0], share_interval=(-35_042_738.0, 1.0), difference_interval=(-9e9, 0.4))
    said, row = client_words.sentence([wide]), client_words.rows([wide])[0]
    assert said.endswith(" (under -1,000 to 100 %).")
    assert "(under -" in row[6]
    assert not any("35042738" in text or "00000" in text for text in (said, *row))


def test_several_settings_are_told_by_their_range():
    ways = [{"connection": "reuse"}, {"connection": "per-request"}]
    summary = run_of("rest-quick", calls=ways, load=Load(concurrency=1, requests=300))
    assert len(CLIENTS.of(summary)) == 4
    assert " in 2 settings" in client_words.sentence(CLIENTS.of(summary))
