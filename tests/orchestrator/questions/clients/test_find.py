"""What of a stack's latency is its client's own is told where the run asked the same stack with a native client, too."""

from dataclasses import replace

import pytest

from orchestrator.findings.summary import RunSummary
from orchestrator.questions.clients import words as client_words
from orchestrator.questions.clients.find import QUESTION as CLIENTS
from orchestrator.summarise import summarise
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


def test_an_invalid_cell_has_no_share_and_the_reason_stands_there():
    summary = run_of("rest-quick", spoil=halved("rest-quick"))
    assert {(of.share, of.difference, of.standing) for of in CLIENTS.of(summary)} == {(None, None, "cannot tell")}
    assert "failed" in client_words.rows(CLIENTS.of(summary))[0][-1]
    assert "thin not known (" in client_words.sentence(CLIENTS.of(summary))
