"""A claim's direction is never supported by figures that point the other way, whatever its form, unit or size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.audit import AuditFile, examine

STATISTICS = ["min", "mean", "median", "p95", "p99", "max", "sd", "throughput_per_s"]


def verdict(a: float, b: float, statistic: str, test: dict[str, object]) -> str:
    rows = [{"name": "a", statistic: a}, {"name": "b", statistic: b}]
    claim = {"text": "c", "tests": [{"statistic": statistic, **test}]}
    return examine(AuditFile.model_validate({"title": "t", "results": rows, "claims": [claim]})).claims[0].verdict


@given(
    statistic=st.sampled_from(STATISTICS),
    kind=st.sampled_from(["faster", "slower"]),
    ratio=st.floats(0.3, 3).filter(lambda r: abs(r - 1) > 0.003),
    said=st.sampled_from(
        [{}, {"percent": 1}, {"percent": 5}, {"percent": 40}, {"percent": 150}, {"by": 1}, {"by": 300}]
    ),
)
def test_faster_and_slower(statistic: str, kind: str, ratio: float, said: dict[str, int]) -> None:
    a, b = round(1000.003 * ratio, 3), 1000.003
    higher = ratio > 1
    holds = higher == ((statistic == "throughput_per_s") == (kind == "faster"))
    test = {"kind": kind, "pairs": [["a", "b"]], **{name: [value, value] for name, value in said.items()}}
    found = verdict(a, b, statistic, test)
    assert found in (("supported", "contradicted", "undetermined") if holds else ("contradicted",))
    if not said and holds:
        assert found == "supported"


@given(statistic=st.sampled_from(STATISTICS), factor=st.floats(0.2, 5), ratio=st.floats(0.2, 5))
def test_factors(statistic: str, factor: float, ratio: float) -> None:
    found = verdict(
        round(1000.003 * ratio, 3), 1000.003, statistic, {"kind": "times", "row": "a", "of": "b", "factor": factor}
    )
    if (factor - 1) * (ratio - 1) < 0 and abs(factor - 1) > 0.003 and abs(ratio - 1) > 0.003:
        assert found != "supported"
    if abs(factor / ratio - 1) < 1e-4 and abs(factor - 1) > 0.01:
        assert found == "supported"


@pytest.mark.parametrize(
    ("percent", "a", "b", "expected"),
    [
        (1, 101.42, 100.01, "contradicted"),
        (1, 98.81, 100.01, "supported"),
        (1, 98.12, 100.01, "contradicted"),
        (40, 0.6, 1.0, "supported"),
        (40, 0.714, 1.0, "supported"),
        (5, 9, 9, "undetermined"),
    ],
)
def test_percentages_are_rounded_in_proportion(percent: int, a: float, b: float, expected: str) -> None:
    test = {"kind": "faster", "pairs": [["a", "b"]], "percent": [percent, percent]}
    assert verdict(a, b, "mean", test) == expected
