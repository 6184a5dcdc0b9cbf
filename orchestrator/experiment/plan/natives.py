"""Which client `client: native` stands for: the first compiled one that does all that is asked and can be started.

One item of `stacks` has one such client, whatever it is asked, so that no series changes its client half-way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from orchestrator.catalogue.offers import NATIVE, Client, Language
from orchestrator.experiment.model.loader import Located

if TYPE_CHECKING:
    from orchestrator.experiment.plan.stacks import Entry

WhyNot: TypeAlias = Callable[[Language], str]
"""Why the programs of a language cannot be started, as a clause with what to do; empty where they can."""

CHOSEN = f"`{NATIVE}` in the experiment"


def resolve_natives(
    located: Located, entries: Sequence[Entry], refusal: Callable[[Entry, Client], str], why_not: WhyNot
) -> tuple[Entry, ...]:
    """The entries, those with `client: native` with the client that it stands for; where there is none, that is noted.

    `refusal`: why a client cannot do all that an entry is asked, as a clause; empty where it can. The first one that can do
    it and be started is taken.
    """
    found: dict[tuple[object, ...], tuple[Client, str] | None] = {}
    resolved = []
    for entry in entries:
        if not entry.natives:
            resolved.append(entry)
            continue
        if entry.path not in found:
            alike = [other for other in entries if other.path == entry.path and other.natives]
            found[entry.path] = _first(located, alike, refusal, why_not)
        if chosen := found[entry.path]:
            resolved.append(replace(entry, client=chosen[0], why_client=chosen[1]))
    return tuple(resolved)


def _first(
    located: Located, entries: Sequence[Entry], refusal: Callable[[Entry, Client], str], why_not: WhyNot
) -> tuple[Client, str] | None:
    """The client of these entries of one item, with why it is this one; None where none will do, which is noted."""
    entry = entries[0]
    passed_over: list[str] = []
    name_another = "Name another client"
    for client in entry.natives:
        refused = next(filter(None, (refusal(one, client) for one in entries)), "")
        reason = refused or why_not(client.language)
        if not reason:
            return client, "; ".join([CHOSEN, *(f"not {text}" for text in passed_over)])
        if not refused:  # its reason says what to do
            name_another = "Or name another client"
        passed_over.append(f"{client.name} ({reason})")
    what = f"no client that `{NATIVE}` stands for in {entry.protocol.name} will do"
    located.add((*entry.path, "client"), f"{what}: {', '.join(passed_over)}. {name_another}: `orch services`.")
    return None
