"""The verb `run`: from an experiment to a report, or from an interrupted run to its end."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.shared_options import AsJson, Overrides, ShareMachine
from orchestrator.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.experiment.plan.plan import Plan
    from orchestrator.measure.run import Result


def run(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="The experiment, a YAML file; by default, the current plan. With --resume: the run (the latest one).",
            show_default=False,
        ),
    ] = None,
    overrides: Overrides = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run, with the same schedule.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the hosts up afterwards; `orch teardown` ends them.")
    ] = False,
    share: ShareMachine = False,
    full: Annotated[
        bool, typer.Option("--full", help="Print every sentence and table; `orch runs show --full` does so later.")
    ] = False,
    referee: Annotated[
        str | None,
        typer.Option(metavar="TOOL", help="Measure beside an independent load generator: wrk, oha, ghz, or `any`."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run an experiment: make the hosts, measure, check, write the report, take everything down.

    The last lines are the answer, the run folder and the report; the exit code says what went wrong on the way.
    """
    console.as_json = as_json
    if resume and referee is not None:
        raise UsageError("--referee belongs to a run that begins", hint="omit it: a resumed run keeps its referee")
    if resume:
        result = _resume(what, overrides, keep=keep, share=share)
    else:
        result = _start(what, overrides, keep=keep, share=share, referee=referee)
    tell(result, is_full=full)
    document = result.to_dict()
    error = result.error()
    if error is not None:
        error.details = document
        raise error
    console.emit(document)


def _start(file: str | None, overrides: list[str] | None, *, keep: bool, share: bool, referee: str | None) -> Result:
    from orchestrator.cli.experiments.refereed import referee_of
    from orchestrator.measure.run import start

    plan = _plan_of(file, overrides or [])
    beside = None if referee is None else referee_of(plan, referee)
    _warn_of_this_machine(plan)
    return start(
        plan, WORKSPACE, command=["orch", *sys.argv[1:]], listener=console, keep=keep, share=share, referee=beside
    )


def _resume(run: str | None, overrides: list[str] | None, *, keep: bool, share: bool) -> Result:
    from orchestrator.measure.run import resume
    from orchestrator.results.folder import RunFolder
    from orchestrator.results.names import LATEST

    if overrides:
        raise UsageError(
            "--set cannot change a run that has begun", hint="start a new run with it: orch run FILE --set ..."
        )
    folder = RunFolder.open(run or LATEST, root=WORKSPACE.results)
    _warn_of_this_machine(folder.plan())
    return resume(folder, WORKSPACE, command=["orch", *sys.argv[1:]], listener=console, keep=keep, share=share)


def _plan_of(file: str | None, overrides: list[str]) -> Plan:
    """Return the plan of an experiment file, which becomes the current one, or the current one."""
    from orchestrator.experiment import store
    from orchestrator.experiment.plan.planning import make_plan

    if file is not None:
        plan = make_plan(Path(file), overrides)
        store.save(plan, WORKSPACE.plans)
        return plan
    plan = store.current(WORKSPACE.plans)
    if overrides:
        raise UsageError(
            "--set changes a plan, and the current plan exists already",
            hint=f"name the file: orch run {plan.experiment_path} --set {overrides[0]}",
        )
    stale = store.is_stale(plan)
    if stale is not None:
        raise UsageError(f"the current plan is stale: {stale}", hint=f"plan again: orch plan {plan.experiment_path}")
    overridden = "".join(f" --set {override}" for override in plan.overrides)
    console.progress(f"plan {plan.id} of {plan.experiment_path}{overridden}: {plan.question}")
    return plan


def _warn_of_this_machine(plan: Plan) -> None:
    """Before anything is measured: what else it does right now, where it is what measures."""
    from orchestrator.experiment.providers import PROVIDERS
    from orchestrator.hosts.busy import look

    if PROVIDERS[plan.provider].hosts_are_this_machine and (warning := look().warning()):
        console.warning(warning)


def tell(result: Result, *, is_full: bool = False) -> None:
    """The last lines: the answer and a small table, or all of it, and what a person looks for next."""
    if result.kept is not None:
        until = result.kept.get("expires_at")
        when = "" if until is None else f" until {datetime.fromtimestamp(until, UTC):%Y-%m-%d %H:%M:%S} UTC"
        console.progress(
            f"hosts stay up{when}: {', '.join(result.kept['hosts'])}; "
            f"end them with `orch teardown {result.folder.name}`"
        )
    if result.summary is not None:
        from orchestrator.cli.answer import result_lines

        console.lines(result_lines(result.summary, is_full=is_full))
        console.result()
    console.result(f"run     {result.folder}")
    if result.report is not None:
        console.result(f"report  {result.report}")
