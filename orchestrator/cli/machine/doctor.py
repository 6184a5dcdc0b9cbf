"""The verb `doctor`: what this machine can do, and what it lacks."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson
from orchestrator.cli.tables import coloured, table
from orchestrator.errors import MissingError, OrchError, UsageError, did_you_mean
from orchestrator.experiment import store
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.probes import ProbeResult, lacking, of_experiment, survey

_MARKS = {True: "yes", False: "no"}


def doctor(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="An experiment: its own machines are looked at, too.")
    ] = None,
    provider: Annotated[
        str | None, typer.Option("--for", metavar="PROVIDER", help="A provider: exit 3 if it cannot be used here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what this machine can do, and what each provider still needs. Changes nothing.

    With `--for PROVIDER` the exit code says whether that provider can be used: 3 when something that it needs is missing.
    With `--for ssh FILE` the machines of an experiment are looked at, too.
    """
    console.as_json = as_json
    if provider is not None and provider not in PROVIDERS:
        raise UsageError(f"unknown provider '{provider}'", hint=did_you_mean(provider, PROVIDERS))
    plan = None
    with suppress(OrchError):
        plan = store.current(WORKSPACE.plans)
    findings = survey(provider, plan)
    if file is not None:
        findings += _of_experiment(file, provider)
    rows = []
    for finding in findings:
        rows.append((_MARKS[finding.is_there], finding.name, finding.detail))
        if not finding.is_there:
            needed = ", ".join(finding.needed_for)
            rows.append(("", "", f"needed for {needed}: {finding.hint}" if needed else finding.hint))
    console.lines(coloured(table(("", "", ""), rows), {"yes": "green", "no": "yellow"}))
    console.result()
    names = [p.name for p in PROVIDERS.values() if p.hosts_are_this_machine or p.name == provider]
    usable = {name: not lacking(findings, name) for name in names}
    for name, is_usable in usable.items():
        console.result(f"provider {name}: {'can be used here' if is_usable else 'cannot be used here'}")
    for name in (name for name in PROVIDERS if name not in usable):
        console.result(f"provider {name}: see `orch doctor --for {name}`")
    console.emit({"findings": [asdict(finding) for finding in findings], "providers": usable})
    if provider is not None and not usable[provider]:
        missing = lacking(findings, provider)
        details = "; ".join(finding.detail for finding in missing)
        raise MissingError(f"provider {provider} cannot be used here: {details}", hint=missing[0].hint or None)


def _of_experiment(file: Path, provider: str | None) -> list[ProbeResult]:
    from orchestrator.experiment.plan.planning import make_plan

    plan = make_plan(file)
    if plan.provider != provider or not PROVIDERS[plan.provider].hosts_are_given:
        raise UsageError(
            f"{file} has `provider: {plan.provider}`",
            hint="`orch doctor --for ssh FILE` looks at a file with `hosts`",
        )
    return of_experiment(plan)
