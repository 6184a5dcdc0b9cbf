"""Comparisons made row by row, for what is written of them."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from orchestrator.between_runs.across import Row, RunComparison
from orchestrator.between_runs.changes import CHANGES
from orchestrator.statistics.equivalence import standing


def row(low: float | None, high: float | None, label: str = "grpc", **more: object) -> Row:
    """A row whose interval is that; without one where it is None."""
    interval = None if low is None or high is None else (low, high)
    known = {
        "cell": label,
        "reference": label,
        "group": "add, local",
        "label": label,
        "statistic": "median",
        "value": 1.2,
        "reference_value": 1.0,
        "ratio": None if interval is None else (interval[0] * interval[1]) ** 0.5,
        "interval": interval,
        "p_value": None,
        "verdict": CHANGES[standing(interval)],
    }
    return Row(**(known | more))  # type: ignore[arg-type]


def comparison(*rows: Row, **more: object) -> RunComparison:
    """`new` against `old`, by the median."""
    known = {"of": "new", "reference": "old", "statistic": "median", "margin": 0.05, "rows": rows}
    return RunComparison(**(known | more))  # type: ignore[arg-type]


def xml(text: str) -> ET.Element:
    """The root of an XML document that orch has just written."""
    return ET.fromstring(text.encode())  # noqa: S314 - our own
