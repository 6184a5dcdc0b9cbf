"""`orch compare --fail-if-slower`: yes, no, or neither, and never a pass for want of evidence."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.analysis.across import Row, RunComparison
from orchestrator.errors import Regression, Undecided


def require_not_slower(comparison: RunComparison, limit: float) -> None:
    """Return when every row is surely within the limit (0.05: slower by less than 5 %).

    Regression when a row's whole interval lies beyond it; Undecided when no row's does, but the interval of one reaches
    there, or one has no verdict.
    """
    rows = comparison.rows
    slower = [row for row in rows if _is_usable(row) and row.interval and row.interval[0] > 1 + limit]
    if slower:
        worst = max(slower, key=lambda row: row.ratio or 0)
        raise Regression(
            f"{_count(slower, rows)} surely slower by more than {words.margin(limit)}: {_text(worst, limit)}",
            hint="the table shows each ratio with its interval; `orch report` shows the distributions",
        )
    open_rows = [row for row in rows if not (_is_usable(row) and row.interval and row.interval[1] < 1 + limit)]
    if open_rows:
        first = max(open_rows, key=lambda row: row.interval[1] if row.interval else float("inf"))
        raise Undecided(
            f"{_count(open_rows, rows)} neither surely slower by more than {words.margin(limit)} nor surely not: "
            f"{_text(first, limit)}",
            hint="more repeats narrow an interval, and so do more equal runs to estimate the spread between runs from; "
            "a larger limit is easier to rule out",
        )


def _is_usable(row: Row) -> bool:
    return row.verdict != "cannot tell" and not row.doubts


def _count(some: Sequence[Row], rows: Sequence[Row]) -> str:
    return f"{len(some)} of {len(rows)} comparisons {'is' if len(some) == 1 else 'are'}"


def _text(row: Row, limit: float) -> str:
    if row.interval is None or row.ratio is None or not _is_usable(row):
        return f"{row.label} ({'; '.join((row.why, *(doubt for doubt in row.doubts if doubt not in row.why)))})"
    low, high = words.bounds(row.interval, limit)
    return f"{row.label} has a ratio of {words.factor(row.ratio)} (95 % interval {low} to {high})"
