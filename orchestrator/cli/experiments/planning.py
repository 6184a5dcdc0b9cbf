"""The verb `plan`: what an experiment measures, and what is missing to run it; or whether files are valid."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson, Overrides
from orchestrator.errors import MissingError, OrchError, UsageError
from orchestrator.experiment.read.problems import ExperimentError

if TYPE_CHECKING:
    from orchestrator.experiment.plan.plan import Plan


def plan(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="The experiment, a YAML file; with --check, one or more.", show_default=False
        ),
    ],
    overrides: Overrides = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only say whether each file is valid; exit 2 when one is not.")
    ] = False,
    tries: Annotated[
        bool,
        typer.Option("--try", help="Also call each of your own services once, and show the request and the reply."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what an experiment measures, its schedule, duration and power, and what is missing to run it.

    It becomes the current plan, which `orch run` without FILE runs.
    """
    console.as_json = as_json
    if check:
        _check(files, overrides or [])
    elif len(files) > 1:
        raise UsageError("one experiment is planned at a time", hint="--check takes several files")
    else:
        _plan(files[0], overrides or [], tries=tries)


def _check(files: list[Path], overrides: list[str]) -> None:
    """Print of each file whether it is valid; whether programs are built does not matter."""
    from orchestrator.experiment.plan.planning import make_plan

    documents = []
    for file in files:
        try:
            plan = make_plan(file, overrides)
        except ExperimentError as error:
            for line in error.lines:
                console.progress(line)
            problems = [
                {"source": p.mark.source.name, "line": p.mark.line, "column": p.mark.column, "message": p.message}
                for p in error.problems
            ]
            documents.append({"file": str(file), "valid": False, "problems": problems})
        else:
            console.result(f"{file}: valid, {len(plan.cells):,} cells, {len(plan.trials):,} trials")
            documents.append({"file": str(file), "valid": True, "problems": []})
    console.emit({"files": documents})
    if not all(document["valid"] for document in documents):
        raise typer.Exit(UsageError.exit_code)


def _plan(file: Path, overrides: list[str], *, tries: bool) -> None:
    from orchestrator.cli.experiments.plan_text import earlier_summaries, plan_document, plan_lines
    from orchestrator.experiment import store
    from orchestrator.experiment.plan.planning import make_plan
    from orchestrator.experiment.plan.topology import missing_programs
    from orchestrator.experiment.providers import PROVIDERS
    from orchestrator.hosts.busy import look

    try:
        planned = make_plan(file, overrides)
    except OrchError:
        store.forget_current(WORKSPACE.plans)
        raise
    path = store.save(planned, WORKSPACE.plans)
    provider, missing = PROVIDERS[planned.provider], missing_programs(planned)

    document: dict[str, Any] = plan_document(planned, path, earlier_summaries(WORKSPACE.results, planned.name))
    if provider.hosts_are_given:
        from orchestrator.hosts.own.survey import inspect

        looked = inspect(planned)
        document["machines"] = [{**asdict(each), "sentence": each.sentence()} for each in looked]
        missing += [f"{each.trouble} ({each.hint})" for each in looked if each.trouble]
    elif provider.makes_hosts:
        from orchestrator.hosts.provision.makers import maker_of  # SSH, Ansible and Terraform take a while to import

        try:
            maker_of(planned.provider, WORKSPACE.deployments).check()
        except OrchError as error:
            missing.append(f"{error.message} (`orch doctor --for {planned.provider}`)")
    now = look() if provider.hosts_are_this_machine else None
    document["machine_now"] = now and {**asdict(now), "warning": now.warning()}
    document["missing"] = missing + _missing_database(planned)
    console.lines(plan_lines(planned, document))
    document["tried"] = _tried(planned) if tries else None
    console.emit(document)
    if wrong := [each["stack"] for each in document["tried"] or () if each.get("failure")]:
        raise MissingError(f"no right reply from {', '.join(wrong)}", hint="its request and reply are above")


def _tried(made: Plan) -> list[dict[str, Any]]:
    from orchestrator.measure.own.sampling import tried

    documents = []
    for label, came in tried(made):
        document = {"stack": label, **({"failure": came} if isinstance(came, str) else asdict(came))}
        documents.append(document)
        console.result("")
        console.result(label)
        for sign, key in ((">", "request"), ("<", "reply"), ("!", "failure")):
            for line in str(document.get(key, "")).splitlines():
                console.result(f"  {sign} {line}")
    if not documents:
        raise UsageError("no stack calls a service of your own", hint="--try calls only such services")
    return documents


def _missing_database(planned: Plan) -> list[str]:
    from orchestrator.experiment.model.factors import GIVEN
    from orchestrator.experiment.plan.cells import ask_postgresql
    from orchestrator.experiment.providers import PROVIDERS
    from orchestrator.hosts.local import postgresql

    if PROVIDERS[planned.provider].makes_hosts or os.environ.get(GIVEN) or not ask_postgresql(planned.cells):
        return []
    try:
        postgresql.find()
    except OrchError as error:
        return [f"{error.message} ({error.hint})" if error.hint else error.message]
    return []
