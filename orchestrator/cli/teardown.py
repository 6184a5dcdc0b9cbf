"""End what a run has left: its hosts, or on this machine its processes. Safe at any time, any number of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import console
from orchestrator.errors import OrchError, TeardownIncomplete, UsageError

if TYPE_CHECKING:
    from orchestrator.hosts.provider import Receipt
    from orchestrator.results.folder import RunFolder


def command(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="The run; without it the latest one.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="What every run has left.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Take down, then print each receipt; exit 6 when something is left."""
    from orchestrator.results.folder import LATEST, RunFolder, runs

    console.as_json = as_json
    if run is not None and everything:
        raise UsageError("name a run or say --all, not both")
    receipts: list[dict[str, Any]] = []
    left: list[str] = []
    for folder in runs() if everything else [RunFolder.open(run or LATEST)]:
        try:
            receipt = _take_down(folder)
        except OrchError as error:
            left.append(f"run {folder.id}: {error.message}")
            continue
        receipts.append({"run": folder.id, **receipt.to_dict()})
        left.extend(f"{item} of run {folder.id}" for item in receipt.left)
        console.result(f"{folder.id}  {receipt.sentence()}")
    if left:
        raise TeardownIncomplete(
            f"not taken down: {'; '.join(left)}", hint="call `orch teardown` again", details={"receipts": receipts}
        )
    if not receipts:
        console.result("no run has left anything: there is none")
    console.emit({"receipts": receipts})


def _take_down(folder: RunFolder) -> Receipt:
    """End what a run has left, and keep the receipt in its folder."""
    from orchestrator.hosts.provider import open_deployment

    receipt = open_deployment(folder.plan(), folder).teardown()
    folder.write_json("receipt.json", receipt.to_dict())
    return receipt
