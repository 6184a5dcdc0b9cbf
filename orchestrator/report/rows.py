"""A row of a comparison in words, for the terminal, JUnit and Markdown alike."""

from __future__ import annotations

from orchestrator.analysis import words
from orchestrator.analysis.across import Row


def values(row: Row) -> tuple[str, str] | None:
    """What the reference took and what the row's cell took, with units; None where one of them has no value."""
    if row.value is None or row.reference_value is None:
        return None
    if row.statistic == "throughput":
        return f"{words.rate(row.reference_value)}/s", f"{words.rate(row.value)}/s"
    return words.ms(row.reference_value), words.ms(row.value)


def ratio(row: Row) -> str:
    """`1.41`, or a dash."""
    return "-" if row.ratio is None else words.factor(row.ratio)


def interval(row: Row, limit: float) -> str:
    """`1.20 to 1.66`, with the digits that tell its bounds from the limit (0.05: 5 %); a dash where there is none."""
    return "-" if row.interval is None else " to ".join(words.bounds(row.interval, limit))


def sentence(row: Row, limit: float) -> str:
    """`ratio 1.41, 95 % interval 1.20 to 1.66 (204 µs -> 288 µs)`, with what there is of it."""
    parts = []
    if row.ratio is not None:
        parts.append(f"ratio {ratio(row)}")
    if row.interval is not None:
        parts.append(f"95 % interval {interval(row, limit)}")
    text = ", ".join(parts) or "no ratio"
    both = values(row)
    return text if both is None else f"{text} ({both[0]} -> {both[1]})"
