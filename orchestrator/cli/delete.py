"""Delete runs: their folders, their reports, and what was noted of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.choosing import AsJson, the_index
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE

if TYPE_CHECKING:
    from orchestrator.history.deleting import Doomed


def command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Run id, its beginning, or a path in results/.", autocompletion=completions.runs
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what goes, ask, and delete; nothing is deleted where one of several may not be."""
    from orchestrator.history import deleting
    from orchestrator.hosts.provision.registry import Registry

    console.as_json = as_json
    standing = [intent.run_id for intent in Registry(WORKSPACE.deployments).standing()]
    found = {of.id: of for of in (deleting.find(WORKSPACE, run, standing=standing) for run in runs)}
    reports = {name: _reports(doomed) for name, doomed in found.items()}
    for name, doomed in found.items():
        beside = "".join(f", {path}" for path in reports[name])
        console.progress(f"{doomed.path}{beside}{'' if doomed.is_ours else '  (not made here)'}")
    if not yes:
        ask(len(found))
    for name, doomed in found.items():
        deleting.delete(WORKSPACE, doomed, reports[name])
    deleting.sweep(WORKSPACE)
    with the_index():
        pass  # what is gone leaves the index
    console.result(f"deleted: {', '.join(found)}")
    gone = {name: [str(path) for path in (doomed.path, *reports[name])] for name, doomed in found.items()}
    console.emit({"deleted": gone})


def _reports(doomed: Doomed) -> list[Path]:
    """The report of that very run, if one is there."""
    from orchestrator.report import report_of
    from orchestrator.results.folder import RunFolder

    found = report_of(RunFolder(doomed.path), WORKSPACE.reports)
    return [] if found is None else [found]


def ask(count: int, verb: str = "delete") -> None:
    """UsageError where nobody can be asked, or nobody says yes."""
    from orchestrator.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError(f"nobody can be asked whether to {verb}", hint=f"give --yes to {verb} without a question")
    console.progress(f"{verb.capitalize()} {'this run' if count == 1 else f'these {count} runs'} for good? [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError(
            f"nothing was {'deleted' if verb == 'delete' else f'{verb}ed'}", hint="answer y, or give --yes"
        )
