"""Which independent load generators can ask what a cell asks, and why none can. Pure."""

from __future__ import annotations

from orchestrator.experiment.model.factors import OF_THE_CALL
from orchestrator.experiment.plan.differences import HTTP
from orchestrator.experiment.plan.documents import FACTOR, TYPED, plan_way
from orchestrator.experiment.plan.plan import Cell, Plan
from orchestrator.experiment.providers import provider_of
from services.python.contract.limits import TLS, TLS_1_3

WRK, OHA, GHZ = "wrk", "oha", "ghz"
_GRPC, _HTTP = "gRPC", "HTTP/1.1"  # transports, as manifests declare them

# What is the responder's alone, what is in the requests as they were recorded, and what a program can be told. Whatever
# else differs from its default, the independent program would not do.
_FOLLOWED = frozenset({"connection", TLS, "document", "workers", "store", "pool", "driver", "fields", "connections"})
_KINDS = {
    "stream": "it reads a stream, and they send requests",
    "codec": "it encodes and decodes, and asks nobody",
    "task": "it times several calls as one, and they time each",
}


def tools_for(plan: Plan, cell: Cell) -> tuple[tuple[str, ...], str]:
    """The load generators that can ask a cell, the best first; where there is none, why, as a clause."""
    if reason := _why_none(plan, cell):
        return (), reason
    is_plain, keeps = cell.factors.get(TLS) != TLS_1_3, cell.connection == "reuse"
    if _transport(plan, cell) == _GRPC:
        return (GHZ,), ""
    return ((WRK, OHA) if is_plain and keeps else (OHA,)), ""


def _why_none(plan: Plan, cell: Cell) -> str:
    stacks = {stack.id: stack for stack in plan.stacks}
    places = {placement.id: placement for placement in plan.placements}
    transport = _transport(plan, cell)
    if cell.kind in _KINDS:
        return _KINDS[cell.kind]
    if stacks[cell.stack].external is not None:
        return "its responder runs already: only responders that orch starts are asked"
    is_here = places[cell.placement].kind == "local" and not provider_of(plan.provider).makes_hosts
    if not is_here:
        return "it is not on this machine alone, where they run"
    if cell.mixed:
        return "it mixes operations, and they ask one"
    if cell.load.rate_per_s is not None or cell.find is not None:
        return "its load is open: who is late, and from when latency counts, is each program's own rule"
    if cell.load.think_s:
        return "its workers rest between requests, and theirs do not"
    if transport not in (_GRPC, _HTTP):
        return f"none of them speaks {transport or 'what it speaks'}"
    for factor in OF_THE_CALL:
        value = cell.factors.get(factor.name, factor.default)
        if value is not None and value != factor.default and factor.name not in _FOLLOWED:
            return f"they cannot be told `{factor.name}: {value}`"
    return _why_not_grpc(plan, cell) if transport == _GRPC else _why_not_http(cell)


def _why_not_grpc(plan: Plan, cell: Cell) -> str:
    if cell.connection != "reuse":
        return "ghz keeps its connections"
    if plan_way(plan, cell.stack, cell.operation, cell.factors.get(FACTOR)) == TYPED:
        return "its document is a message of its own, which is compiled for a run"
    return ""


def _why_not_http(cell: Cell) -> str:
    shared = cell.factors.get("connections")
    return "they have a connection for each request in flight" if isinstance(shared, int) else ""


def _transport(plan: Plan, cell: Cell) -> str:
    """What carries its messages, as far as that is known; a version of HTTP that it chose instead of the declared one."""
    declared = str((plan.resolved.get(cell.stack, {}).get("parts") or {}).get("transport", ""))
    version = cell.factors.get(HTTP)
    declared = _HTTP if declared == f"Connect over {_HTTP}" else declared
    return declared if declared != _HTTP or version in (None, "1.1") else f"HTTP/{version}"
