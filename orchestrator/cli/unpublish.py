"""Take runs out of a team's index and dataset: what orch put there for them, and nothing else."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from orchestrator.cli import completions
from orchestrator.cli.choosing import AsJson, IndexAt, OfTeam
from orchestrator.cli.console import console
from orchestrator.cli.delete import ask
from orchestrator.cli.publish import SCHEMA_VERSION, Dataset, targets


def command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Ids of runs, whole; they need not be here.", autocompletion=completions.runs
        ),
    ],
    to: Dataset = None,
    index: IndexAt = None,
    team: OfTeam = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say which runs go, ask, and take them out; a run that is not there is an error, after the others."""
    from orchestrator.errors import UsageError

    console.as_json = as_json
    with targets(to, index, team=team, makes=False) as (place, opened):
        console.progress(
            f"out of {' and '.join([*([place.told] if place else []), *(['the index'] if opened else [])])}:"
        )
        for run in runs:
            console.progress(f"  {run}")
        if not yes:
            ask(len(runs), "unpublish")
        done: list[dict[str, Any]] = []
        for run in runs:
            told: dict[str, Any] = {"run": run}
            if opened is not None:
                from orchestrator.history import shared

                told["index"] = shared.withdraw(opened, run)
            if place is not None:
                from orchestrator.teams.dataset import withdraw

                told["dataset"] = withdraw(place, run)
            done.append(told)
    gone = [of["run"] for of in done if of.get("index") or of.get("dataset")]
    if gone:
        console.result(f"unpublished: {', '.join(gone)}")
    document = {"schema_version": SCHEMA_VERSION, "runs": done}
    if missing := [of["run"] for of in done if of["run"] not in gone]:
        raise UsageError(
            f"not published there: {', '.join(missing)}",
            hint="`orch runs --index URL --json` lists ids"
            if place is None
            else f"whole ids are needed; folders named run=... in {place.told} have them",
            details=document,
        )
    console.emit(document)
