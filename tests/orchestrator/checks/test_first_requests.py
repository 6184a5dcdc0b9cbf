"""Where nothing is warmed up, *connections* warns of first requests that stand out: connecting may be in them."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.findings.check_result import CheckResult
from orchestrator.summarise import summarise
from tests.support.drafts import Draft
from tests.support.runs import MS, Spoil, a_run

BLOCKS = 4


def found(spoil: Spoil | None = None, *, warmup: int = 0) -> list[CheckResult]:
    run = a_run(blocks=BLOCKS, warmup=warmup) if spoil is None else a_run(blocks=BLOCKS, warmup=warmup, spoil=spoil)
    return [check for check in summarise(run).checks if check.name == "connections"]


def take(draft: Draft, latency_ns: int) -> None:
    """The first measured request takes so long."""
    columns = draft.columns
    first = np.flatnonzero(columns["phase"] == 1)[0]
    columns["received_ns"][first] = columns["sent_ns"][first] + latency_ns


def quick(draft: Draft) -> None:
    take(draft, int(np.median(draft.columns["received_ns"] - draft.columns["sent_ns"])))


def test_a_first_request_that_stands_out_in_every_trial_is_warned_of():
    checks = found()
    assert {check.verdict for check in checks} == {"warn"}
    assert all("Nothing was warmed up, and in 4 trials the first request takes" in c.explanation for c in checks)


def test_one_like_the_others_is_not():
    assert {check.verdict for check in found(quick)} == {"pass"}


@pytest.mark.parametrize(("slow", "verdict"), [(1, "pass"), (3, "warn")])
def test_it_takes_more_than_one_trial(slow: int, verdict: str):
    def spoil(draft: Draft) -> None:
        if draft.block >= slow:
            quick(draft)

    assert {check.verdict for check in found(spoil)} == {verdict}


def test_behind_a_warm_up_nothing_of_a_connection_is_opened():
    assert {check.verdict for check in found(lambda draft: take(draft, 40 * MS), warmup=50)} == {"pass"}
