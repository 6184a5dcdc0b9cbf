"""What differs between two stacks, part by part: a ratio of their times is the protocol's only where nothing else does.

Responders and clients declare their parts in their manifests; a plan keeps them under `resolved`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping

from orchestrator.catalogue.offers import NONE, Client, Protocol, Responder
from orchestrator.experiment.model.factors import STACK
from orchestrator.experiment.plan.documents import AS_VALUE, FACTOR, TYPED, WORDS, plan_way
from orchestrator.experiment.plan.mixes import payloads
from orchestrator.experiment.plan.plan import Plan

PROTOCOL = ("codec", "transport")
"""The parts that make a protocol."""

PARTS = (*PROTOCOL, "framework", "validation", "client", "connection", "language", "reading", "library")
"""All parts, in the order in which they are named; `framework` is with its server, `reading` is which fields are read.

A codec alone has a `library` in place of a client, and nothing that carries messages.
"""

NOT_KNOWN = "not known"
"""How a part of which nobody here knows what it is begins; what follows says whose it is."""

BYTES = "bytes"
DOCUMENT = "document"
HTTP = "http"
_KINDS_OF_BYTES = ("bytes", "image", "transfer")  # of payloads
_DECLARED = "HTTP/1.1"  # of transports whose version of HTTP is a factor


def parts_of(responder: Responder, client: Client) -> dict[str, str]:
    """The parts of a stack by name, as a plan keeps them; the connection policy is a cell's, and not among them."""
    of = responder.parts
    languages = dict.fromkeys((responder.language.title, client.language.title))
    return {
        "codec": of.codec,
        BYTES: of.bytes_as,
        "transport": client.transport or of.transport,
        "framework": of.server if of.framework == NONE else f"{of.framework} on {of.server}",
        "validation": of.validation,
        "client": client.name,
        "language": ", asked in ".join(languages),
        "reading": "; ".join(filter(None, (responder.omits, client.omits))) or "every field",
    }


def parts_alone(protocol: Protocol, client: Client) -> dict[str, str]:
    """The parts of a codec alone: that of the protocol's messages, and the library that a client codes them with."""
    of = protocol.responder().parts
    return {
        "codec": of.codec,
        BYTES: of.bytes_as,
        "library": client.name,
        "language": client.language.title,
        "reading": client.omits or "every field",
    }


def differs_in(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the parts in which two stacks are known to differ, in the order of `PARTS`; not of one that a side lacks.

    How bytes and a JSON document travel counts as the codec's, where both sides say it.

    >>> differs_in({"codec": "CBOR", "client": "pycurl"}, {"codec": "JSON", "client": "pycurl"})
    ('codec',)
    """
    found = _unlike(one, other) - set(may_differ_in(one, other))
    return tuple(name for name in PARTS if name in found or (name == "codec" and found & {BYTES, DOCUMENT}))


def may_differ_in(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the parts in which two stacks may differ, as at least one side's is not known, in the order of `PARTS`.

    >>> may_differ_in({"framework": "not known (external)"}, {"framework": "FastAPI on uvicorn"})
    ('framework',)
    """
    unlike = _unlike(one, other)
    return tuple(name for name in PARTS if name in unlike and any(_is_unknown(side[name]) for side in (one, other)))


def _unlike(one: Mapping[str, str], other: Mapping[str, str]) -> set[str]:
    return {name for name in one.keys() & other.keys() if one[name] != other[name]}


def _is_unknown(part: str) -> bool:
    return part.startswith(NOT_KNOWN)


def in_use(
    plan: Plan,
    stack: str,
    connection: str,
    operations: Container[str],
    document: object = None,
    http: object = None,
) -> dict[str, str]:
    """The parts of a plan's stack as cells use it: their connection policy, and how bytes travel only where some do.

    Likewise how a JSON document does that is carried as `document` chooses. What is declared of HTTP/1.1 is carried by the
    version of HTTP that `http` names.

    `operations` are the ids of what is asked. Empty where the plan does not say what the stack is made of.
    """
    parts: dict[str, str] = dict(plan.resolved.get(stack, {}).get("parts") or {})
    if not parts:
        return {}
    if not any(
        o.id in operations and payload.get("kind") in _KINDS_OF_BYTES
        for o in plan.operations
        for payload in payloads(o)
    ):
        parts.pop(BYTES, None)
    ways = {plan_way(plan, stack, o.id, document) for o in plan.operations if o.id in operations}
    told = " and ".join(WORDS[way] for way in WORDS if way in ways)
    if http is not None and "transport" in parts:
        parts["transport"] = parts["transport"].replace(_DECLARED, f"HTTP/{http}")
    kept = {"connection": connection} if "client" in parts else {}
    return {**parts, **kept, **({DOCUMENT: told} if told else {})}


def has_version(plan: Plan, stack: str) -> bool:
    """Whether the factor `http` is anything to a stack: gRPC, say, or a bare connection, has no choice of it."""
    return _DECLARED in str((plan.resolved.get(stack, {}).get("parts") or {}).get("transport", _DECLARED))


def against_reference(
    plan: Plan, by: Callable[[Mapping[str, str], Mapping[str, str]], tuple[str, ...]] = differs_in
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Of each stack but the reference and its controls, its label and the parts in which it differs from the reference.

    With `may_differ_in`, those in which it may.

    Nothing where stacks are not compared.
    """
    if all(contrast.factor != STACK for contrast in plan.contrasts):
        return
    reference = plan.reference or plan.stacks[0].id
    operations = {cell.operation for cell in plan.cells}
    beside = _as_planned(plan, reference, operations)
    for stack in plan.stacks:
        if stack.id != reference and stack.control_of is None:
            yield stack.label, by(_as_planned(plan, stack.id, operations), beside)


def _as_planned(plan: Plan, stack: str, operations: Container[str]) -> dict[str, str]:
    cells = [cell for cell in plan.cells if cell.stack == stack]
    policies = ", ".join(sorted({cell.connection for cell in cells}))
    chosen = {cell.factors.get(FACTOR) for cell in cells}
    versions = " and ".join(sorted({str(version) for cell in cells if (version := cell.factors.get(HTTP))}))
    return in_use(plan, stack, policies, operations, TYPED if TYPED in chosen else AS_VALUE, versions or None)
