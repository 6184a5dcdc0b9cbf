"""What a run found beside its cells, as rows: its checks, its floors, its comparisons, and the run itself."""

from __future__ import annotations

from orchestrator.analysis.across import RunComparison
from orchestrator.analysis.checks import failed_names
from orchestrator.analysis.counts import counts, in_words
from orchestrator.analysis.in_short import sentences
from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.validity import sentence
from orchestrator.exports.cells import BETWEEN, RUN
from orchestrator.exports.column import Column, Value, fitted

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


def run_row(summary: RunSummary) -> dict[str, Value]:
    """What a table of this run begins with: what was asked, what was answered, and which checks failed."""
    row: dict[str, Value] = {
        "run": summary.run_id,
        "experiment": summary.name,
        "question": summary.question,
        "state": summary.state,
        "started_at": summary.started_at,
        "ended_at": summary.ended_at,
        "answer": sentences(summary)[0],
        "checks": in_words(counts(summary.checks)),
        "failed_checks": BETWEEN.join(failed_names(summary.checks)),
        "invalid": sentence(summary.cells, summary.checks),
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
            "why": of.why,
            "doubts": BETWEEN.join(of.doubts),
        }
        rows.append(fitted(COMPARISON_COLUMNS, row))
    return rows
