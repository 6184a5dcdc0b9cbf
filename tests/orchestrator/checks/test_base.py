"""The one rule by which times and shares fail: the stack is the cause, in most blocks, and more than what disturbs all."""

import numpy as np
import pytest

from orchestrator.checks.base import fails, in_most, is_of_the_stack, passes
from orchestrator.findings.check_result import CheckResult, Overload
from services.python.contract.lines import Load
from tests.support.drafts import Draft
from tests.support.event_runs import a_stream_run
from tests.support.judged import of
from tests.support.runs import US, Spoil, a_run

BLOCKS = 5
RATE = Load(concurrency=64, requests=2_000, rate_per_s=500.0)


def every(share: float) -> dict[int, float]:
    return dict.fromkeys(range(BLOCKS), share)


@pytest.mark.parametrize(
    ("by_block", "beside", "is_its_own"),
    [
        (every(0.4), (), True),
        (every(0.2), (), False),
        ({0: 0.9, 1: 0.9, 2: 0.1, 3: 0.1, 4: 0.1}, (), False),  # two of five
        ({0: 0.9, 1: 0.9, 2: 0.9, 3: 0.1, 4: 0.1}, (), True),
        ({0: 0.9}, (), False),
        ({0: 0.9, 1: 0.9}, (), False),
        (every(0.4), (every(0.3), every(0.35)), False),  # all alike
        (every(0.4), (every(0.0), every(0.05)), True),
        (every(0.4), ({0: 0.4, 1: 0.4, 2: 0.4},), False),  # in these blocks the machine was disturbed
        (every(0.4), ({0: 0.4, 1: 0.4},), True),
        (every(0.4), (every(-0.5),), True),
        ({}, (), False),
    ],
)
def test_the_stack_is_the_cause(
    by_block: dict[int, float], beside: tuple[dict[int, float], ...], is_its_own: bool
) -> None:
    assert is_of_the_stack(by_block, 0.3, beside) is is_its_own


@pytest.mark.parametrize(("failing", "verdict"), [((), "pass"), ((0, 1), "warn"), ((0, 1, 2), "fail"), ((0,), "warn")])
def test_what_some_trials_show_is_a_warning_without_an_overload(failing: tuple[int, ...], verdict: str) -> None:
    overload = Overload(planned_per_s=100.0, delivered_per_s=50.0)
    findings = [
        fails("slow", {"trial": trial}, overload=overload) if trial in failing else passes("quick", {"trial": trial})
        for trial in range(BLOCKS)
    ]
    judged = in_most(findings, BLOCKS)
    assert {finding.verdict for finding in judged} == ({"pass", verdict})
    assert {f.overload for f in judged if f.evidence["trial"] in failing} <= {overload if verdict == "fail" else None}


def late(draft: Draft) -> None:
    """Half of the planned rate is sent."""
    rows = draft.columns
    rows["sent_ns"] = 2 * rows["intended_ns"] - rows["intended_ns"].min()
    rows["received_ns"] = rows["sent_ns"] + 300 * US


def queueing(draft: Draft) -> None:
    draft.columns["received_ns"] += np.argsort(np.argsort(draft.columns["sequence"])) * 20 * US


def in_blocks(spoil: Spoil, blocks: int) -> Spoil:
    return lambda draft: spoil(draft) if draft.block < blocks and "grpc" in draft.cell.stack else None


def of_grpc(results: list[CheckResult]) -> CheckResult:
    return next(result for result in results if result.cell and "grpc" in result.cell)


@pytest.mark.parametrize(("spoil", "check", "share"), [(late, "offered load", 0.5), (queueing, "queueing ramp", None)])
def test_a_rate_that_most_trials_do_not_carry_is_an_overload_of_that_stack(
    spoil: Spoil, check: str, share: float | None
) -> None:
    most, some = (of_grpc(of(a_run(load=RATE, spoil=in_blocks(spoil, n)), check)) for n in (3, 2))
    assert (most.verdict, some.verdict, some.overload) == ("fail", "warn", None)
    assert most.overload is not None
    assert most.overload.planned_per_s == RATE.rate_per_s
    delivered = most.overload.delivered_per_s
    assert delivered == (None if share is None else pytest.approx(share * 500.0, rel=0.02))


def slow_sender(draft: Draft) -> None:
    rows = draft.columns
    events = rows["sender_ns"] > 0
    first = rows["sender_ns"][events].min()
    later = ((rows["sender_ns"] - first) * 0.25).astype(np.int64)
    rows["sender_ns"] += np.where(events, later, 0)
    rows["received_ns"] += np.maximum(later, 0)
    for clock in draft.done["anchor_end"]:
        draft.done["anchor_end"][clock] += 10**10


def test_a_sender_that_keeps_four_fifths_of_its_rate_in_most_trials_is_an_overload() -> None:
    def results(blocks: int) -> list[CheckResult]:
        return of(
            a_stream_run(spoil=lambda draft: slow_sender(draft) if draft.block < blocks else None), "event stream"
        )

    most, some = results(BLOCKS)[0], results(1)[0]
    assert (most.verdict, some.verdict, some.overload) == ("fail", "warn", None)
    assert most.overload is not None
    assert most.overload.delivered_per_s == pytest.approx(0.8 * most.overload.planned_per_s, rel=0.03)
