"""Takes a deployment down from its written intent alone: no plan, no run folder, no state is needed for it."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.errors import OrchError
from orchestrator.hosts import registry
from orchestrator.hosts.infra import Infra
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
    notes = _destroy(intent)
    removed, left = Infra(intent.provider).sweep(intent.id)
    if removed:
        notes.append(f"swept by label: {', '.join(removed)}")
    if not left:
        registry.write(replace(intent, state="down"))
        for key in (folder_of(intent.id) / "keys").glob("*"):
            key.unlink()
    gone = tuple(name for name in intent.hosts if not any(name in item for item in left))
    return Receipt(
        provider=intent.provider, created=intent.hosts, destroyed=gone, left=tuple(left), note="; ".join(notes)
    )


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
