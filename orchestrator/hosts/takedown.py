"""Takes a deployment down from its written intent alone: no plan, no run folder, no state is needed for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from orchestrator.errors import OrchError
from orchestrator.hosts import registry
from orchestrator.hosts.infra import Infra
from orchestrator.hosts.programs import LOCK, end_orphan
from orchestrator.hosts.provider import Receipt
from orchestrator.hosts.registry import Intent, folder_of
from orchestrator.hosts.terraform import Terraform


def terraform_of(identity: str, provider: str) -> Terraform:
    """The driver of a deployment's own state."""
    folder = folder_of(identity)
    return Terraform(module=Infra(provider).module, folder=folder, variables=folder / "variables.tfvars.json")


def take_down(intent: Intent) -> Receipt:
    """Destroy what the state knows, then sweep by label for what it does not; the receipt is what the sweep found.

    Safe at any time, any number of times. A host counts as destroyed when the sweep found nothing of it left.
    """
    infra = Infra(intent.provider)
    end_orphan(folder_of(intent.id) / LOCK)
    created = intent.hosts if intent.state != "intended" else _found(infra, intent)
    notes = [] if intent.state == "down" else _destroy(intent)
    removed, left = infra.sweep(intent.id)
    if removed:
        notes.append(f"swept by label: {', '.join(removed)}")
    if not left:
        for key in (folder_of(intent.id) / "keys").glob("*"):
            key.unlink()
        registry.write(replace(intent, state="down"))
        terraform_of(intent.id, intent.provider).clear()
    gone = tuple(name for name in created if not _is_among(f"orch-{intent.id}-{name}", left))
    return Receipt(provider=intent.provider, created=created, destroyed=gone, left=tuple(left), note="; ".join(notes))


def _found(infra: Infra, intent: Intent) -> tuple[str, ...]:
    """The hosts that are there of a deployment that was never finished."""
    there = infra.status(intent.id)["hosts"]
    return tuple(name for name in intent.hosts if name in there)


def _is_among(instance: str, left: Iterable[str]) -> bool:
    return any(re.search(rf"{re.escape(instance)}(?![a-z0-9-])", item) for item in left)


def _destroy(intent: Intent) -> list[str]:
    """Destroy by the state; what kept it from that is a note, because the sweep follows in any case."""
    terraform = terraform_of(intent.id, intent.provider)
    if not terraform.variables.exists():
        return []
    try:
        terraform.init()
        terraform.destroy()
    except OrchError as error:
        return [f"terraform could not destroy: {error.message[:300]}"]
    return []
