"""Resolve an experiment into its matrix, schedule and expected duration, and make it the current plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE


def command(
    file: Annotated[
        Path,
        typer.Argument(help="The experiment, a YAML file.", show_default=False, autocompletion=completions.experiments),
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override a value of the file, e.g. load.requests=100. Repeatable.",
            autocompletion=completions.overrides,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Plan, save, print."""
    from orchestrator.cli.plan_text import earlier_summaries, plan_document, plan_lines
    from orchestrator.errors import OrchError
    from orchestrator.experiment import make_plan
    from orchestrator.experiment.plan import store
    from orchestrator.experiment.plan.topology import programs_in_words
    from orchestrator.experiment.providers import PROVIDERS
    from orchestrator.hosts.busy import look
    from orchestrator.hosts.plan_warnings import kernel_lacks

    console.as_json = as_json
    try:
        plan = make_plan(file, overrides or ())
    except OrchError:
        store.forget_current(WORKSPACE.plans)
        raise
    path = store.save(plan, WORKSPACE.plans)
    document = plan_document(plan, path, earlier_summaries(WORKSPACE.results, plan.name))
    made = None
    if PROVIDERS[plan.provider].makes_hosts:
        from orchestrator.hosts.provision.preview import preview  # SSH, Ansible and Terraform take a while to import

        made = preview(plan)
    document["warnings"] += kernel_lacks(plan)
    document["programs"] = programs_in_words(plan)
    document["terraform"] = None if made is None else made.to_dict()
    document["machine_now"] = look().to_dict() if PROVIDERS[plan.provider].hosts_are_this_machine else None
    for line in plan_lines(plan, document):
        console.result(line)
    console.emit(document)
