"""A stall that a closed loop hides is found where requests at an even pace would meet it, and nowhere else."""

from __future__ import annotations

from collections.abc import Container

import numpy as np
import pytest

from orchestrator.questions.stalls.find import QUESTION, Stall
from orchestrator.summarise import summarise
from orchestrator.wording.answer import answer
from orchestrator.wording.other_questions import of_stalls
from tests.support.drafts import Draft
from tests.support.findings import with_findings
from tests.support.runs import a_run


def stalled(draft: Draft, *, ms: int = 400, blocks: Container[int] = range(1, 9)) -> None:
    """The responder is silent for so long, once in each of the blocks: one request waits, and the next are sent later."""
    if "rest" not in draft.cell.stack or draft.block not in blocks:
        return
    rows = draft.columns
    order = np.argsort(rows["sent_ns"], kind="stable")
    place = order[order.size // 2]
    after = rows["sent_ns"] > rows["sent_ns"][place]
    for name in ("intended_ns", "sent_ns", "received_ns"):
        rows[name][after] += ms * 1_000_000
    rows["received_ns"][place] += ms * 1_000_000


def test_a_stall_is_found_that_the_measured_p99_hides() -> None:
    summary = summarise(a_run(spoil=stalled))
    (stall,) = QUESTION.of(summary)
    assert stall.stack_label == "rest (thin)"
    assert stall.stalled == stall.trials - 1
    assert stall.longest == pytest.approx(400, rel=0.01)
    assert stall.p99 < 2 < 300 < stall.even_p99 < 400
    run = with_findings(summarise(a_run()), stalls=(stall,))
    assert [line.head for line in answer(run).lines].count("Stalls") == 1


def test_no_stall_is_found_without_one_or_in_one_that_an_even_pace_hardly_meets() -> None:
    assert QUESTION.of(summarise(a_run())) == ()
    assert QUESTION.of(summarise(a_run(spoil=lambda draft: stalled(draft, ms=2)))) == ()
    assert QUESTION.of(summarise(a_run(spoil=lambda draft: stalled(draft, blocks=(1,))))) == ()  # the machine paused


def test_the_sentence_names_the_worst_stall_and_counts_the_others() -> None:
    stall = Stall(
        cell="rest", stack_label="rest", setting="add", longest=400.0, p99=1.0, even_p99=352.0, stalled=1, trials=5
    )
    text = "rest waited up to 400 ms for a reply; had requests gone on at an even pace, p99 would be 352 ms (1 of 5 repeats"
    assert of_stalls([stall]) == f"{text})."
    assert of_stalls([stall] * 3) == f"{text}; also in 2 more rows)."
    assert of_stalls([]) == ""
