"""Runs whose stacks form a matrix of protocols and languages, with medians of which the parts are known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from orchestrator.experiment.plan import parts
from orchestrator.experiment.plan import plan as p
from tests.support.runs import MemoryRun, a_plan, a_run

PROTOCOLS = ("rest", "grpc")
LANGUAGES = ("Go", "Node.js", "Python")

Key = tuple[str, str, str]
"""Protocol, responder's language, requester's language."""


def a_matrix_plan(
    *,
    protocols: Sequence[str] = PROTOCOLS,
    spoken: Sequence[str] = LANGUAGES,
    missing: Collection[Key] = (),
    **planned: Any,
) -> p.Plan:
    """A plan of every protocol between every two languages, less what is missing; a stack's client says all three."""
    keys = [key for key in product(protocols, spoken, spoken) if key not in missing]
    plan = a_plan(stacks=[key[0] for key in keys], clients=["-".join(key[1:]) for key in keys], **planned)
    ends = {stack.id: tuple(stack.client.split("-")) for stack in plan.stacks}
    resolved = {
        stack: {parts.LANGUAGES: {parts.RESPONDER: of[0], parts.REQUESTER: of[1]}} for stack, of in ends.items()
    }
    return replace(plan, resolved=resolved)


def key_of(stack: p.Stack) -> Key:
    """Where a stack of such a plan stands."""
    responder, requester = stack.client.split("-")
    return stack.protocol, responder, requester


def a_matrix_run(plan: p.Plan, times: Callable[[Key], float], **made: Any) -> MemoryRun:
    """A run of such a plan; what its ends add to the network takes so many times 250 µs."""
    effects = {f"{stack.protocol} {stack.client}": times(key_of(stack)) for stack in plan.stacks}
    return a_run(plan, base_us=dict.fromkeys(PROTOCOLS, 250.0), effects=effects, **made)
