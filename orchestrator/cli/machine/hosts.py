"""The verbs `status`, `ssh` and `teardown`: what is up, and how it is reached and ended."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson
from orchestrator.errors import MissingError, TeardownIncomplete, UsageError, did_you_mean

if TYPE_CHECKING:
    from orchestrator.measure.teardown import Ending, Stray


def status(as_json: AsJson = False) -> None:
    """Show which hosts are up and which runs are in progress: since when, until when, at what cost, how far."""
    from orchestrator.hosts.provision.deployments import Registry
    from orchestrator.hosts.provision.takedown import overview

    console.as_json = as_json
    deployments, running = overview(Registry(WORKSPACE.deployments)), _runs_in_progress()
    console.emit({"deployments": deployments, "runs": running})
    if not deployments and not running:
        console.result("nothing is up, and no run is in progress here")
    for item in deployments:
        console.result(f"{item['deployment']}  {item['provider']}  run {item['run']}  {item['state']}")
        until = f", until {item['until']}" if item["until"] else ""
        console.result(f"    since {item['since']}{until}, {item['cost']}")
        for name, host in item["hosts"].items():
            console.result(f"    {name}: {'alive' if host['alive'] else host['why']}")
        console.result(f"    end it with: orch teardown {item['run']}")


def _runs_in_progress() -> list[dict[str, Any]]:
    """Print how far each has come; the same as plain data."""
    from orchestrator.experiment.providers import THIS_MACHINE
    from orchestrator.measure.progress import in_progress

    running = in_progress(WORKSPACE.results)
    for run in running:
        where = f"  {run.provider}" if run.provider else ""
        if run.provider == THIS_MACHINE:
            where = "  on this machine"
        console.result(f"run {run.run}{where}  in progress")
        if run.experiment:
            console.result(f"    experiment {run.experiment}")
        console.result(f"    {f'since {run.since}, ' if run.since else ''}{run.sentence()}")
        if run.cell:
            console.result(f"    now: {run.cell}")
    return [asdict(run) for run in running]


def ssh(
    host: Annotated[str, typer.Argument(help="A host's name, as `orch status` shows it.")],
    words: Annotated[list[str] | None, typer.Argument(help="A command to run instead of a shell.")] = None,
    deployment: Annotated[str | None, typer.Option(help="Which deployment, if several are up.")] = None,
) -> None:
    """Open a shell on a host that is up, or run one command there, with the deployment's own keys and known hosts."""
    from orchestrator.hosts.provision.deployment import OUTPUT
    from orchestrator.hosts.provision.deployments import Registry
    from orchestrator.hosts.remote.container import Container
    from orchestrator.hosts.remote.ssh_files import SSH_CONFIG

    registry = Registry(WORKSPACE.deployments)
    intent = registry.find(deployment)
    if host not in intent.hosts:
        raise UsageError(f"{intent.id} has no host {host}", hint=did_you_mean(host, intent.hosts))
    folder = registry.folder_of(intent.id)
    if not (folder / OUTPUT).exists():
        raise UsageError(f"{intent.id} is not up yet: its hosts are still being made", hint="see `orch status`")
    reached = json.loads((folder / OUTPUT).read_text())["hosts"][host].get("container")
    batch = [] if words else ["-t"]
    argv = ["ssh", "-F", str(folder / SSH_CONFIG), *batch, host, *(words or [])]
    if reached is not None:
        argv = [*Container(name=host, **reached).argv(*batch), "sh", *(["-c", " ".join(words)] if words else [])]
    if shutil.which(argv[0]) is None:
        raise MissingError(f"{argv[0]} is missing", hint="install the program that reaches the host")
    os.execvp(argv[0], argv)  # noqa: S606 - an argv list, no shell


def teardown(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="The run to end; by default, everything that is up.", show_default=False),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also take down what earlier runs left, and all else here or in this project with our label."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take down what is running: every run's hosts or, on this machine, its processes. Safe to repeat at any time.

    Without RUN: every deployment that this folder's `.orch` records as up and, on this machine, what the latest run left; a
    run still in progress in another orch process is left alone. RUN (a run's or a deployment's id) is ended in any case,
    even if its folder under results/ is gone; an orch process that is still measuring it is ended first. Hosts that carry
    our label but were made from another folder are listed, and ended only with --all: they may belong to somebody else.
    Exit 6 when something is left.
    """
    from orchestrator.measure import teardown as ending
    from orchestrator.measure.interrupts import without_terminal

    console.as_json = as_json
    if run is not None and everything:
        raise UsageError("name a run or say --all, not both")
    strays: list[Stray] = []
    with without_terminal():
        if run is not None:
            endings = [ending.end(WORKSPACE, run)]
        elif everything:
            endings = ending.end_all(WORKSPACE)
        else:
            endings, (strays, unasked) = ending.end_what_is_up(WORKSPACE), ending.strays(WORKSPACE)
            for provider, reason in unasked.items():
                console.warning(f"{provider} {reason}")
    for stray in strays:
        console.warning(
            f"{stray.id} ({stray.provider}: {', '.join(stray.hosts) or 'no host'}) carries our label but was not made "
            "from this folder: left alone; end it there, or with `orch teardown --all`"
        )
    _print_endings(endings)
    receipts = [{"run": e.run, **asdict(e.receipt)} for e in endings if e.receipt is not None]
    left = [item for e in endings for item in e.left]
    if left:
        raise TeardownIncomplete(
            f"not taken down: {'; '.join(left)}", hint="run `orch teardown` again", details={"receipts": receipts}
        )
    not_ours = [{"deployment": s.id, "provider": s.provider, "hosts": list(s.hosts)} for s in strays]
    console.emit({"receipts": receipts, "not_ours": not_ours})


def _print_endings(endings: list[Ending]) -> None:
    """The runs that were left alone first, so that the last line is a receipt where there is one."""
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
