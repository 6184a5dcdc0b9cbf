"""Show what is up: since when, until when, at what cost."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.console import console


def command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Ask every provider that we used what of ours is alive."""
    from orchestrator.hosts.overview import overview

    console.as_json = as_json
    found = overview()
    console.emit({"deployments": found})
    if not found:
        console.result("nothing is up")
    for item in found:
        console.result(f"{item['deployment']}  {item['provider']}  run {item['run']}  {item['state']}")
        console.result(f"    since {item['since']}, until {item['until']}, {item['cost']}")
        for name, host in item["hosts"].items():
            console.result(f"    {name}: {'alive' if host['alive'] else host['why']}")
        console.result(f"    end it with: orch teardown {item['run']}")
