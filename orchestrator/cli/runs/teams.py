"""The verbs `publish` and `unpublish`: runs in a team's index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged
from orchestrator.cli.runs.listing import confirm
from orchestrator.cli.shared_options import AsJson, IndexAt, OfTeam, Runs, Yes, complete_runs
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from sqlalchemy import URL

SCHEMA_VERSION = 1


def publish(
    runs: Runs,
    index: IndexAt = None,
    team: OfTeam = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put a run in the place of what is there of its id.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Publish runs in a team's index, a database that several people read.

    One that is there already is left as it is.
    """
    from orchestrator.history import shared
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    done: list[dict[str, Any]] = []
    folders = [RunFolder.open(run, root=WORKSPACE.results) for run in runs]
    with shared.shared(_team(index, team=team), makes=True) as opened:
        for folder in folders:
            record = shared.record_of(folder, judged(folder))
            outcome = shared.publish(opened, record, replace=replace)
            done.append({"run": record.id, "outcome": outcome})
            console.result(f"{record.id}: {outcome}")
    console.emit({"schema_version": SCHEMA_VERSION, "runs": done})


def unpublish(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Ids of runs, whole; they need not be here.", autocompletion=complete_runs
        ),
    ],
    index: IndexAt = None,
    team: OfTeam = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take runs out of a team's index. A run that is not there is an error, after the others."""
    from orchestrator.history import shared

    console.as_json = as_json
    with shared.shared(_team(index, team=team)) as opened:
        if not yes:
            confirm(len(runs), "unpublish")
        gone = [run for run in runs if shared.withdraw(opened, run)]
    if gone:
        console.result(f"unpublished: {', '.join(gone)}")
    document = {"schema_version": SCHEMA_VERSION, "unpublished": gone}
    if missing := [run for run in runs if run not in gone]:
        raise UsageError(
            f"not published there: {', '.join(missing)}",
            hint="`orch runs --index URL --json` lists ids",
            details=document,
        )
    console.emit(document)


def _team(index: str | None, *, team: bool) -> URL:
    """The URL of the index that was named; UsageError where none was."""
    from orchestrator.history import shared

    url = shared.chosen(index, of_team=team)
    if url is None:
        raise UsageError("name the index", hint="--index URL, or --team (the URL in ORCH_INDEX)")
    return url
