"""Cells are compared by what was asked: a known effect of a factor is found, none is a tie, and all share one family."""

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.analysis import intervals
from orchestrator.analysis.across import compare_within
from orchestrator.analysis.answer import answer
from orchestrator.analysis.compare import STATISTICS, compare_cells
from orchestrator.analysis.cost import COST_NAMES
from orchestrator.analysis.power import planned_comparisons
from orchestrator.analysis.stored_summary import summary_of_json
from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.verdicts import verdicts
from orchestrator.cli.answer import answer_lines
from orchestrator.experiment.plan.plan import Contrast, Operation
from orchestrator.report.render import render
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
    first = answer(run).headline()[0]
    assert first.startswith("With a kept connection, grpc (thin) takes 4")
    assert " % less time than with a connection per request (4" in first
    assert first.endswith(" %).")


def test_the_other_way_round_says_more_time():
    run = kept_or_not(planned={"contrasts": [Contrast(factor="connection", references=("reuse",))]})
    assert "With a connection per request, grpc (thin) takes 8" in run.verdicts[0] or "takes 7" in run.verdicts[0]
    assert "% more time than with a kept connection (" in run.verdicts[0]


def test_twice_as_long_and_more_is_said_as_a_factor():
    run = kept_or_not(effects={"gzip": 3.0}, planned={"calls": GZIP_OR_NOT, "contrasts": [BY_COMPRESSION]})
    assert "times as long as with no compression (" in run.verdicts[0]
    assert run.verdicts[0].endswith(" times).")


def test_stacks_that_agree_share_a_sentence_which_is_not_said_again_of_a_single_setting():
    run = gzip_or_not(effects={"gzip": 1.4})
    general, *rest = run.verdicts
    assert general.startswith(
        "For both stacks, requests take more time with gzip than with no compression: rest (thin) "
    )
    assert "; grpc (thin) " in general
    assert not any(text.startswith("add, local, reuse") for text in rest)


def test_of_several_settings_each_has_a_sentence_of_its_own():
    calls = [{"connection": way, "compression": how} for way in ("reuse", "per-request") for how in ("none", "gzip")]
    run = kept_or_not(
        effects={"gzip": 1.4}, planned={"calls": calls, "contrasts": [BY_COMPRESSION], "stacks": ("rest", "grpc")}
    )
    said = [text for text in run.verdicts if text.startswith("add, local, ")]
    assert len(said) == 2
    assert all("With gzip, rest (thin) takes" in text and "grpc (thin) takes" in text for text in said)
    assert not any("fastest" in text or "against rest" in text for text in run.verdicts)


def test_no_effect_is_a_tie_within_what_matters():
    run = gzip_or_not(planned={"blocks": 10})
    assert [c.standing for c in medians(run)] == ["tie", "tie"]
    assert (
        run.verdicts[0] == "For both stacks, requests take as long with gzip as with no compression: a tie within 5 %."
    )


def test_stacks_that_do_not_agree_are_named_with_their_outcomes():
    run = gzip_or_not(planned={"blocks": 10}, effects={"rest gzip": 1.5})
    assert run.verdicts[0].startswith("With gzip rather than with no compression: rest (thin): takes ")
    assert "grpc (thin): a tie (equivalent within 5 %)" in run.verdicts[0]


def test_what_failed_comes_before_any_latency():
    def fails(draft: Draft) -> None:
        if draft.cell.factors["compression"] == "gzip":
            measured = draft.columns["phase"] == 1
            draft.columns["status"][measured] = 4
            draft.done["errors"] = {"timeout": int(measured.sum())}

    run = gzip_or_not(planned={"stacks": ("grpc",)}, spoil=fails)
    (found,) = medians(run)
    assert found.standing == "cannot tell"
    assert found.why.startswith("grpc (thin) with gzip: no request got a right reply")
    at = answer(run).answer_at
    assert at > 0
    assert "no request got a right reply" in " ".join(run.verdicts[:at])


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


def test_the_headline_answers_for_the_factor_and_for_the_stack():
    plan = a_plan(calls=KEPT_OR_NOT, contrasts=[Contrast(), BY_CONNECTION])
    said = answer(summarise(a_run(plan, effects={"per-request": 1.8}))).headline()
    assert said[0].startswith("For both stacks, requests take less time with a kept connection")
    assert said[1].startswith("grpc (thin) is faster than rest (thin) in both settings")


def test_several_references_are_a_sentence_each_and_no_pair_is_compared_twice():
    stacks = ("rest", "grpc", "graphql")
    plan = a_plan(stacks=stacks, contrasts=[Contrast(references=("rest-thin", "grpc-thin"))])
    run = summarise(a_run(plan))
    assert [(c.stack, c.reference_label) for c in medians(run)] == [
        ("grpc-thin", "rest (thin)"),
        ("graphql-thin", "rest (thin)"),
        ("graphql-thin", "grpc (thin)"),
    ]
    assert sum(text.startswith("add, local, reuse") for text in run.verdicts) == 2


def test_controls_stay_out_of_the_family_and_widen_what_is_compared_in_their_setting():
    run = kept_or_not(planned={"controls": 2})
    assert [c.factor for c in run.comparisons if c.control and c.statistic == "median"] == ["stack"] * 4
    (found,) = medians(run)
    assert not found.control


def test_terminal_report_and_json_hold_the_comparison():
    run = gzip_or_not(effects={"gzip": 1.4}, planned={"operation": ECHO})
    found = answer(run)
    text = "\n".join(answer_lines(found, width=300))
    assert "against no compression" in text
    assert "slower, 1.4" in text or "slower, 1.3" in text
    gzip, plain = (
        next(row for row in found.table if "gzip" in row.cell and "grpc" in row.cell),
        next(row for row in found.table if "gzip" not in row.cell and "grpc" in row.cell),
    )
    assert (gzip.verdict, plain.verdict) == ("slower", "reference")
    page = render(run)
    assert "grpc (thin) with gzip" in page
    assert "compression, against no compression" in page
    rows = compare_within(run, "median").rows
    assert rows[0].label == "rest (thin) with gzip against rest (thin) with no compression"
    assert summary_of_json(run.to_json()) == run


@pytest.mark.parametrize("gzip", [1.0, 1.4])
def test_a_floor_that_differs_is_said_beside_the_whole_latency(gzip):
    run = gzip_or_not(effects={"gzip": gzip}, planned={"stacks": ("grpc",)})
    assert not any("TCP floor differs" in text for text in run.verdicts)
    apart = tuple(
        replace(cell, tcp_floor=0.05, over_floor=0.2) if cell.factors["compression"] == "gzip" else cell
        for cell in run.cells
    )
    said = " ".join(verdicts(apart, run.comparisons, run.checks))
    assert "Whole latencies are compared, and the TCP floor differs too" in said
    assert "grpc (thin) takes 200 µs with gzip and " in said


def test_what_another_statistic_decides_otherwise_is_said_with_its_name():
    run = gzip_or_not(planned={"stacks": ("grpc",), "blocks": 10})
    slower = {"standing": "slower", "ratio": 1.5, "interval": (1.4, 1.6)}
    changed = [replace(c, **slower) if c.statistic == "p99" else c for c in run.comparisons]
    said = " ".join(verdicts(run.cells, changed, run.checks))
    assert "By p99, with gzip: grpc (thin) takes 50 % more time (40 to 60 %)." in said
