"""Whether a comparison shows something slower than a limit: yes, no, or neither; never a pass for want of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from orchestrator import quantities
from orchestrator.between_runs.across import Row, RunComparison
from orchestrator.errors import Regression, Undecided
from orchestrator.wording.reasons import why

Outcome = Literal["slower", "not slower", "cannot tell"]


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A comparison held against a limit (0.05: slower by 5 %): what each row shows, in their order, and all of them."""

    limit: float
    outcomes: tuple[Outcome, ...]
    sentence: str
    error: Regression | Undecided | None
    limits: tuple[float, ...]  # of each row

    @property
    def overall(self) -> Outcome:
        """What the exit code says."""
        if self.error is None:
            return "not slower"
        return "slower" if isinstance(self.error, Regression) else "cannot tell"


def outcome(row: Row, limit: float) -> Outcome:
    """What a row shows: `slower` and `not slower` take the whole interval on one side of the limit, and no doubt."""
    if not _is_usable(row) or row.interval is None:
        return "cannot tell"
    if row.interval[0] > 1 + limit:
        return "slower"
    return "not slower" if row.interval[1] < 1 + limit else "cannot tell"


def judge(comparison: RunComparison, limit: float) -> Judgement:
    """What a comparison shows at a limit: slower when one row is, undetermined when one is that and none is slower."""
    outcomes = tuple(outcome(row, limit) for row in comparison.rows)
    error = _error(comparison.rows, outcomes, limit)
    if error is not None:
        sentence = error.message
    else:
        count = _count(comparison.rows, comparison.rows)
        sentence = f"{count} not slower by more than {quantities.margin(limit)}"
    limits = (limit,) * len(outcomes)
    return Judgement(limit=limit, outcomes=outcomes, sentence=sentence, error=error, limits=limits)


def why_undetermined(row: Row, limit: float) -> str:
    """Why a row that cannot tell does not: what forbids a verdict, or where its interval reaches."""
    if row.interval is None or row.ratio is None or not _is_usable(row):
        return "; ".join((why(row), *row.doubts))
    low, high = quantities.bounds(row.interval, limit)
    return f"its 95 % interval, {low} to {high}, reaches to both sides of the limit, {quantities.factor(1 + limit)}"


def _error(rows: Sequence[Row], outcomes: Sequence[Outcome], limit: float) -> Regression | Undecided | None:
    slower = [row for row, outcome_of in zip(rows, outcomes, strict=True) if outcome_of == "slower"]
    if slower:
        worst = max(slower, key=lambda row: row.ratio or 0)
        return Regression(
            f"{_count(slower, rows)} significantly slower by more than {quantities.margin(limit)}: {_text(worst, limit)}",
            hint="the table shows each ratio with its interval; `orch report` shows the distributions",
        )
    open_rows = [row for row, outcome_of in zip(rows, outcomes, strict=True) if outcome_of == "cannot tell"]
    if open_rows:
        first = max(open_rows, key=lambda row: row.interval[1] if row.interval else float("inf"))
        return Undecided(
            f"{_count(open_rows, rows)} undetermined, at a limit of {quantities.margin(limit)}: {_text(first, limit)}",
            hint="more repeats narrow an interval, and so do more equal runs to estimate the spread between runs from; "
            "a larger limit is easier to rule out",
        )
    if not rows:
        return Undecided("nothing was compared", hint="`orch runs check` shows what is stored of a run")
    return None


def _is_usable(row: Row) -> bool:
    return row.verdict != "cannot tell" and not row.doubts


def _count(some: Sequence[Row], rows: Sequence[Row]) -> str:
    return f"{len(some)} of {len(rows)} comparisons {'is' if len(some) == 1 else 'are'}"


def _text(row: Row, limit: float) -> str:
    if row.interval is None or row.ratio is None or not _is_usable(row):
        return f"{row.label} ({why_undetermined(row, limit)})"
    low, high = quantities.bounds(row.interval, limit)
    return f"{row.label} has a ratio of {quantities.factor(row.ratio)} (95 % interval {low} to {high})"
