"""Cells are compared by what was asked: a known effect of a factor is found, none is a tie, and all share one family."""

from dataclasses import replace

import numpy as np

from orchestrator.experiment.plan.plan import Contrast
from orchestrator.findings.compare import compare_cells
from orchestrator.findings.summary import RunSummary
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from tests.support.runs import Draft, a_plan, a_run

BY_CONNECTION = Contrast(factor="connection", references=("per-request",))
BY_COMPRESSION = Contrast(factor="compression", references=("none",))
KEPT_OR_NOT = [{"connection": "reuse"}, {"connection": "per-request"}]
GZIP_OR_NOT = [
    {"connection": "reuse", "compression": "none"},
    {"connection": "reuse", "compression": "gzip"},
]


def kept_or_not(**given) -> RunSummary:
    plan = a_plan(
        **{"stacks": ("grpc",), "calls": KEPT_OR_NOT, "contrasts": [BY_CONNECTION]} | given.pop("planned", {})
    )
    return summarise(a_run(plan, **{"effects": {"per-request": 1.8}} | given))


def gzip_or_not(**given) -> RunSummary:
    plan = a_plan(**{"calls": GZIP_OR_NOT, "contrasts": [BY_COMPRESSION]} | given.pop("planned", {}))
    return summarise(a_run(plan, **given))


def medians(run: RunSummary):
    return [c for c in run.comparisons if c.statistic == "median" and not c.control]


def test_what_failed_comes_before_any_latency():
    def fails(draft: Draft) -> None:
        if draft.cell.factors["compression"] == "gzip":
            measured = draft.columns["phase"] == 1
            draft.columns["status"][measured] = 4
            draft.done["errors"] = {"timeout": int(measured.sum())}

    run = gzip_or_not(planned={"stacks": ("grpc",)}, spoil=fails)
    (found,) = medians(run)
    assert found.standing == "cannot tell"
    assert found.reason.kind is ReasonKind.CENSORED


def test_of_equal_sides_one_is_called_quicker_in_few_runs_over_both_kinds():
    ways = [{"connection": way, "compression": how} for way in ("reuse", "per-request") for how in ("none", "gzip")]
    plan = a_plan(calls=ways, contrasts=[Contrast(), BY_CONNECTION, BY_COMPRESSION])
    plan = replace(plan, matters=0.001)  # so that no tie hides a winner
    cells = summarise(a_run(plan, baselines=False)).cells
    rng, runs, wrong = np.random.default_rng(7), 300, 0
    for _ in range(runs):
        made = [
            replace(
                cell,
                trials=tuple(
                    replace(t, median=float(np.exp(rng.normal(0, 0.05))), p99=None, unsent_moves={})
                    for t in cell.trials
                ),
            )
            for cell in cells
        ]
        found = [c for c in compare_cells(plan, made) if c.statistic == "median"]
        assert len(found) == 12
        wrong += any(c.standing in ("faster", "slower") for c in found)
    assert wrong / runs < 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


def test_controls_stay_out_of_the_family_and_widen_what_is_compared_in_their_setting():
    run = kept_or_not(planned={"controls": 2})
    assert [c.factor for c in run.comparisons if c.control and c.statistic == "median"] == ["stack"] * 4
    (found,) = medians(run)
    assert not found.control
