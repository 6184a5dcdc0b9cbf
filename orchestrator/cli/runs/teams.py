"""The verbs `publish` and `unpublish`: runs in a team's index."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged
from orchestrator.cli.runs.listing import confirm
from orchestrator.cli.shared_options import AsJson, Runs, Yes
from orchestrator.errors import UsageError

SCHEMA_VERSION = 1


def publish(runs: Runs, as_json: AsJson = False) -> None:
    """Publish runs in a team's index, the database that ORCH_INDEX names; what is there of them already is replaced."""
    from orchestrator.history import shared
    from orchestrator.results.folder import RunFolder

    console.as_json = as_json
    folders = [RunFolder.open(run, root=WORKSPACE.results) for run in runs]
    published = []
    with shared.shared(shared.team_url(), makes=True) as opened:
        for folder in folders:
            record = shared.record_of(folder, judged(folder))
            shared.publish(opened, record)
            published.append(record.id)
            console.result(f"published: {record.id}")
    console.emit({"schema_version": SCHEMA_VERSION, "published": published})


def unpublish(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Ids of runs, whole; they need not be here.")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take runs out of a team's index. A run that is not there is an error, after the others."""
    from orchestrator.history import shared

    console.as_json = as_json
    with shared.shared(shared.team_url()) as opened:
        if not yes:
            confirm(len(runs), "unpublish")
        gone = [run for run in runs if shared.withdraw(opened, run)]
    if gone:
        console.result(f"unpublished: {', '.join(gone)}")
    document = {"schema_version": SCHEMA_VERSION, "unpublished": gone}
    if missing := [run for run in runs if run not in gone]:
        raise UsageError(
            f"not published there: {', '.join(missing)}", hint="`orch runs --team --json` lists ids", details=document
        )
    console.emit(document)
