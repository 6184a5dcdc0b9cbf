"""`orch run --referee`: independent load generators (wrk, oha, ghz) beside a run; the check *referee* judges by them."""

from __future__ import annotations

from orchestrator.cli.console import console
from orchestrator.errors import MissingError, UsageError, did_you_mean
from orchestrator.experiment.plan.plan import Plan
from orchestrator.measure.refereeing import NO_TOOL, tools_for
from orchestrator.referee.generators import TOOLS
from orchestrator.results.manifest import RefereeRecord, RefereeTool

ANY = "any"


def referee_of(plan: Plan, name: str) -> RefereeRecord:
    """Return which load generator measures which cell, and print it; `name` is one of them, or any.

    UsageError where none can measure a cell, MissingError where the one that could is not here.
    """
    from orchestrator.hosts.load_generators import look_for_all

    if name not in (ANY, *TOOLS):
        raise UsageError(f"no load generator is called {name!r}", hint=did_you_mean(name, [*TOOLS, ANY]))
    looked = {generator.tool.name: generator for generator in look_for_all()}
    cells, refused, missing = dict[str, str](), dict[str, str](), dict[str, str]()
    for cell in plan.cells:
        able = tools_for(plan, cell)
        wanted = [tool for tool in able if name in (ANY, tool)]
        usable = [tool for tool in wanted if not looked[tool].why]
        if usable:
            cells[cell.id] = usable[0]
        elif wanted:
            missing |= {tool: looked[tool].why for tool in wanted}
            refused[cell.id] = "; ".join(looked[tool].why for tool in wanted)
        else:
            refused[cell.id] = f"{name} cannot measure it ({', '.join(able)} can)" if able else NO_TOOL
    reasons = list(dict.fromkeys(refused.values()))
    if not cells and missing:
        hint = "; ".join(f"{tool}: {TOOLS[tool].install}" for tool in missing)
        raise MissingError(f"no load generator that can measure this is here: {'; '.join(reasons)}", hint=hint)
    if not cells:
        raise UsageError(
            f"no cell of {plan.name} can be measured by an independent load generator: {'; '.join(reasons)}",
            hint="closed loops of single calls by HTTP/1.1 or gRPC on this machine can: docs/how-to/read-and-share.md",
        )
    tools = {
        tool: RefereeTool(version=looked[tool].version, sha256=looked[tool].sha256, within=TOOLS[tool].within)
        for tool in dict.fromkeys(cells.values())
    }
    for tool, used in tools.items():
        count = list(cells.values()).count(tool)
        console.progress(f"{tool} {used.version} measures {count} of {len(plan.cells)} cells, within {used.within:.0%}")
    for reason in reasons:
        console.progress(f"not measured: {reason}")
    return RefereeRecord(tools=tools, cells=cells, refused=refused)
