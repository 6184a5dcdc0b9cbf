"""Small plans for tests, made without a YAML file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.experiment.model.factors import values
from orchestrator.experiment.plan.plan import Cell, Limits, Operation, Placement, Plan, PlannedTrial, Stack
from services.python.contract.lines import Load, Warmup

ECHO = Operation(id="echo", name="echo", label="echo 64 B", payload={"kind": "bytes", "size": 64})
LOCAL = Placement(id="local", name="local", kind="local")


def plan(*protocols: str, repeats: int = 2, requests: int = 50, requesters: int = 1, **changes: Any) -> Plan:
    """A plan that echoes 64 bytes with each of `protocols` (default: tcp) on this machine."""
    stacks = tuple(_stack(name) for name in protocols or ("tcp",))
    load, asking = Load(requests=requests, concurrency=requesters), {"requesters": requesters}
    hosts = "" if requesters == 1 else f"__requesters-{requesters}"
    cells = tuple(
        Cell(
            id=f"{stack.id}__echo__local__reuse{hosts}__c{requesters}",
            stack=stack.id,
            operation="echo",
            placement="local",
            factors=values(stack=stack, operation=ECHO, placement=LOCAL, load=load, call=asking),
            load=load,
            warmup=Warmup(requests=5, at_least_s=0.0, at_most_s=5.0),
            timeout_s=10.0,
        )
        for stack in stacks
    )
    made = Plan(
        name="a test",
        question="Does it run?",
        provider="local",
        machine=None,
        pin="off",
        stacks=stacks,
        operations=(ECHO,),
        placements=(LOCAL,),
        cells=cells,
        trials=trials(cells, repeats),
        repeats=repeats,
        seed=1,
        limits=Limits(wall_s=600.0, cost_usd=0.0, ttl_s=3_600.0),
    )
    return replace(made, **changes)


def trials(cells: tuple[Cell, ...], repeats: int) -> tuple[PlannedTrial, ...]:
    """Every cell once per block, in the order of the cells."""
    return tuple(
        PlannedTrial(index=block * len(cells) + place, block=block, cell=cell.id, seed=block)
        for block in range(repeats)
        for place, cell in enumerate(cells)
    )


def _stack(protocol: str) -> Stack:
    from services.python.contract.offers import find_protocol

    try:
        known = find_protocol(protocol)
    except KeyError:
        return Stack(id=protocol, protocol=protocol, responder="fake", client="fake", label=protocol)
    client = known.default_client(1)
    return Stack(id=protocol, protocol=protocol, responder=known.responder().name, client=client.name, label=protocol)
