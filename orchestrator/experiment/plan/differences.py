"""What differs between two stacks, part by part: a ratio of their times is the protocol's only where nothing else does.

Responders and clients declare their parts (`services/python/contract/offers.py`); a plan keeps them under `resolved`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.experiment.plan.plan import Plan
from services.python.contract.offers import NONE, Client, Responder

PROTOCOL = ("codec", "transport")
"""The parts that make a protocol."""

PARTS = (*PROTOCOL, "framework", "validation", "client", "connection", "language", "reading")
"""All parts, in the order in which they are named; `framework` is with its server, `reading` is which fields are read."""


def parts_of(responder: Responder, client: Client) -> dict[str, str]:
    """The parts of a stack by name, as a plan keeps them; the connection policy is a cell's, and not among them."""
    of = responder.parts
    languages = dict.fromkeys((of.language, client.language))
    return {
        "codec": of.codec,
        "transport": client.transport or of.transport,
        "framework": of.server if of.framework == NONE else f"{of.framework} on {of.server}",
        "validation": of.validation,
        "client": client.name,
        "language": ", asked in ".join(languages),
        "reading": "; ".join(filter(None, (responder.omits, client.omits))) or "every field",
    }


def differs_in(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the parts in which two stacks differ, in the order of `PARTS`; a part that one lacks is not known.

    >>> differs_in({"codec": "CBOR", "client": "pycurl"}, {"codec": "JSON", "client": "pycurl"})
    ('codec',)
    """
    return tuple(name for name in PARTS if name in one and name in other and one[name] != other[name])


def with_connection(plan: Plan, stack: str, connection: str) -> dict[str, str]:
    """The parts of a plan's stack under a connection policy; empty where the plan does not say them."""
    parts: Mapping[str, str] = plan.resolved.get(stack, {}).get("parts", {})
    return {**parts, "connection": connection} if parts else {}


def against_reference(plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Of each stack but the reference and its controls, its label and the parts in which it differs from the reference."""
    reference = plan.reference or plan.stacks[0].id
    beside = with_connection(plan, reference, _policies(plan, reference))
    for stack in plan.stacks:
        if stack.id != reference and stack.control_of is None:
            yield stack.label, differs_in(with_connection(plan, stack.id, _policies(plan, stack.id)), beside)


def _policies(plan: Plan, stack: str) -> str:
    return ", ".join(sorted({cell.connection for cell in plan.cells if cell.stack == stack}))
