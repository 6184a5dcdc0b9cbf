"""What misleading rules would publish stands beside the true medians, and is in nothing but its own table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orchestrator.experiment.plan.plan import Operation
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.timing_rules.find import MISLEADING, RuleFigure, with_stamps_of
from orchestrator.questions.timing_rules.find import QUESTION as TIMING_RULES
from orchestrator.questions.timing_rules.words import sentences
from orchestrator.summarise import summarise
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


def test_no_rule_is_in_the_runs_own_verdict(judged: RunSummary) -> None:
    assert judged.checks
    assert "fail" not in {check.verdict for check in judged.checks}


def test_the_sentence_says_how_far_rules_are_off(judged: RunSummary) -> None:
    (sentence,) = sentences(TIMING_RULES.of(judged))
    assert sentence.startswith("6 misleading timing rules would publish 0.00")
    assert {figure.statistic for figure in of_rule(judged, "connecting-in-the-mean")} == {"mean"}


def test_a_rule_that_measured_nothing_has_no_figure() -> None:
    run = a_run_with_rules()
    for columns in run.files.values():
        if "parent" in columns:
            is_of_rule = (columns["kind"] == MISLEADING) & (columns["sequence"] == NUMBER["cpu-time"])
            columns["received_ns"] = np.where(is_of_rule, columns["sent_ns"], columns["received_ns"])
    assert {(of.published, of.ratio) for of in of_rule(summarise(run), "cpu-time")} == {(None, None)}


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
