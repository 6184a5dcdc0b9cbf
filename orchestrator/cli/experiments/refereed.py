"""`orch run --referee`: independent load generators (wrk, oha, ghz) beside a run; the check *referee* judges by them."""

from __future__ import annotations

from orchestrator.cli.console import console
from orchestrator.errors import MissingError, UsageError, did_you_mean
from orchestrator.experiment.model.factors import OF_THE_CALL
from orchestrator.experiment.plan.contrasts import HTTP
from orchestrator.experiment.plan.own.own_json import DOCUMENT, TYPED, plan_way
from orchestrator.experiment.plan.plan import Cell, Plan
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.referee.generators import TOOLS
from orchestrator.results.manifest import RefereeRecord, RefereeTool
from services.python.contract.limits import TLS, TLS_1_3

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
        usable = [tool for tool in wanted if looked[tool].is_usable]
        if usable:
            cells[cell.id] = usable[0]
        elif wanted:
            missing |= {tool: looked[tool].why for tool in wanted}
            refused[cell.id] = "; ".join(looked[tool].why for tool in wanted)
        else:
            refused[cell.id] = f"{name} cannot measure it ({', '.join(able)} can)" if able else _NO_TOOL
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


WRK, OHA, GHZ = "wrk", "oha", "ghz"
_GRPC, _HTTP = "gRPC", "HTTP/1.1"  # transports, as manifests declare them

# What is the responder's alone, what is in the requests as they were recorded, and what a program can be given. Whatever
# else differs from its default, the independent program would not do.
_FOLLOWED = frozenset({"connection", TLS, "document", "workers", "store", "pool", "driver", "fields", "connections"})
_NO_TOOL = (
    "load generators measure closed loops of single calls by HTTP/1.1 or gRPC, to responders that orch starts here"
)


def tools_for(plan: Plan, cell: Cell) -> tuple[str, ...]:
    """Return the load generators that can measure a cell, the best first; none for what `_NO_TOOL` leaves out."""
    transport, keeps = _transport(plan, cell), cell.connection == "reuse"
    if not _is_simple(plan, cell):
        return ()
    if transport == _GRPC:
        is_typed = plan_way(plan, cell.stack, cell.operation, cell.factors.get(DOCUMENT)) == TYPED
        return (GHZ,) if keeps and not is_typed else ()
    if transport != _HTTP or isinstance(cell.factors.get("connections"), int):
        return ()
    return (WRK, OHA) if keeps and cell.factors.get(TLS) != TLS_1_3 else (OHA,)


def _is_simple(plan: Plan, cell: Cell) -> bool:
    """Whether a cell is a closed loop of single calls on this machine, of nothing that load generators do not do."""
    stack = next(stack for stack in plan.stacks if stack.id == cell.stack)
    placement = next(placement for placement in plan.placements if placement.id == cell.placement)
    return (
        cell.kind == "call"
        and stack.external is None
        and placement.kind == "local"
        and not PROVIDERS[plan.provider].makes_hosts
        and not cell.mixed
        and cell.load.rate_per_s is None
        and cell.find is None
        and not cell.load.think_s
        and all(
            cell.factors.get(factor.name) in (None, factor.default) or factor.name in _FOLLOWED
            for factor in OF_THE_CALL
        )
    )


def _transport(plan: Plan, cell: Cell) -> str:
    """What carries its messages, as far as that is known; a version of HTTP that it chose instead of the declared one."""
    declared = str((plan.resolved.get(cell.stack, {}).get("parts") or {}).get("transport", ""))
    version = cell.factors.get(HTTP)
    declared = _HTTP if declared == f"Connect over {_HTTP}" else declared
    return declared if declared != _HTTP or version in (None, "1.1") else f"HTTP/{version}"
