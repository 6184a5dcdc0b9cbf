"""Show what this machine can do, and what each provider still needs. Changes nothing.

With `--for PROVIDER` the exit code says whether that provider can be used: 3 when something that it needs is missing.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson, complete_providers
from orchestrator.errors import MissingError, UsageError, did_you_mean

REFEREE = "referee"


def doctor(
    provider: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="PROVIDER",
            help="A provider, or `referee`: exit 3 if it cannot be used here.",
            autocompletion=complete_providers,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look, and print what was found."""
    from orchestrator.experiment.providers import PROVIDERS
    from orchestrator.hosts.probes import lacking, survey

    console.as_json = as_json
    if provider == REFEREE:
        _referee()
        return
    if provider is not None and provider not in PROVIDERS:
        raise UsageError(f"unknown provider '{provider}'", hint=did_you_mean(provider, [*PROVIDERS, REFEREE]))
    findings = survey(WORKSPACE.plans, provider)
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        needed = ", ".join(finding.needed_for)
        mark = console.style("yes", "green") if finding.is_there else console.style("no ", "yellow")
        console.result(f"{mark}  {finding.name.ljust(width)}  {finding.detail}")
        if not finding.is_there:
            reason = f"needed for {needed}: " if needed else ""
            console.result(f"     {' ' * width}  {console.style(reason + finding.hint, 'dim')}")
    console.result()
    asked = [p.name for p in PROVIDERS.values() if p.hosts_are_this_machine or p.name == provider]
    usable = {name: not lacking(findings, name) for name in asked}
    for name, is_usable in usable.items():
        console.result(f"provider {name}: {'can be used here' if is_usable else 'cannot be used here'}")
    for name in (name for name in PROVIDERS if name not in usable):
        console.result(f"provider {name}: `orch doctor --for {name}` asks the cloud")
    console.emit({"findings": [asdict(finding) for finding in findings], "providers": usable})
    if provider is not None and not usable[provider]:
        missing = lacking(findings, provider)
        details = "; ".join(finding.detail for finding in missing)
        # The findings are already on stdout; as JSON they must stay its one document.
        console.as_json = False
        raise MissingError(f"provider {provider} cannot be used here: {details}", hint=missing[0].hint or None)


def _referee() -> None:
    """The load generators of `orch run --referee`; MissingError where there is none."""
    from orchestrator.hosts.load_generators import look_for_all

    looked = look_for_all()
    for found in looked:
        mark = console.style("yes", "green") if found.is_usable else console.style("no ", "yellow")
        console.result(
            f"{mark}  {found.tool.name}  {f'{found.version}, {found.path}' if found.is_usable else found.why}"
        )
        console.result(f"          {console.style(f'asks {found.tool.speaks}', 'dim')}")
        if not found.is_usable:
            console.result(f"          {console.style(f'to get it: {found.tool.install}', 'dim')}")
    findings = [
        {
            "name": found.tool.name,
            "is_there": found.is_usable,
            "version": found.version,
            "path": found.path,
            "sha256": found.sha256,
            "why": found.why,
            "hint": "" if found.is_usable else found.tool.install,
        }
        for found in looked
    ]
    console.emit({"findings": findings})
    if not any(found.is_usable for found in looked):
        console.as_json = False  # stdout holds its one document already
        raise MissingError("no independent load generator is here", hint="make referee")
