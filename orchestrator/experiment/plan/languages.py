"""In which language each end of a stack is written, as a plan keeps it under `resolved`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.catalogue.offers import Client, Responder

KEY = "languages"
RESPONDER, REQUESTER = "responder", "requester"


def of_ends(responder: Responder | None, client: Client) -> dict[str, str]:
    """The title of each end's language; without the responder's where nobody is asked, or nobody knows who answers."""
    known = {} if responder is None else {RESPONDER: responder.language.title}
    return {**known, REQUESTER: client.language.title}


def of_stacks(document: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Of each stack of a plan's document, by id, the responder's language and the requester's; of stacks with both known."""
    found = {}
    for stack, resolved in document.get("resolved", {}).items():
        told = resolved.get(KEY, {}) if isinstance(resolved, Mapping) else {}
        if RESPONDER in told and REQUESTER in told:
            found[stack] = (str(told[RESPONDER]), str(told[REQUESTER]))
    return found


def of_requester(resolved: Mapping[str, Any], stack: str) -> str | None:
    """The language of a stack's requester, by what a plan has under `resolved`; None where that does not say it."""
    told = resolved.get(stack, {}).get(KEY, {})
    return str(told[REQUESTER]) if REQUESTER in told else None


def in_words(ends: tuple[str, str]) -> str:
    """As tables say it: the responder's, and the requester's behind an arrow.

    >>> in_words(("Go", "Python"))
    'Go ← Python'
    """
    return " ← ".join(ends)


def are_several(languages: Mapping[str, tuple[str, str]]) -> bool:
    """Whether more than one language takes part, so that tables have to name them."""
    return len({language for ends in languages.values() for language in ends}) > 1
