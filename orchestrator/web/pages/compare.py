"""Runs side by side, with the verdicts of `orch compare`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from orchestrator.analysis import words
from orchestrator.analysis.compare import Statistic
from orchestrator.report import rows
from orchestrator.web.compared import MOST, compared
from orchestrator.web.context import context

router = APIRouter(include_in_schema=False)
STATISTICS = ("median", "p99", "throughput")


@router.get("/compare")
async def compare(
    request: Request,
    run: Annotated[list[str] | None, Query(max_length=100)] = None,
    statistic: Statistic = "median",
) -> Response:
    """The page of one run's stacks, or of several runs: the first against each of the others."""
    of = context(request)
    if not run:
        return of.templates.TemplateResponse(request, "compare.html", {"found": None, "most": MOST})
    found = await of.work.heavy(compared, of, run, statistic)
    values = {
        "found": found,
        "runs": run,
        "statistic": statistic,
        "statistics": STATISTICS,
        "interval": rows.interval,
        "ratio": rows.ratio,
        "both": rows.values,
        "percent": words.percent,
        "most": MOST,
    }
    return of.templates.TemplateResponse(request, "compare.html", values)
