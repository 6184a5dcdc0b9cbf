"""Cells are compared by what was asked: a known effect of a factor is found, none is a tie, and all share one family."""

from dataclasses import replace

import numpy as np

from orchestrator.between_runs.across import compare_within
from orchestrator.cli.answer import answer_lines
from orchestrator.experiment.plan.plan import Contrast, Operation
from orchestrator.findings.compare import STATISTICS, compare_cells
from orchestrator.findings.cost import COST_NAMES
from orchestrator.findings.power import planned_comparisons
from orchestrator.findings.summary import RunSummary
from orchestrator.report.render import render
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise, summary_of_json
from tests.support.runs import Draft, a_plan, a_run

BY_CONNECTION = Contrast(factor="connection", references=("per-request",))
BY_COMPRESSION = Contrast(factor="compression", references=("none",))
KEPT_OR_NOT = [{"connection": "reuse"}, {"connection": "per-request"}]
GZIP_OR_NOT = [
    {"connection": "reuse", "compression": "none"},
    {"connection": "reuse", "compression": "gzip"},
]
ECHO = Operation(
    id="echo",
    name="echo",
    label="echo 100 B",
    payload={"kind": "bytes", "size": 100},
    request_bytes=100,
    reply_bytes=100,
)


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


def test_a_kept_connection_is_compared_with_a_connection_per_request_in_these_words():
    run = kept_or_not()
    (found,) = medians(run)
    assert (found.factor, found.standing) == ("connection", "faster")
    assert found.interval[0] < 1 / 1.8 < found.interval[1]
    assert (found.stack_label, found.reference_label) == (
        "grpc (thin) with a kept connection",
        "grpc (thin) with a connection per request",
    )


def test_no_effect_is_a_tie_within_what_matters():
    run = gzip_or_not(planned={"blocks": 10})
    assert [c.standing for c in medians(run)] == ["tie", "tie"]


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


def test_both_kinds_of_comparison_are_one_family(monkeypatch):
    sizes = []
    corrected = intervals.holm
    monkeypatch.setattr(intervals, "holm", lambda p: sizes.append(len(p)) or corrected(p))
    plan = a_plan(calls=KEPT_OR_NOT, contrasts=[Contrast(), BY_CONNECTION])
    both = medians(summarise(a_run(plan, effects={"per-request": 1.8})))
    assert [c.factor for c in both] == ["stack", "stack", "connection", "connection"]
    families = len(STATISTICS) + len(COST_NAMES)  # one of each; behind them those of the scorecard alone
    assert sizes[:families] == [planned_comparisons(plan)] * families == [4] * families


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


def test_several_references_are_a_sentence_each_and_no_pair_is_compared_twice():
    stacks = ("rest", "grpc", "graphql")
    plan = a_plan(stacks=stacks, contrasts=[Contrast(references=("rest-thin", "grpc-thin"))])
    run = summarise(a_run(plan))
    assert [(c.stack, c.reference_label) for c in medians(run)] == [
        ("grpc-thin", "rest (thin)"),
        ("graphql-thin", "rest (thin)"),
        ("graphql-thin", "grpc (thin)"),
    ]


def test_controls_stay_out_of_the_family_and_widen_what_is_compared_in_their_setting():
    run = kept_or_not(planned={"controls": 2})
    assert [c.factor for c in run.comparisons if c.control and c.statistic == "median"] == ["stack"] * 4
    (found,) = medians(run)
    assert not found.control


def test_terminal_report_and_json_hold_the_comparison():
    run = gzip_or_not(effects={"gzip": 1.4}, planned={"operation": ECHO})
    found = run
    text = "\n".join(answer_lines(found, width=300))
    assert "no compression" in text
    assert "+4" in text or "+3" in text
    page = render(run)
    assert "grpc (thin) with gzip" in page
    assert "no compression" in page
    rows = compare_within(run, "median").rows
    assert rows[0].label == "rest (thin) with gzip against rest (thin) with no compression"
    assert summary_of_json(run.to_json()) == run
