"""What misleading rules would publish is judged by the checks of any run, and is in nothing but its own table."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from orchestrator import quantities
from orchestrator.between_runs.across import compare_runs
from orchestrator.cli.answer import answer_lines
from orchestrator.errors import UsageError
from orchestrator.evidence.run_evidence import Samples
from orchestrator.experiment.plan.plan import Operation
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.timing_rules.find import QUESTION as TIMING_RULES
from orchestrator.questions.timing_rules.find import RuleFigure
from orchestrator.questions.timing_rules.observe import MISLEADING, with_stamps_of
from orchestrator.questions.timing_rules.words import found_by, matrix, sentences
from orchestrator.report.render import render
from orchestrator.summarise import summarise, summary_of_json
from services.python.contract.lines import Load
from services.python.contract.timing_rules import BATCH, RULES
from tests.support.drafts import Draft
from tests.support.runs import MemoryRun, Spoil, a_run

NUMBER = {rule.name: place for place, rule in enumerate(RULES, start=1)}
CALLS = ({"connection": "reuse", "timing_rules": "misleading"},)
STAMP = Operation(id="timestamp", name="timestamp", label="timestamp", request_bytes=34, reply_bytes=68)
PLANNED: dict[str, Any] = {"calls": CALLS, "blocks": 3, "load": Load(concurrency=1, requests=500), "operation": STAMP}
US = 1_000


def stamps(rule: str, columns: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """What a rule says of these requests, which are in the order of their numbers."""
    sent, received, number = columns["sent_ns"], columns["received_ns"], np.arange(columns["sent_ns"].size)
    took = received - sent
    if rule == "server-minus-client":
        return sent, sent + took // 2
    if rule == "one-stamp-for-50":
        return sent[number // BATCH * BATCH], received
    if rule == "thousand-events":
        warm = int((columns["phase"] == 0).sum())  # batches begin anew with the phase
        return np.where(number < warm, sent[0], sent[warm + np.maximum(number - warm, 0) // 1000 * 1000]), received
    if rule == "stopped-at-enqueue":
        return sent, sent + 2 * US
    if rule == "cpu-time":
        return sent, sent + 30 * US
    return sent - np.where(number == 0, 400 * US, 0), received


def add_misleading(draft: Draft, *, are_true: bool = False) -> None:
    """Put what every rule says behind the requests; all of them the true stamps where they are true."""
    order = np.argsort(draft.columns["sequence"])
    columns = {name: values[order] for name, values in draft.columns.items()}
    made = [columns]
    for rule, number in NUMBER.items():
        begun, ended = (columns["sent_ns"], columns["received_ns"]) if are_true else stamps(rule, columns)
        made.append(
            columns
            | {
                "sent_ns": begun,
                "intended_ns": begun,
                "received_ns": ended,
                "parent": columns["sequence"],
                "sequence": np.full(begun.size, number),
                "kind": np.full(begun.size, MISLEADING),
                "bytes_sent": np.full(begun.size, -1),
                "bytes_received": np.full(begun.size, -1),
            }
        )
    draft.columns = {name: np.concatenate([part[name] for part in made]) for name in columns}
    draft.done["rows"] *= 1 + len(RULES)


def a_run_with_rules(spoil: Spoil = add_misleading) -> MemoryRun:
    return a_run(spoil=spoil, **PLANNED)


@pytest.fixture(scope="module")
def judged() -> RunSummary:
    return summarise(a_run_with_rules())


def of_rule(summary: RunSummary, rule: str) -> list[RuleFigure]:
    return [figure for figure in TIMING_RULES.of(summary) if figure.rule == rule]


CAUGHT = {
    "server-minus-client": "Little's law",
    "one-stamp-for-50": "one stamp per sample",
    "thousand-events": "one stamp per sample",
    "stopped-at-enqueue": "floor",
    "cpu-time": "Little's law",
}
RATIO = {
    "server-minus-client": (0.45, 0.55),
    "one-stamp-for-50": (15, 40),
    "thousand-events": (150, 350),
    "stopped-at-enqueue": (0.001, 0.02),
    "cpu-time": (0.05, 0.2),
    "connecting-in-the-mean": (0.95, 1.2),
}


@pytest.mark.parametrize("rule", NUMBER)
def test_each_rule_publishes_its_own_figure_beside_the_true_one(judged: RunSummary, rule: str) -> None:
    found = of_rule(judged, rule)
    assert [figure.stack_label for figure in found] == [cell.stack_label for cell in judged.cells]
    low, high = RATIO[rule]
    for figure, cell in zip(found, judged.cells, strict=True):
        assert cell.distribution
        assert figure.true == cell.distribution.median
        assert figure.ratio is not None
        assert figure.interval is not None
        assert low < figure.ratio < high
        assert figure.interval[0] <= figure.ratio <= figure.interval[1]


@pytest.mark.parametrize("rule", CAUGHT)
def test_the_checks_themselves_find_a_rule_out(judged: RunSummary, rule: str) -> None:
    for figure in of_rule(judged, rule):
        assert CAUGHT[rule] in figure.caught_by
        assert figure.explanation
    assert judged.checks
    assert not [
        check for check in judged.checks if check.verdict == "fail"
    ]  # nothing of it is in the run's own verdict


def test_rules_that_told_the_truth_would_not_be_caught() -> None:
    """What is caught is the rule, not the way in which its record is handed to the checks."""
    figures = TIMING_RULES.of(summarise(a_run_with_rules(partial(add_misleading, are_true=True))))
    figures = tuple(
        figure for figure in figures if figure.rule != "connecting-in-the-mean"
    )  # without a warm-up in any case
    assert [(f.rule, f.caught_by, f.warned_by, f.refused) for f in figures if f.is_caught or f.warned_by] == []
    assert {figure.ratio for figure in figures} == {1.0}


def test_a_mean_that_includes_connecting_is_warned_of(judged: RunSummary) -> None:
    found = of_rule(judged, "connecting-in-the-mean")
    assert {figure.statistic for figure in found} == {"mean"}
    assert [figure.is_caught for figure in found] == [False, False]
    assert {found_by(figure) for figure in found} == {"only a warning: connections"}
    assert all("Nothing was warmed up" in figure.explanation for figure in found)
    sentence, *_ = sentences(TIMING_RULES.of(judged))
    assert "5 of 6" in sentence
    assert "only a warning: a mean that includes connecting" in sentence


def test_a_rule_that_measured_nothing_is_not_called_found() -> None:
    """Checks fail for times of zero whatever the rule is."""
    run = a_run_with_rules()
    for columns in run.files.values():
        if "parent" in columns:
            of = (columns["kind"] == MISLEADING) & (columns["sequence"] == NUMBER["cpu-time"])
            columns["received_ns"] = np.where(of, columns["sent_ns"], columns["received_ns"])
    summary = summarise(run)
    found = of_rule(summary, "cpu-time")
    assert [(figure.published, figure.ratio, figure.is_caught) for figure in found] == 2 * [(0.0, None, False)]
    assert {found_by(figure) for figure in found} == {"measured nothing"}
    sentence, *_ = sentences(TIMING_RULES.of(summary))
    assert "4 of 6" in sentence
    assert "measured nothing: the requester's CPU time instead of wall time (rest (thin) and grpc (thin))" in sentence


def test_a_table_has_a_row_for_each_rule_and_a_column_for_each_stack(judged: RunSummary) -> None:
    heads, rows = matrix(TIMING_RULES.of(judged))
    medians = [quantities.ms(cell.distribution.median) for cell in judged.cells if cell.distribution]
    labels = [cell.stack_label for cell in judged.cells]
    stacks = [f"{label} ({median})" for label, median in zip(labels, medians, strict=True)]
    assert heads == ("timing rule", *stacks, "found by")
    assert [row[0] for row in rows] == list(NUMBER)
    first, *_ = TIMING_RULES.of(judged)
    assert first.published is not None
    assert first.ratio is not None
    assert rows[0][1] == f"{quantities.ms(first.published)} ({quantities.factor(first.ratio)}×)"
    assert rows[-1][-1] == "only a warning: connections"


def test_what_differs_between_stacks_is_said_of_each(judged: RunSummary) -> None:
    first, second = of_rule(judged, "cpu-time")
    _, rows = matrix([first, replace(second, caught_by=("floor",), warned_by=())])
    assert rows[0][-1] == f"{first.stack_label}: {found_by(first)}; {second.stack_label}: floor"


def test_a_record_that_ends_before_it_begins_is_refused_as_from_any_requester() -> None:
    run = a_run_with_rules()
    for columns in run.files.values():
        if "parent" in columns and (columns["kind"] == MISLEADING).any():
            of = (columns["kind"] == MISLEADING) & (columns["sequence"] == NUMBER["server-minus-client"])
            columns["received_ns"] = np.where(of, columns["sent_ns"] - 5, columns["received_ns"])
    found = of_rule(summarise(run), "server-minus-client")
    assert all("before it begins" in figure.refused for figure in found)
    assert [(figure.published, figure.ratio, figure.is_caught) for figure in found] == 2 * [(None, None, True)]


def test_no_latency_comparison_or_sentence_knows_what_misleads(judged: RunSummary) -> None:
    """The same run without them: all but the table of rules is equal."""
    plain = summarise(a_run(**PLANNED))
    assert plain.comparisons == judged.comparisons
    assert [cell.distribution for cell in plain.cells] == [cell.distribution for cell in judged.cells]
    assert [cell.trials for cell in plain.cells] == [cell.trials for cell in judged.cells]


def test_samples_hold_no_row_of_a_rule() -> None:
    columns = next(c for path, c in a_run_with_rules().files.items() if path.startswith("samples/"))
    of_requests = {name: values[columns["kind"] == 0] for name, values in columns.items()}
    assert np.array_equal(Samples(columns).ordered_ns, Samples(of_requests).ordered_ns)
    assert Samples(columns).rows * (1 + len(RULES)) == Samples(columns).recorded


def test_a_failed_request_keeps_its_own_stamps_under_every_rule() -> None:
    columns = {
        "sequence": np.array([1, 1, 2]),
        "phase": np.array([1, 1, 1]),
        "intended_ns": np.array([10, 7, 30]),
        "sent_ns": np.array([10, 7, 30]),
        "received_ns": np.array([20, 8, 40]),
        "kind": np.array([0, MISLEADING, 0]),
        "parent": np.array([0, 1, 0]),
    }
    made = with_stamps_of(columns, 1, has_warm_up=True)
    assert made["sent_ns"].tolist() == [7, 30]
    assert made["received_ns"].tolist() == [8, 40]
    assert with_stamps_of(columns, 2, has_warm_up=True)["sent_ns"].tolist() == [10, 30]


def test_what_fails_in_any_case_is_not_counted_for_a_rule() -> None:
    def spoil(draft: Draft) -> None:
        draft.done["verified"] -= 10
        add_misleading(draft)

    summary = summarise(a_run_with_rules(spoil))
    assert any(check.name == "reply" and check.verdict == "fail" for check in summary.checks)
    for figure in TIMING_RULES.of(summary):
        assert "reply" not in figure.caught_by
        assert figure.failed_anyway == ("reply",)
        assert "failed in any case: reply" in found_by(figure)


def test_a_run_without_such_rules_has_no_table() -> None:
    summary = summarise(a_run(blocks=3))
    assert TIMING_RULES.of(summary) == ()
    assert not any("timing rules" in line for line in answer_lines(summary))
    assert '<section id="timing-rules">' not in render(summary)


def test_terminal_page_and_json_have_the_table(judged: RunSummary) -> None:
    told = judged
    assert TIMING_RULES.of(told)[0].rule == RULES[0].name
    text, page = "\n".join(answer_lines(told)), render(judged)
    for rule in RULES:
        assert rule.name in text
        assert rule.words.replace("'", "&#39;") in page
    assert "no latency: it is in no comparison" in " ".join(text.split())
    assert 'id="timing-rules"' in page
    assert summary_of_json(judged.to_json()) == judged


def test_orch_compare_finds_no_cell_of_another_run(judged: RunSummary) -> None:
    ordinary = replace(summarise(a_run(**PLANNED | {"calls": ()})), run_id="ordinary")
    with pytest.raises(UsageError, match="timing_rules: misleading against none"):
        compare_runs(judged, ordinary, "median")
