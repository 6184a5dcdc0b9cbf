"""Show what is up and what is being measured: since when, until when, at what cost, how far it has come.

An unfinished run is shown with what is stored of it and how it goes on, where it is the newest.
"""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE


def command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Ask every provider that we used what of ours is alive, and every run here whether an orch is working on it."""
    from orchestrator.hosts.provision.overview import overview
    from orchestrator.hosts.provision.registry import Registry
    from orchestrator.measure.progress import unfinished

    console.as_json = as_json
    found, measured = overview(Registry(WORKSPACE.deployments)), _runs_in_progress()
    left = unfinished(WORKSPACE.results)
    console.emit({"deployments": found, "runs": measured, "unfinished": None if left is None else left.to_dict()})
    if not found and not measured:
        console.result("nothing is up, and no run is in progress here")
    for item in found:
        console.result(f"{item['deployment']}  {item['provider']}  run {item['run']}  {item['state']}")
        console.result(f"    since {item['since']}, until {item['until']}, {item['cost']}")
        for name, host in item["hosts"].items():
            console.result(f"    {name}: {'alive' if host['alive'] else host['why']}")
        console.result(f"    end it with: orch teardown {item['run']}")
    if left is not None:
        how = "killed, its process is gone" if left.was_killed else "interrupted"
        console.result(f"run {left.run}  {how}: {left.sentence()}")
        console.result(f"    continue it with: orch run --resume {left.run}")
        if left.done:
            console.result(f"    see what is stored with: orch report {left.run}")


def _runs_in_progress() -> list[dict[str, object]]:
    """Print how far each has come; the same as plain data."""
    from orchestrator.experiment.providers import THIS_MACHINE
    from orchestrator.measure.progress import in_progress

    found = in_progress(WORKSPACE.results)
    for run in found:
        where = f"  {run.provider}" if run.provider else ""
        if run.provider == THIS_MACHINE:
            where = "  on this machine"
        console.result(f"run {run.run}{where}  in progress")
        if run.experiment:
            console.result(f"    experiment {run.experiment}")
        console.result(f"    {f'since {run.since}, ' if run.since else ''}{run.sentence()}")
        if run.cell:
            console.result(f"    now: {run.cell}")
    return [run.to_dict() for run in found]
