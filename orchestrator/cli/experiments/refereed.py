"""`orch run --referee`: independent load generators (wrk, oha, ghz) beside a run; the check *referee* judges by them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from orchestrator.cli.console import console
from orchestrator.errors import MissingError, UsageError, did_you_mean

if TYPE_CHECKING:
    from orchestrator.experiment.plan.plan import Plan
    from orchestrator.referee.generators import Found
    from orchestrator.results.manifest import RefereeRecord

ANY = "any"
_MOST_REASONS = 5
_SPARE = 1.2  # times the time that a run is expected to take


def referee_of(plan: Plan, name: str) -> RefereeRecord:
    """Which load generator measures which cell, printed with the time that this adds; `name` is one of them, or any."""
    settings = _settings(plan, None if name == ANY else name)
    for tool, used in settings.tools.items():
        cells = sum(chosen == tool for chosen in settings.cells.values())
        console.progress(f"{tool} {used.version} measures {cells} of {len(plan.cells)} cells, within {used.within:.0%}")
    for reason in dict.fromkeys(settings.refused.values()):
        console.progress(f"not measured: {reason}")
    _say_how_long(plan, settings)
    return settings


def _settings(plan: Plan, only: str | None) -> RefereeRecord:
    """Which tool measures which cell; UsageError where none can, MissingError where the one that could is not here."""
    from orchestrator.hosts.load_generators import look_for_all
    from orchestrator.measure.refereeing import NO_TOOL, tools_for
    from orchestrator.referee.generators import TOOLS, usable
    from orchestrator.results.manifest import RefereeRecord, RefereeTool

    if only is not None and only not in TOOLS:
        raise UsageError(f"no load generator is called {only!r}", hint=did_you_mean(only, [*TOOLS, ANY]))
    looked = look_for_all()
    here = usable(looked)
    cells, refused, missing = dict[str, str](), dict[str, str](), dict[str, None]()
    for cell in plan.cells:
        able = tools_for(plan, cell)
        wanted = [name for name in able if only in (None, name)]
        used = next((name for name in wanted if name in here), None)
        if used is not None:
            cells[cell.id] = used
        elif wanted:
            missing.update(dict.fromkeys(wanted))
            refused[cell.id] = _why_missing(wanted, looked)
        else:
            refused[cell.id] = f"{only} cannot measure it ({', '.join(able)} can)" if able else NO_TOOL
    if not cells:
        reasons = list(dict.fromkeys(refused.values()))
        text = "; ".join(reasons[:_MOST_REASONS])
        if missing:
            hint = "; ".join(f"{name}: {TOOLS[name].install}" for name in missing)
            raise MissingError(f"no load generator that can measure this is here: {text}", hint=hint)
        raise UsageError(
            f"no cell of {plan.name} can be measured by an independent load generator: {text}",
            hint="closed loops of single calls by HTTP/1.1 or gRPC on this machine can: docs/how-to/read-and-share.md",
        )
    tools = {
        name: RefereeTool(version=found.version, sha256=found.sha256, within=found.tool.within)
        for name, found in here.items()
        if name in cells.values()
    }
    return RefereeRecord(tools=tools, cells=cells, refused=refused)


def _say_how_long(plan: Plan, settings: RefereeRecord) -> None:
    """What the turns add to the plan's time; a warning where the run's limit will cut it."""
    from orchestrator.experiment.plan.estimate import estimate
    from orchestrator.experiment.read.units import format_duration
    from orchestrator.measure.refereeing import expected_s

    turns_s = expected_s(plan, settings)
    whole_s, most_s = estimate(plan).duration_s + turns_s, plan.limits.wall_s
    console.progress(f"about {format_duration(whole_s)}, {format_duration(turns_s)} of it for the load generators")
    if whole_s > most_s:
        enough = f"--set limits.wall={math.ceil(whole_s * _SPARE / 60)}m"
        console.warning(
            f"that is longer than limits.wall ({format_duration(most_s)}), which will end the run early;"
            f" `{enough}` gives it more"
        )


def _why_missing(wanted: list[str], looked: list[Found]) -> str:
    return "; ".join(found.why for found in looked if found.tool.name in wanted)
