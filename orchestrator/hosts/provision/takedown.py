"""Takes a deployment down from its written intent alone: no plan, no run folder, no state is needed for it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from orchestrator.errors import OrchError, UsageError
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts import processes
from orchestrator.hosts.lifecycle import Maker, Receipt
from orchestrator.hosts.provision.deployments import Intent, Registry
from orchestrator.hosts.provision.makers import maker_of
from orchestrator.hosts.provision.programs import LOCK, end_orphan


def take_down(registry: Registry, intent: Intent) -> Receipt:
    """Destroy what was written down, then sweep for what was not; the receipt is what the sweep found.

    Safe at any time, any number of times. A host counts as destroyed when the sweep found nothing of it left; the
    deployment is down when besides nothing is unknown. UsageError when this environment leads to another place than the
    hosts were made in.
    """
    folder = registry.folder_of(intent.id)
    maker = maker_of(intent.provider, folder)
    try:
        maker.require_target(intent.target)
    except UsageError as error:
        if intent.state != "down":
            raise
        note = f"it was down before, and was not looked at again: {error.message}"
        return Receipt(provider=intent.provider, created=intent.hosts, destroyed=intent.hosts, note=note)
    end_orphan(folder / LOCK)
    if intent.state == "intended" or (intent.state == "up" and PROVIDERS[intent.provider].hosts_are_given):
        intent = replace(intent, created=_seen(maker, intent))
        registry.write(intent)
    created = intent.hosts if intent.created is None else intent.created
    trouble = None if intent.state == "down" else maker.destroy()
    swept = maker.sweep()
    if trouble is not None and not swept.left and not swept.unknown:
        trouble = maker.destroy()  # the sweep removed what stood in its way
    left = (*swept.left, *map(str, processes.end(lambda: processes.marked(processes.RUN_MARK, intent.id))))
    unknown = swept.unknown if trouble is None else (*swept.unknown, trouble)
    note = f"the sweep removed {', '.join(swept.removed)}" if swept.removed else ""
    if not left and not unknown:
        for key in (folder / "keys").glob("*"):
            key.unlink()
        registry.write(replace(intent, state="down"))
        maker.clear()
    instances = {name: f"orch-{intent.id}-{name}" for name in created}
    # What was not seen to be gone does not count as destroyed, unless the sweep itself saw it go.
    gone = tuple(
        name
        for name, instance in instances.items()
        if not _is_among(instance, left) and (not swept.unknown or _is_among(instance, swept.removed))
    )
    return Receipt(provider=intent.provider, created=created, destroyed=gone, left=left, unknown=unknown, note=note)


def _seen(maker: Maker, intent: Intent) -> tuple[str, ...]:
    """Return the hosts that are there or were once seen; all where nobody can say. A host that is given has a folder."""
    try:
        there = maker.status()["hosts"]
    except OrchError:
        return intent.hosts
    return tuple(name for name in intent.hosts if name in there or name in (intent.created or ()))


def _is_among(instance: str, left: Iterable[str]) -> bool:
    return any(re.search(rf"{re.escape(instance)}(?![a-z0-9-])", item) for item in left)
