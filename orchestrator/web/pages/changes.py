"""What a person changes on a run's page: notes, tags, and whether it is there at all."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import Response

from orchestrator.errors import OrchError
from orchestrator.history import deleting, noted
from orchestrator.history.deleting import Doomed
from orchestrator.hosts.provision.registry import Registry
from orchestrator.report.stored import report_of
from orchestrator.results.folder import RunFolder
from orchestrator.web.context import Context, context
from orchestrator.web.judged import path_of
from orchestrator.web.posted import back_to, changing
from orchestrator.web.refused import Refused
from orchestrator.web.templating import run_at

router = APIRouter(include_in_schema=False)


def add_note(of: Context, run: str, text: str) -> noted.Annotations:
    """Write a note; errors as `path_of` and `noted.add_note`."""
    name = path_of(of.workspace, run).name
    found = noted.add_note(of.workspace.notes, name, text, at=of.clock.iso())
    of.runs.forget()
    return found


def change_tags(of: Context, run: str, *, add: list[str], remove: list[str]) -> noted.Annotations:
    """Add tags and remove some, all of them or none; errors likewise."""
    name = path_of(of.workspace, run).name
    found = noted.change_tags(of.workspace.notes, name, add=add, remove=remove)
    of.runs.forget()
    return found


def doomed(of: Context, run: str) -> tuple[Doomed, list[Path]]:
    """The run that may be deleted, and the report that goes with it; Refused where it may not be."""
    name = path_of(of.workspace, run).name
    standing = [intent.run_id for intent in Registry(of.workspace.deployments).standing()]
    try:
        # By its path, which is how a person names one that was not made here: the page says so, and asks.
        found = deleting.find(of.workspace, str(of.workspace.results / name), standing=standing)
    except OrchError as error:
        raise Refused(409, error.message, hint=error.hint or "") from error
    report = report_of(RunFolder(found.path), of.workspace.reports)
    return found, [] if report is None else [report]


def delete(of: Context, run: str) -> list[str]:
    """Delete a run with its report and what was noted of it; what went."""
    found, reports = doomed(of, run)
    deleting.delete(of.workspace, found, reports)
    of.runs.forget()
    return [str(path) for path in (found.path, *reports)]


@router.post("/runs/{run}/notes")
async def post_note(request: Request, run: str) -> Response:
    """Add a note."""
    of, sent = context(request), await changing(request)
    await of.work.quick(add_note, of, run, sent.get("text", ""))
    return back_to(f"{run_at(run)}#notes")


@router.post("/runs/{run}/tags")
async def post_tags(request: Request, run: str) -> Response:
    """Add the tags of `add`, and remove the one of `remove`."""
    of, sent = context(request), await changing(request)
    add, remove = sent.get("add", "").split(), [sent["remove"]] if sent.get("remove") else []
    if not add and not remove:
        raise Refused(400, "no tag was given", hint="a tag is a word of letters, digits and . _ - / : +")
    await of.work.quick(change_tags, of, run, add=add, remove=remove)
    return back_to(f"{run_at(run)}#notes")


@router.get("/runs/{run}/delete")
async def ask(request: Request, run: str) -> Response:
    """Say what goes, and ask."""
    of = context(request)
    found, reports = await of.work.quick(doomed, of, run)
    return of.templates.TemplateResponse(request, "delete.html", {"run": found, "reports": reports})


@router.post("/runs/{run}/delete")
async def post_delete(request: Request, run: str) -> Response:
    """Delete it, where its whole id was sent along."""
    of, sent = context(request), await changing(request)
    name = path_of(of.workspace, run).name
    if sent.get("confirm") != name:
        raise Refused(400, "nothing was deleted: the id that was typed is another one", hint=f"type {name}")
    await of.work.heavy(delete, of, name)
    return back_to("/")
