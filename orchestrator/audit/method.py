"""How a row's figures came about: what its row says, else the file, else what its tool is known to do.

Notes and other free text are for readers: no rule reads them.
"""

from __future__ import annotations

import re
from typing import Any

from orchestrator.audit.model import AuditFile, Method, Percentiles, Row

_HISTOGRAM = {"percentiles": Percentiles(source="histogram")}
MOST_FAILED = 0.01


def _sketch(error: float) -> dict[str, Any]:
    return {"percentiles": Percentiles(source="sketch", relative_error=error)}


# What tools do to the figures they print.
TOOLS: dict[str, dict[str, Any]] = {
    # wrk 4 adds the samples that a stalled connection "would have" sent (stats_correct in its wrk.c).
    "wrk": {"corrected": True},
    "wrk2": {"corrected": True, **_sketch(0.001)},
    # sysbench sorts latencies into 1,024 logarithmic buckets from 1 us to 100 s, 1.8 % wide (sb_histogram.c).
    "sysbench": _sketch(0.019),
    "artillery": _sketch(0.01),  # a DDSketch beside exact extremes
    **dict.fromkeys(
        ("ycsb", "memtier_benchmark", "redis-benchmark", "autocannon", "cassandra-stress", "hdr", "hdrhistogram"),
        _sketch(0.001),
    ),
    "cloudwatch": _sketch(0.1),
    "siege": {"resolution_ms": 10.0},  # seconds with two decimals
    "goose": {"percentiles": Percentiles(digits=1)},  # one digit from 500 ms on, tens from 100 ms on
    # Locust keys response times by two significant digits from 100 ms on (log_response_time in stats.py).
    "locust": {"percentiles": Percentiles(digits=2)},
    "k6": {"connecting": "excluded"},
    **dict.fromkeys(
        ("prometheus", "histogram_quantile", "grafana", "opentelemetry", "otel", "micrometer", "istio", "fortio"),
        _HISTOGRAM,
    ),
    **dict.fromkeys(("gatling", "ddsketch", "datadog"), _sketch(0.01)),
    **dict.fromkeys(("vegeta", "elasticsearch", "t-digest", "tdigest"), _sketch(0.02)),
}


def method_of(row: Row, file: AuditFile) -> Method:
    """What is known of how the row's figures came about; a field is None where nothing says."""
    tool = _of_tool(file)
    values = {}
    for name in Method.model_fields:
        for value in (getattr(row, name), getattr(file.stated, name), tool.get(name)):
            if value is not None:
                values[name] = value
                break
    return Method.model_construct(None, **values)


def _tools(file: AuditFile) -> list[str]:
    return re.findall(r"[a-z0-9][\w-]*", (file.stated.tool or "").lower())


def _of_tool(file: AuditFile) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for name in _tools(file):
        facts = TOOLS.get(name, {}) | facts
    return facts


def corrected_apart(row: Row, file: AuditFile) -> bool:
    """Whether latencies were corrected for coordinated omission by something that may leave mean or SD as they were.

    wrk and wrk2 correct their one histogram before they print anything from it: its figures still belong together.
    """
    return bool(method_of(row, file).corrected) and not {"wrk", "wrk2"} & {*_tools(file)}


def of_several_runs(row: Row, file: AuditFile) -> bool:
    """Whether the publication says that figures were put together over runs, or come from different ones."""
    stated, method = file.stated, method_of(row, file)
    if method.percentiles is not None and method.percentiles.source == "averaged":
        return True
    return method.spread == "runs" or (stated.repeats or 1) > 1 or stated.aggregate is not None


def why_unsupported(row: Row, file: AuditFile) -> str:
    """Why figures of requests that failed support nothing; "" where none failed, or at most one in a hundred."""
    errors = row.errors
    if errors is None:
        return f"{row.name} counts failed requests" if method_of(row, file).failures == "counted" else ""
    requests = row.samples or file.stated.requests
    if not errors or (requests and errors <= MOST_FAILED * requests):
        return ""
    return f"{errors:,} of {row.name}'s {f'{requests:,} ' if requests else ''}requests failed"
