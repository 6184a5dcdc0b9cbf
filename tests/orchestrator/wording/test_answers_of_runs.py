"""The short answer of synthetic runs from their samples on: each kind of question has its own first sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from orchestrator.wording.answer import Answer, answer
from tests.support import made_up
from tests.support.drafts import Draft
from tests.support.runs import MemoryRun, a_plan, a_run

LOAD = p.Load(concurrency=1, requests=200)


def answer_of(run: MemoryRun) -> Answer:
    return answer(summarise(run))


def in_grpc(spoil: Callable[[Draft], None]) -> Callable[[Draft], None]:
    return lambda draft: spoil(draft) if "grpc" in draft.cell.stack else None


def test_where_the_reference_failed_the_others_are_compared_with_a_valid_one() -> None:
    def in_rest(draft: Draft) -> None:
        if "rest" in draft.cell.stack:
            made_up.another_responder(draft)

    summary = summarise(a_run(a_plan(stacks=("rest", "grpc", "http+cbor"), load=LOAD), spoil=in_rest))
    stacks = {cell.id: cell.labels.stack for cell in summary.cells}
    by_median = {stacks[c.cell]: c for c in summary.comparisons if c.statistic == "median"}
    assert {stacks[c.reference_cell] for c in by_median.values()} == {"grpc (thin)"}
    assert {stack: c.ratio is None for stack, c in by_median.items()} == {
        "rest (thin)": True,
        "http+cbor (thin)": False,
    }
    assert answer(summary).fastest
    assert "rest (thin)" not in answer(summary).fastest


def test_a_run_that_was_cut() -> None:
    run = a_run(load=LOAD)
    result = answer_of(replace(run, stored=replace(run.stored, trials=run.stored.trials[:4], state="interrupted")))
    assert result.cannot_answer
    assert result.invalid_because == "it was interrupted after 4 of 10 trials"
    assert all(table.title.startswith("not valid: ") for table in result.tables)
