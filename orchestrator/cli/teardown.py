"""End what a run has left: its hosts, or on this machine its processes. Safe at any time, any number of times."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.errors import TeardownIncomplete, UsageError


def command(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="The run; without it the latest one.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="What every run has left.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Take down, then print each receipt; exit 6 when something is left."""
    from orchestrator.hosts.provider import open_deployment
    from orchestrator.measure.run import take_down
    from orchestrator.results.folder import LATEST, RunFolder, runs

    console.as_json = as_json
    if run is not None and everything:
        raise UsageError("name a run or say --all, not both")
    folders = runs() if everything else [RunFolder.open(run or LATEST)]
    receipts = [(folder.id, take_down(folder, open_deployment(folder.plan(), folder))) for folder in folders]
    document = {"receipts": [{"run": run_id, **receipt.to_dict()} for run_id, receipt in receipts]}
    for run_id, receipt in receipts:
        console.result(f"{run_id}  {receipt.sentence()}")
    if not receipts:
        console.result("no run has left anything: there is none")
    left = [f"{item} of run {run_id}" for run_id, receipt in receipts for item in receipt.left]
    if left:
        raise TeardownIncomplete(f"still there: {', '.join(left)}", hint="call `orch teardown` again", details=document)
    console.emit(document)
