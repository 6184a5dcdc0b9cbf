"""Run an experiment beside independent load generators (wrk, oha, ghz), and show whether they measure what we do."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.run import plan_of, start, tell
from orchestrator.cli.shared_options import AsJson, Overrides, ShareMachine, complete_experiments
from orchestrator.cli.tables import table
from orchestrator.errors import MissingError, OrchError, UsageError, did_you_mean

if TYPE_CHECKING:
    from orchestrator.experiment.plan.plan import Plan
    from orchestrator.findings.check_result import CheckResult
    from orchestrator.referee.tools import Found
    from orchestrator.results.manifest import RefereeRecord

_MOST_REASONS = 5
_PLAN = re.compile("[0-9a-f]{12}[.]json")
_LONGEST_S = 3_600
_MOST_PER_CENT = 1_000
_SPARE = 1.2  # of the time that a run is expected to take


def command(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="The experiment, a YAML file, or a plan, a JSON file; by default, the current plan.",
            show_default=False,
            autocompletion=complete_experiments,
        ),
    ] = None,
    overrides: Overrides = None,
    tool: Annotated[
        str | None,
        typer.Option(
            "--tool",
            metavar="NAME",
            help="Ask with this load generator alone: wrk, oha or ghz.",
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT", help="How far apart both may be, like 25 %; by default, what each program's page gives."
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="SECONDS", help="How long it asks each time, like 3s; by default, the cell's duration, or 3s."
        ),
    ] = None,
    share: ShareMachine = False,
    as_json: AsJson = False,
) -> None:
    """Run, then print the ratios and the answer; exit status 5 where a check fails."""
    console.as_json = as_json
    share_within = None if within is None else _share(within)
    window_s = None if window is None else _seconds(window)
    plan = _plan(what, overrides or [])
    settings = _settings(plan, tool, share_within, window_s)
    for name, used in settings.tools.items():
        cells = sum(of == name for of in settings.cells.values())
        console.progress(f"{name} {used.version} asks {cells} of {len(plan.cells)} cells, within {used.within:.0%}")
    for reason in dict.fromkeys(settings.refused.values()):
        console.progress(f"not asked: {reason}")
    _say_how_long(plan, settings)
    result = start(plan, share=share, referee=settings)
    tell(result)
    found, names = _results(result.folder)
    for line in _lines(found, names):
        console.result(line)
    document = {**result.to_dict(), "referee": [_document(of) for of in found]}
    error = result.error()
    if error is not None:
        error.details = document
        raise error
    console.emit(document)


def _share(text: str) -> float:
    """A tolerance in per cent, with its sign or without, as a share."""
    per_cent = _number(text.removesuffix("%").rstrip())
    if not 0 < per_cent <= _MOST_PER_CENT:
        raise UsageError(f"--within {text} is not above 0 and at most {_MOST_PER_CENT} per cent", hint="--within 25")
    return per_cent / 100


def _seconds(text: str) -> int:
    """A duration, or a number of seconds, as whole seconds."""
    from orchestrator.experiment.read.units import parse_duration

    try:
        seconds = parse_duration(text)
    except ValueError:
        seconds = _number(text)
    if not (1 <= seconds <= _LONGEST_S and seconds == int(seconds)):
        raise UsageError(f"--window {text} is not between 1 and {_LONGEST_S} whole seconds", hint="--window 3s")
    return int(seconds)


def _number(text: str) -> float:
    """NaN where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _plan(what: str | None, overrides: list[str]) -> Plan:
    if what is None or not _PLAN.fullmatch(Path(what).name):
        return plan_of(what, overrides)
    from orchestrator.experiment.plan import store

    plan = store.load(Path(what).stem, Path(what).parent)
    reason = store.is_stale(plan)
    if overrides or reason:
        why = reason or "--set changes an experiment, and not a plan"
        raise UsageError(f"{what}: {why}", hint=f"plan again: orch plan {plan.experiment_path}")
    return plan


def _settings(plan: Plan, only: str | None, within: float | None, window_s: int | None) -> RefereeRecord:
    """Who asks which cell; UsageError where none can be asked, MissingError where what could is not here."""
    from orchestrator.hosts.load_generators import look_for_all
    from orchestrator.measure.refereeing import tools_for
    from orchestrator.referee.tools import TOOLS, usable
    from orchestrator.results.manifest import RefereeRecord, RefereeTool

    if only is not None and only not in TOOLS:
        raise UsageError(f"no load generator is called {only!r}", hint=did_you_mean(only, TOOLS))
    looked = look_for_all()
    here = usable(looked)
    cells, refused, missing = dict[str, str](), dict[str, str](), dict[str, None]()
    for cell in plan.cells:
        able, why = tools_for(plan, cell)
        wanted = [name for name in able if only in (None, name)]
        used = next((name for name in wanted if name in here), None)
        if used is not None:
            cells[cell.id] = used
        elif wanted:
            missing.update(dict.fromkeys(wanted))
            refused[cell.id] = _why_missing(wanted, looked)
        else:
            refused[cell.id] = why or f"{only} cannot ask it ({', '.join(able)} can)"
    if not cells:
        reasons = list(dict.fromkeys(refused.values()))
        text = "; ".join(reasons[:_MOST_REASONS])
        if missing:
            hint = "; ".join(f"{name}: {TOOLS[name].install}" for name in missing)
            raise MissingError(f"no load generator that could ask this is here: {text}", hint=hint)
        raise UsageError(
            f"no cell of {plan.name} can be asked by an independent load generator: {text}",
            hint="closed loops of single calls by HTTP/1.1 or gRPC on this machine can: docs/how-to/examine-figures.md",
        )
    tools = {
        name: RefereeTool(version=of.version, sha256=of.sha256, within=within if within is not None else of.tool.within)
        for name, of in here.items()
        if name in cells.values()
    }
    return RefereeRecord(tools=tools, cells=cells, refused=refused, window_s=window_s)


def _say_how_long(plan: Plan, settings: RefereeRecord) -> None:
    """What the turns add to the plan's time; a warning where the run's limit will cut it."""
    from orchestrator.experiment.plan.estimate import estimate
    from orchestrator.experiment.read.units import format_duration
    from orchestrator.measure.refereeing import expected_s

    turns_s = expected_s(plan, settings)
    whole_s, most_s = estimate(plan).duration_s + turns_s, plan.limits.wall_s
    console.progress(f"about {format_duration(whole_s)}, of which {format_duration(turns_s)} are the load generators'")
    if whole_s > most_s:
        enough = f"--set limits.wall={math.ceil(whole_s * _SPARE / 60)}m"
        console.warning(
            f"that is longer than limits.wall ({format_duration(most_s)}), which will end the run early;"
            f" `{enough}` gives it more"
        )


def _why_missing(wanted: list[str], looked: list[Found]) -> str:
    return "; ".join(found.why for found in looked if found.tool.name in wanted)


def _results(folder: Path) -> tuple[list[CheckResult], dict[str, str]]:
    """What the check found in each cell, and the cells' names; nothing where the run has no samples."""
    from orchestrator.checks.ends.referee import NAME
    from orchestrator.cli.keeping import judged
    from orchestrator.report.groups import cell_names, groups
    from orchestrator.results.folder import RunFolder

    try:
        summary = judged(RunFolder.open(folder.name, root=WORKSPACE.results))
    except OrchError as error:  # which the run itself has told
        console.progress(error.message)
        return [], {}
    found = [check for check in summary.checks if check.name == NAME and check.cell is not None]
    return found, cell_names(groups(summary), in_full=True)


def _document(found: CheckResult) -> dict[str, Any]:
    return {"cell": found.cell, "verdict": found.verdict, "explanation": found.explanation, **found.evidence}


def _lines(checks: list[CheckResult], names: dict[str, str]) -> Iterator[str]:
    """A table of the cells that were measured by both, with ratios; then what else the check says."""
    heads = ("cell", "beside", "rounds", "median, ms: ours, theirs, ratio", "req/s: ours, theirs, ratio", "")
    rows, others = [], []
    for check in checks:
        name, evidence = names.get(check.cell or "", check.cell or ""), check.evidence
        if evidence.get("rounds"):
            median, rate = _both(evidence["median_ms"], 3), _both(evidence["rate_per_s"], 0)
            rows.append((name, evidence["tool"], str(evidence["rounds"]), median, rate, check.verdict))
        else:
            others.append(f"{name}: {check.verdict}. {check.explanation}")
    if checks:
        yield ""
    if rows:
        yield from table(heads, rows)
    yield from others


def _both(value: dict[str, Any], decimals: int) -> str:
    """`5.386, 4.399, 1.27 (0.87 to 1.86)`."""
    from orchestrator import quantities

    ours, theirs = (quantities.number(value[name], decimals) for name in ("ours", "theirs"))
    interval = f" ({' to '.join(quantities.bounds(value['interval']))})" if value["interval"] else ""
    return f"{ours}, {theirs}, {quantities.factor(value['ratio'])}{interval}"
