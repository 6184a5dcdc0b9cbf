"""What a run found beside its cells, as rows: checks, floors, comparisons, sealed cells, intervals, and the run itself."""

from __future__ import annotations

from orchestrator.analysis.across import RunComparison
from orchestrator.analysis.checks import failed_names
from orchestrator.analysis.counts import counts, in_words
from orchestrator.analysis.summary import RunSummary
from orchestrator.exports.cells import BETWEEN, CELL, RUN
from orchestrator.exports.column import Column, Value, fitted
from orchestrator.wording.answer import answer
from orchestrator.wording.left_out import invalid_numbers
from orchestrator.wording.reasons import why

RUN_COLUMNS: tuple[Column, ...] = (
    RUN,
    Column(name="experiment", type="text", meaning="name of the experiment"),
    Column(name="question", type="text", meaning="the question that it asks"),
    Column(name="state", type="text", meaning="complete, or interrupted"),
    Column(name="started_at", type="text", meaning="when the run began, ISO 8601, UTC"),
    Column(name="ended_at", type="text", meaning="when it ended"),
    Column(name="answer", type="text", meaning="the first sentence of its report"),
    Column(name="checks", type="text", meaning="how many checks passed, warn, failed"),
    Column(name="failed_checks", type="text", meaning='names of the checks that failed, "" if none'),
    Column(name="invalid", type="text", meaning='what that means for the figures, "" if no check failed'),
)
CHECK_COLUMNS: tuple[Column, ...] = (
    Column(name="check", type="text", meaning="name of the check (docs/checks.md)"),
    Column(name="cell", type="text", meaning="id of the cell; empty of a check of the whole run"),
    Column(name="verdict", type="text", meaning="pass, warn, fail, cannot tell, or not applicable"),
    Column(name="severity", type="text", meaning="fatal, serious, or note, which invalidates nothing"),
    Column(name="explanation", type="text", meaning="what it found"),
    Column(name="action", type="text", meaning="what to do about it"),
)
FLOOR_COLUMNS: tuple[Column, ...] = (
    Column(name="floor", type="text", meaning="ping, or tcp: a bare exchange of as many bytes"),
    Column(name="placement", type="text", meaning="name of the placement"),
    Column(name="method", type="text", meaning="by which means"),
    Column(name="connection", type="text", meaning="what is done with connections"),
    Column(name="request_bytes", type="whole", unit="B", meaning="of a TCP exchange, bytes sent"),
    Column(name="reply_bytes", type="whole", unit="B", meaning="likewise, bytes received"),
    Column(name="n", type="whole", meaning="replies"),
    Column(name="lost", type="whole", meaning="without a reply"),
    Column(name="median_ms", type="number", unit="ms", meaning="median of all replies"),
    Column(name="minimum_ms", type="number", unit="ms", meaning="the fastest one"),
    Column(name="p99_ms", type="number", unit="ms", meaning="99 of 100 took no longer"),
    Column(name="cells", type="text", meaning="ids of the cells that a tcp floor stands beside"),
)
COMPARISON_COLUMNS: tuple[Column, ...] = (
    Column(name="run", type="text", meaning="id of the run"),
    Column(name="group", type="text", meaning="what both sides have in common"),
    Column(name="label", type="text", meaning="which is compared with which"),
    Column(name="cell", type="text", meaning="id of the cell"),
    Column(name="reference", type="text", meaning="id of the cell that it is compared with"),
    Column(name="statistic", type="text", meaning="median, p99 or throughput"),
    Column(name="value", type="number", meaning="ms, or requests per second: geometric mean over trials"),
    Column(name="reference_value", type="number", meaning="likewise, of the reference"),
    Column(name="ratio", type="number", meaning="above 1 is slower, of throughput too"),
    Column(name="ratio_low", type="number", meaning="low bound of its 95 % interval, adjusted by Holm"),
    Column(name="ratio_high", type="number", meaning="high bound of that interval"),
    Column(name="p_value", type="number", meaning="adjusted likewise"),
    Column(name="verdict", type="text", meaning="as `orch compare` says it (docs/compare.md)"),
    Column(name="why", type="text", meaning="why, as a clause"),
    Column(name="doubts", type="text", meaning="what forbids a verdict, whatever the interval says"),
)

SEALED_COLUMNS: tuple[Column, ...] = (
    RUN,
    CELL,
    Column(name="stack", type="text", meaning="the stack as the report's tables name it"),
    Column(name="setting", type="text", meaning="how its requests are made"),
    Column(name="placement", type="text", meaning="name of the placement"),
    Column(name="rtt_ms", type="number", unit="ms", meaning="the round trip that ping measured"),
    Column(name="size_bytes", type="whole", unit="B", meaning="the larger of request and reply"),
    Column(name="in_flight", type="whole", meaning="requests in flight at once"),
    Column(name="measured_ms", type="number", unit="ms", meaning="median latency, mean over blocks"),
    Column(name="predicted_ms", type="number", unit="ms", meaning="what the cost model has, which never saw the cell"),
    Column(name="predicted_low_ms", type="number", unit="ms", meaning="low bound of its 90 % interval"),
    Column(name="predicted_high_ms", type="number", unit="ms", meaning="high bound of that interval"),
    Column(name="covered", type="yes/no", meaning="whether what was measured lies in it"),
    Column(name="error_model", type="number", meaning="predicted / measured - 1"),
    Column(name="error_one_round_trip", type="number", meaning="likewise, of the rival with one round trip"),
    Column(name="error_interpolation", type="number", meaning="likewise, of interpolation"),
)
UNTIL_COLUMNS: tuple[Column, ...] = (
    RUN,
    CELL,
    Column(name="reference", type="text", meaning="id of the cell that it is compared with"),
    Column(
        name="reaches", type="number", meaning="how far the interval of their ratio reaches to either side (0.03: 3 %)"
    ),
    Column(name="wanted", type="number", meaning="how far it was to reach at most"),
    Column(name="blocks", type="whole", meaning="after how many blocks the run ended"),
    Column(name="at_most", type="whole", meaning="after how many it would have ended at the latest"),
)


def run_row(summary: RunSummary) -> dict[str, Value]:
    """What a table of this run begins with: what was asked, what was answered, and which checks failed."""
    row: dict[str, Value] = {
        "run": summary.run_id,
        "experiment": summary.name,
        "question": summary.question,
        "state": summary.state,
        "started_at": summary.started_at,
        "ended_at": summary.ended_at,
        "answer": answer(summary).sentence,
        "checks": in_words(counts(summary.checks)),
        "failed_checks": BETWEEN.join(failed_names(summary.checks)),
        "invalid": invalid_numbers(summary),
    }
    return fitted(RUN_COLUMNS, row)


def check_rows(summary: RunSummary) -> list[dict[str, Value]]:
    """A row for each check of each cell, and of the run."""
    return [
        fitted(
            CHECK_COLUMNS,
            {
                "check": check.name,
                "cell": check.cell,
                "verdict": check.verdict,
                "severity": check.severity,
                "explanation": check.explanation,
                "action": check.action,
            },
        )
        for check in summary.checks
    ]


def floor_rows(summary: RunSummary) -> list[dict[str, Value]]:
    """A row for each floor: per placement, and of `tcp` per placement and size."""
    rows = []
    for floor in summary.floors:
        of = floor.distribution
        row: dict[str, Value] = {
            "floor": floor.kind,
            "placement": floor.placement,
            "method": floor.method,
            "connection": floor.policy if floor.kind == "tcp" else None,
            "request_bytes": floor.send_bytes if floor.kind == "tcp" else None,
            "reply_bytes": floor.receive_bytes if floor.kind == "tcp" else None,
            "n": 0 if of is None else of.n,
            "lost": floor.lost,
            "median_ms": None if of is None else of.median,
            "minimum_ms": None if of is None else of.minimum,
            "p99_ms": None if of is None else of.p99,
            "cells": BETWEEN.join(floor.cells),
        }
        rows.append(fitted(FLOOR_COLUMNS, row))
    return rows


def sealed_rows(summary: RunSummary) -> list[dict[str, Value]]:
    """A row for each sealed cell of a run with a cost model; none of any other run."""
    judged = None if summary.prediction is None else summary.prediction.judged
    rows = []
    for cell in () if judged is None else judged.cells:
        row: dict[str, Value] = {
            "run": summary.run_id,
            "cell": cell.cell,
            "stack": cell.label,
            "setting": cell.setting,
            "placement": cell.placement,
            "rtt_ms": cell.rtt,
            "size_bytes": cell.size,
            "in_flight": cell.in_flight,
            "measured_ms": cell.measured,
            "predicted_ms": cell.predicted,
            "predicted_low_ms": cell.interval[0],
            "predicted_high_ms": cell.interval[1],
            "covered": cell.is_covered,
            **{f"error_{method.replace(' ', '_')}": error for method, error in cell.errors.items()},
        }
        rows.append(fitted(SEALED_COLUMNS, row))
    return rows


def until_rows(summary: RunSummary) -> list[dict[str, Value]]:
    """A row for each pair whose interval a run waited for (`repeats: {until: ...}`); none of any other run."""
    stopped = summary.stopped
    if stopped is None:
        return []
    of_run: dict[str, Value] = {
        "run": summary.run_id,
        "wanted": stopped.within,
        "blocks": stopped.blocks,
        "at_most": stopped.at_most,
    }
    return [
        fitted(
            UNTIL_COLUMNS,
            {**of_run, "cell": width.cell, "reference": width.reference_cell, "reaches": width.reaches},
        )
        for width in stopped.widths
    ]


def comparison_rows(comparison: RunComparison) -> list[dict[str, Value]]:
    """The rows of `orch compare`, in its order."""
    rows = []
    for of in comparison.rows:
        low, high = of.interval or (None, None)
        row: dict[str, Value] = {
            "run": comparison.of,
            "group": of.group,
            "label": of.label,
            "cell": of.cell,
            "reference": of.reference,
            "statistic": of.statistic,
            "value": of.value,
            "reference_value": of.reference_value,
            "ratio": of.ratio,
            "ratio_low": low,
            "ratio_high": high,
            "p_value": of.p_value,
            "verdict": of.verdict,
            "why": why(of),
            "doubts": BETWEEN.join(of.doubts),
        }
        rows.append(fitted(COMPARISON_COLUMNS, row))
    return rows
