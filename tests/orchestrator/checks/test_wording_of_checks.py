"""Checks name trials and connections as tables and captions do."""

import re

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from orchestrator.wording.answer import answer
from tests.support.runs import a_run


def test_a_trial_is_named_by_the_block_that_the_tables_show():
    def again(draft):
        if draft.block == 2 and "grpc" in draft.cell.stack:
            draft.done["wire"] |= {"retransmits": 400, "segments_sent": 2000}

    (result,) = (r for r in summarise(a_run(spoil=again)).checks if (r.name, r.verdict) == ("lost packets", "warn"))
    assert "in block 3 (trial 6) of" in result.explanation
    assert (result.evidence["block"], result.evidence["trial"]) == (3, 5)  # JSON keeps the index of the trial


def test_the_connections_that_were_opened_besides_are_counted_in_words():
    def not_kept(draft):
        draft.columns["connection"] = np.arange(draft.columns["sent_ns"].size)
        draft.done["connections_opened"] = draft.done["requests"]

    run = a_run(spoil=not_kept, stacks=("rest",))
    (result,) = (r for r in summarise(run).checks if r.name == "connections")
    assert result.verdict == "fail"
    assert "beyond the declared 1 connection kept open." in result.explanation


@pytest.mark.parametrize(("requests", "policy"), [(1, "reuse"), (1, "per-request"), (2, "reuse")])
def test_one_of_a_thing_is_one(requests, policy):
    """A smoke test of a single trial and request: counts agree with their nouns in checks, labels and sentences."""
    run = a_run(blocks=1, warmup=1, connection=policy, load=p.Load(concurrency=1, requests=requests))
    summary = summarise(run)
    texts = [f"{c.explanation} {c.action}" for c in summary.checks]
    texts += [*answer(summary).sentences, *(cell.load for cell in summary.cells)]
    wrong = re.compile(r"(?<![\d.,/])1 (requests|trials|blocks|connections|kept connections|peers|replies)\b")
    assert [text for text in texts if wrong.search(text)] == []
