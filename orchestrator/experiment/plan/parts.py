"""The parts in which two stacks differ, as manifests declare them and plans keep them under `resolved`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.catalogue.offers import NONE, Client, Protocol, Responder
from orchestrator.experiment.plan.own.json_documents import DOCUMENT, WORDS, plan_way
from orchestrator.experiment.plan.payloads import payloads_of
from orchestrator.experiment.plan.plan import Plan

PROTOCOL = ("codec", "transport")
"""The parts that make a protocol."""
PARTS = (*PROTOCOL, "service", "framework", "validation", "client", "connection", "language", "reading", "library")
"""All parts, in the order in which they are named; `framework` is with its server, `reading` is which fields are read.

A codec alone has a `library` in place of a client, and nothing that carries messages. Of somebody's own `service` nobody
knows framework, validation and language.
"""
BYTES = "bytes"
HTTP = "http"
_KINDS_OF_BYTES = ("bytes", "image", "transfer")  # of payloads
_DECLARED = "HTTP/1.1"  # of transports whose version of HTTP is a factor


def parts_of(responder: Responder, client: Client) -> dict[str, str]:
    """The parts of a stack by name, as a plan keeps them; the connection policy is a cell's, and not among them."""
    parts, languages = responder.parts, dict.fromkeys((responder.language.title, client.language.title))
    return {
        "codec": parts.codec,
        BYTES: parts.bytes_as,
        "transport": client.transport or parts.transport,
        "framework": parts.server if parts.framework == NONE else f"{parts.framework} on {parts.server}",
        "validation": parts.validation,
        "client": client.name,
        "language": ", called from ".join(languages),
        "reading": client.omits or "every field",
    }


def parts_alone(protocol: Protocol, client: Client) -> dict[str, str]:
    """The parts of a codec alone: that of the protocol's messages, and the library that a client codes them with."""
    parts = protocol.responder().parts
    own = {"library": client.name, "language": client.language.title, "reading": client.omits or "every field"}
    return {"codec": parts.codec, BYTES: parts.bytes_as, **own}


def differs_in(first: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the parts that differ (or may) and both stacks have, in order; how bytes and JSON travel is the codec's."""
    both = (first.keys() & other.keys()) | ({"service"} & (first.keys() | other.keys()))
    names = {name for name in both if first.get(name) != other.get(name)}
    return tuple(name for name in PARTS if name in names or (name == "codec" and names & {BYTES, DOCUMENT}))


def in_use(
    plan: Plan, stack: str, connection: str, operation: str, document: object = None, http: object = None
) -> dict[str, str]:
    """The parts of a plan's stack as cells with this operation use it; empty where the plan does not declare them."""
    parts: dict[str, str] = dict(plan.resolved.get(stack, {}).get("parts") or {})
    if not parts:
        return {}
    planned = next(each for each in plan.operations if each.id == operation)
    if not any(payload.get("kind") in _KINDS_OF_BYTES for payload in payloads_of(planned)):
        parts.pop(BYTES, None)
    way = plan_way(plan, stack, operation, document)
    if http is not None and "transport" in parts:
        parts["transport"] = parts["transport"].replace(_DECLARED, f"HTTP/{http}")
    kept = {"connection": connection} if "client" in parts else {}
    return {**parts, **kept, **({DOCUMENT: WORDS[way]} if way else {})}


def has_version(plan: Plan, stack: str) -> bool:
    """Whether the factor `http` is anything to a stack: gRPC, say, or a bare connection, has no choice of it."""
    return _DECLARED in str((plan.resolved.get(stack, {}).get("parts") or {}).get("transport", _DECLARED))


LANGUAGES = "languages"
RESPONDER, REQUESTER = "responder", "requester"


def languages_of_stacks(plan: Plan) -> dict[str, tuple[str, str]]:
    """Of each stack of a plan, by id, the responder's language and the requester's; of stacks with both known."""
    named = {stack: resolved.get(LANGUAGES, {}) for stack, resolved in plan.resolved.items()}
    return {stack: (str(ends[RESPONDER]), str(ends[REQUESTER])) for stack, ends in named.items() if len(ends) == 2}


def language_of_requester(resolved: Mapping[str, Any], stack: str) -> str | None:
    """The language of a stack's requester, by what a plan has under `resolved`; None where that does not say it."""
    language: str | None = resolved.get(stack, {}).get(LANGUAGES, {}).get(REQUESTER)
    return language


def languages_in_words(ends: tuple[str, str]) -> str:
    """As tables say it: the responder's, and the requester's behind an arrow."""
    return " ← ".join(ends)


def are_several_languages(languages: Mapping[str, tuple[str, str]]) -> bool:
    """Whether more than one language takes part, so that tables have to name them."""
    return len({language for ends in languages.values() for language in ends}) > 1
