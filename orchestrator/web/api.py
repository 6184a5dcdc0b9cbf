"""The JSON API: what the pages show, for programs. `/api/openapi.json` describes it, and so does the page `/api`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Request

from orchestrator.analysis.compare import Statistic
from orchestrator.analysis.counts import counts
from orchestrator.analysis.in_short import sentences
from orchestrator.analysis.validity import sentence
from orchestrator.errors import UsageError
from orchestrator.exports import cells as cell_table
from orchestrator.exports import findings
from orchestrator.history import noted
from orchestrator.web import api_shapes as shapes
from orchestrator.web.compared import compared
from orchestrator.web.context import Context, context
from orchestrator.web.guard import require_form
from orchestrator.web.judged import path_of
from orchestrator.web.pages.changes import add_note, change_tags, delete
from orchestrator.web.pages.runs import MOST_PAGES, PER_PAGE, Wanted, listing
from orchestrator.web.trends import cells, trends

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": shapes.Problem, "description": said}
    for status, said in (
        (400, "a value that cannot be"),
        (401, "no token, or a wrong one"),
        (403, "another page asks for it"),
        (404, "no such run"),
        (422, "the run cannot be judged"),
    )
}
router = APIRouter(prefix="/api", responses=_PROBLEMS)


def _from_a_program(request: Request) -> None:
    """A browser's request that changes something must carry the form token in a header."""
    require_form(request, None)


_CHANGES = [Depends(_from_a_program)]


@router.get("/runs", tags=["runs"])
async def list_runs(
    request: Request,
    wanted: Annotated[Wanted, Depends()],
    page: Annotated[int, Query(ge=1, le=MOST_PAGES, description="which page, from 1")] = 1,
    per_page: Annotated[int, Query(ge=1, le=1000, description="runs on a page")] = PER_PAGE,
) -> shapes.RunsPage:
    """Runs, newest first; conditions that are given must all hold."""
    of = context(request)
    found = await of.work.quick(listing, of, wanted.filters(), page, per_page)
    return shapes.RunsPage.model_validate(found)


@router.get("/runs/{run}", tags=["runs"])
async def get_run(request: Request, run: str) -> shapes.RunDetails:
    """A run judged: its answer, its checks in numbers, its conditions."""
    of = context(request)
    return await of.work.heavy(_details, of, run)


def _details(of: Context, run: str) -> shapes.RunDetails:
    found = of.judged.judged(run)
    summary, by_verdict = found.summary, counts(found.summary.checks)
    return shapes.RunDetails(
        id=found.folder.path.name,
        run_id=summary.run_id,
        name=summary.name,
        question=summary.question,
        state=summary.state,
        started_at=summary.started_at,
        ended_at=summary.ended_at,
        answer=list(sentences(summary)),
        invalid=sentence(summary.cells, summary.checks),
        remarks=[*found.remarks, *summary.warnings],
        checks=shapes.CheckCounts(passed=by_verdict["pass"], warned=by_verdict["warn"], failed=by_verdict["fail"]),
        conditions=dict(summary.conditions),
        repeat_command=summary.repeat_command,
    )


@router.get("/runs/{run}/cells", tags=["runs"])
async def get_cells(request: Request, run: str) -> shapes.Table:
    """A row for each cell: its factors, percentiles, intervals, throughput, costs and floors."""
    of = context(request)
    found = await of.work.heavy(of.judged.judged, run)
    columns = [column.to_dict() for column in cell_table.COLUMNS]
    return shapes.Table(columns=columns, rows=cell_table.cell_rows(found.summary))


@router.get("/runs/{run}/checks", tags=["runs"])
async def get_checks(request: Request, run: str) -> shapes.Table:
    """A row for each check of each cell, and of the run."""
    of = context(request)
    found = await of.work.heavy(of.judged.judged, run)
    columns = [column.to_dict() for column in findings.CHECK_COLUMNS]
    return shapes.Table(columns=columns, rows=findings.check_rows(found.summary))


@router.get("/compare", tags=["comparisons"])
async def get_comparison(
    request: Request,
    run: Annotated[str, Query(description="the run")],
    reference: Annotated[str | None, Query(description="an older run; without one, the run's stacks")] = None,
    statistic: Annotated[Statistic, Query(description="which of each trial's numbers")] = "median",
) -> shapes.ComparisonOf:
    """What `orch compare` says."""
    of = context(request)
    runs = [run] if reference is None else [run, reference]
    found = await of.work.heavy(compared, of, runs, statistic)
    (against,) = found.against
    if against.comparison is None:
        raise UsageError(against.trouble)
    return shapes.ComparisonOf.model_validate(against.comparison.to_dict())


@router.get("/history", tags=["history"])
async def get_cells_known(
    request: Request, text: Annotated[str, Query(max_length=200, description="words of its id or label")] = ""
) -> list[shapes.CellKnown]:
    """The cells that runs measured, those of most runs first."""
    of = context(request)
    known = await of.work.quick(cells, of, text)
    return [shapes.CellKnown(cell=cell, stack=stack, label=label, runs=runs) for cell, stack, label, runs in known]


@router.get("/history/{cell}", tags=["history"])
async def get_history(
    request: Request,
    cell: str,
    wanted: Annotated[Wanted, Depends()],
    statistic: Annotated[Statistic, Query(description="which of each trial's numbers")] = "median",
) -> list[shapes.TrendOf]:
    """A trend for each cell of that id, beginning of one, or stack, with changes marked."""
    of = context(request)
    found = await of.work.heavy(trends, of, cell, wanted.filters(), statistic)
    return [shapes.TrendOf.model_validate(each.to_dict()) for each in found]


@router.get("/runs/{run}/notes", tags=["notes and tags"])
async def get_notes(request: Request, run: str) -> shapes.Annotations:
    """What was written on a run."""
    of = context(request)
    name = path_of(of.workspace, run).name
    return _annotations(name, await of.work.quick(noted.read, of.workspace.notes, name))


@router.post("/runs/{run}/notes", tags=["notes and tags"], status_code=201, dependencies=_CHANGES)
async def post_note(request: Request, run: str, note: Annotated[shapes.NewNote, Body()]) -> shapes.Annotations:
    """Write a note on a run."""
    of = context(request)
    return _annotations(path_of(of.workspace, run).name, await of.work.quick(add_note, of, run, note.text))


@router.post("/runs/{run}/tags", tags=["notes and tags"], dependencies=_CHANGES)
async def post_tags(request: Request, run: str, tags: Annotated[shapes.NewTags, Body()]) -> shapes.Annotations:
    """Add tags to a run, and remove some: all of them, or none where one cannot be."""
    of = context(request)
    name = path_of(of.workspace, run).name
    return _annotations(name, await of.work.quick(change_tags, of, name, add=tags.add, remove=tags.remove))


@router.delete("/runs/{run}", tags=["runs"], dependencies=_CHANGES)
async def delete_run(
    request: Request, run: str, confirm: Annotated[str, Query(description="the run's whole id")]
) -> shapes.Deleted:
    """Delete a run: its folder, its report, and what was noted of it."""
    of = context(request)
    name = path_of(of.workspace, run).name
    if confirm != name:
        raise UsageError("nothing was deleted: `confirm` is another id", hint=f"confirm={name}")
    return shapes.Deleted(deleted=await of.work.heavy(delete, of, name))


def _annotations(run: str, found: noted.Annotations) -> shapes.Annotations:
    return shapes.Annotations.model_validate({"run": run, **asdict(found)})
