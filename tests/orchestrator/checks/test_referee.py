"""The check *referee*: made-up runs beside made-up turns, in agreement and not."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from typing import Any

import pytest

from orchestrator.checks import run_checks
from orchestrator.checks.ends import referee
from orchestrator.evidence.collect import collect
from orchestrator.evidence.run_evidence import RunEvidence
from orchestrator.findings.check_result import CheckResult
from orchestrator.results.manifest import RefereeRecord, RefereeTool, TurnRecord
from orchestrator.wording.checks.sentences import explanation
from tests.support.runs import a_plan, a_run

WITHIN = 0.25


@pytest.fixture(scope="module")
def sound() -> RunEvidence:
    return collect(a_run(a_plan(blocks=6)), {})


def beside(
    run: RunEvidence,
    *,
    median: float = 1.0,
    rate: float = 1.0,
    scatter: float = 0.0,
    tools: bool = True,
    lost: bool = False,
) -> RunEvidence:
    """The run with turns whose figures times these factors are ours; every other round so much above and below."""
    turns = []
    for cell in run.cells:
        for trial in cell.trials:
            assert trial.summary is not None
            assert trial.summary.median is not None
            jitter = exp(scatter if trial.record.block % 2 else -scatter)
            figures: dict[str, Any] = {
                "requests": round(trial.summary.throughput_per_s * 100 / rate * jitter),
                "window_s": 100.0,
                "median_ns": trial.summary.median * 1e6 / median * jitter,
            }
            turns.append(
                TurnRecord(
                    index=trial.record.index,
                    block=trial.record.block,
                    cell=cell.cell.id,
                    attempt=0,
                    tool="wrk",
                    came_first=False,
                    started_wall_ns=0,
                    **({"failure": "it crashed"} if lost else figures),
                )
            )
    settings = RefereeRecord(
        tools={"wrk": RefereeTool(version="4.1.0", sha256="", within=WITHIN)},
        cells={cell.cell.id: "wrk" for cell in run.cells} if tools else {},
        refused={} if tools else {cell.cell.id: "a good reason" for cell in run.cells},
    )
    return replace(run, manifest=replace(run.manifest, referee=settings, turns=tuple(turns)))


def judgement(run: RunEvidence, client: str | None = None) -> list[CheckResult]:
    if client is not None:
        run = replace(run, cells=tuple(replace(c, stack=replace(c.stack, client=client)) for c in run.cells))
    return [result for result in run_checks(run) if result.name == referee.NAME]


def default_clients(run: RunEvidence) -> RunEvidence:
    from orchestrator.catalogue.read import protocols

    def default(cell: Any) -> str:
        return protocols()[cell.stack.protocol].default_client(cell.cell.load.concurrency).name

    return replace(run, cells=tuple(replace(c, stack=replace(c.stack, client=default(c))) for c in run.cells))


def test_figures_that_agree_pass_with_both_ratios(sound: RunEvidence) -> None:
    for result in judgement(beside(sound, median=1.1, rate=0.95, scatter=0.02)):
        assert result.verdict == "pass"
        assert "Ours over wrk 4.1.0, in 6 rounds: median 1.1" in explanation(result)
        assert result.evidence["median_ms"]["ratio"] == pytest.approx(1.1, rel=0.01)
        assert result.evidence["rate_per_s"]["ratio"] == pytest.approx(0.95, rel=0.01)


@pytest.mark.parametrize(
    "factors", [{"median": 0.7}, {"rate": 2.0}, {"median": 1.5, "rate": 0.6}, {"rate": 0.7}, {"median": 1.4}]
)
def test_figures_that_differ_fail_either_way(factors: dict[str, float], sound: RunEvidence) -> None:
    results = judgement(beside(default_clients(sound), scatter=0.01, **factors))
    assert {result.verdict for result in results} == {"fail"}
    assert all(result.severity == "serious" and "differ by more than 25%" in explanation(result) for result in results)


def test_rounds_that_scatter_cannot_tell(sound: RunEvidence) -> None:
    assert {result.verdict for result in judgement(beside(sound, scatter=0.5))} == {"cannot tell"}


def test_a_client_that_is_not_the_default_may_be_slower_by_its_own_work_but_not_quicker(sound: RunEvidence) -> None:
    slower = judgement(beside(sound, median=1.5, rate=0.6), client="requests")
    assert {result.verdict for result in slower} == {"warn"}
    assert "the work of requests is in it" in explanation(slower[0])
    assert {r.verdict for r in judgement(beside(sound, median=0.6, rate=1.5), client="requests")} == {"fail"}


def test_turns_without_figures_cannot_tell(sound: RunEvidence) -> None:
    results = judgement(beside(sound, lost=True))
    assert {result.verdict for result in results} == {"cannot tell"}
    assert "wrk gave no figures" in explanation(results[0])


def test_a_cell_that_none_can_ask_says_why(sound: RunEvidence) -> None:
    results = judgement(beside(sound, tools=False))
    assert {result.verdict for result in results} == {"not applicable"}
    assert "a good reason" in explanation(results[0])


def test_two_rounds_are_too_few() -> None:
    results = judgement(beside(collect(a_run(a_plan(blocks=2)), {})))
    assert {result.verdict for result in results} == {"cannot tell"}
    assert "Too few rounds" in explanation(results[0])


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((0.8, 1.25), "agrees"),
        ((0.799, 1.0), "cannot tell"),
        ((1.0, 1.251), "cannot tell"),
        ((1.26, 1.3), "differs"),
        ((0.5, 0.79), "differs"),
        ((0.5, 2.0), "cannot tell"),
    ],
)
def test_the_limits_are_as_far_below_as_above(interval: tuple[float, float], expected: str) -> None:
    assert referee.agreement(interval, WITHIN) == expected
