"""The page `/compare`: the stacks of one run, or a run against others, as `orch compare` compares them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, get_args

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from orchestrator.between_runs.across import RunComparison, compare_runs, compare_within
from orchestrator.between_runs.measured_runs import beside
from orchestrator.errors import UsageError
from orchestrator.exports.cell_columns import JudgedRun
from orchestrator.findings.compare import Statistic
from orchestrator.web.site import Here

router = APIRouter()
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
MOST_RUNS = 8


@router.get("/compare")
def compare(
    request: Request,
    site: Here,
    run: Annotated[list[str], Query(default_factory=list)],
    statistic: Statistic = "median",
) -> Response:
    """Return the comparison of one run's stacks, or of the first run with each of the others.

    UsageError for too many runs, or a run that is named twice; other errors as `Site.judged`.
    """
    if len(run) > MOST_RUNS:
        raise UsageError(f"{len(run)} runs are named, and {MOST_RUNS} is the most")
    if len(set(run)) < len(run):
        raise UsageError("a run is named twice")
    judged = [site.judged(name) for name in run]
    others: Sequence[JudgedRun | None] = judged[1:] or [None]
    return site.page(
        request,
        "compare.html",
        runs=[each.summary for each in judged],
        names=run,
        compared=[_compared(judged[0], other, statistic) for other in others] if judged else [],
        statistic=statistic,
        statistics=STATISTICS,
        most=MOST_RUNS,
    )


def _compared(run: JudgedRun, other: JudgedRun | None, statistic: Statistic) -> RunComparison | str:
    """A comparison, or the reason why there is none."""
    try:
        if other is None:
            return compare_within(run.summary, statistic)
        history = beside(run.summary, other.summary, run.folder, other.folder)
        return compare_runs(run.summary, other.summary, statistic, history)
    except UsageError as error:
        return error.message
