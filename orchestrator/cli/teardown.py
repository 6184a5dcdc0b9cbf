"""Take down what is running: every run's hosts or, on this machine, its processes. Safe to run at any time, repeatedly.

Without RUN: every deployment that this folder's `.orch` records as up and, on this machine, what the latest run left;
a database that an orch started and left when it was killed is ended in any case;
a run still in progress in another orch process is left alone. RUN (a run's or a deployment's id) is ended in any case,
even if its folder under results/ is gone; an orch process that is still measuring it is ended first. Hosts that carry our
label but were made from another folder are listed, and ended only with --all: they may belong to somebody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.errors import TeardownIncomplete, UsageError

if TYPE_CHECKING:
    from orchestrator.measure.teardown import Ending, Stray


def command(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="The run to end; by default, everything that is up.",
            show_default=False,
            autocompletion=completions.runs,
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Also take down what earlier runs left, and all else here or in this project with our label.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Take down, then print each receipt; exit 6 when something is left."""
    from orchestrator.measure import teardown as ending
    from orchestrator.measure.interrupts import without_terminal

    console.as_json = as_json
    if run is not None and everything:
        raise UsageError("name a run or say --all, not both")
    strays: tuple[Stray, ...] = ()
    with without_terminal():
        if run is not None:
            endings = [ending.end(WORKSPACE, run)]
        elif everything:
            endings = ending.end_all(WORKSPACE)
        else:
            endings, found = ending.end_what_is_up(WORKSPACE), ending.strays(WORKSPACE)
            strays = found.strays
            for provider, why in found.unasked.items():
                console.warning(f"{provider} {why}")
        databases = ending.end_databases()
    for stray in strays:
        console.warning(
            f"{stray.id} ({stray.provider}: {', '.join(stray.hosts) or 'no host'}) carries our label but was not made "
            "from this folder: left alone; end it there, or with `orch teardown --all`"
        )
    receipts = [{"run": e.run, **e.receipt.to_dict()} for e in endings if e.receipt is not None]
    _tell(endings, is_asked_for=run is not None or everything)
    left = [item for e in (*endings, *databases) for item in e.left]
    if left:
        raise TeardownIncomplete(
            f"not taken down: {'; '.join(left)}", hint="run `orch teardown` again", details={"receipts": receipts}
        )
    others = [{"deployment": s.id, "provider": s.provider, "hosts": list(s.hosts)} for s in strays]
    console.emit({"receipts": receipts, "not_ours": others})


def _tell(endings: list[Ending], *, is_asked_for: bool) -> None:
    """The runs that were left alone first, so that the last line is a receipt where there is one.

    `is_asked_for`: also the receipt of a run that had been taken down before.
    """
    endings = [ending for ending in endings if ending.is_new or is_asked_for]
    for ending in sorted(endings, key=lambda e: not e.is_going_on):
        if ending.is_going_on:
            console.result(
                f"{ending.run}  is still in progress in another orch process: left alone; "
                f"`orch teardown {ending.run}` ends it"
            )
        elif ending.receipt is not None:
            console.result(f"{ending.run}  {ending.receipt.sentence()}")
    if not endings:
        console.result("nothing is up")
