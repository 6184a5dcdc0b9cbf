"""What is up, and its end: a deployment is taken down from its written intent alone, without plan, run folder or state."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from orchestrator.clock import SYSTEM
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


def overview(registry: Registry) -> list[dict[str, Any]]:
    """One entry per deployment that may still be up, oldest first; hosts as the provider tells them."""
    now = SYSTEM.wall_ns() / 1e9
    entries = []
    for intent in registry.standing():
        status = _status(intent, registry)
        hours = (now - intent.created_at) / 3600
        rate = intent.cost_usd_per_h
        entries.append(
            {
                "deployment": intent.id,
                "run": intent.run_id,
                "provider": intent.provider,
                "state": "expired" if intent.expires_at and now > intent.expires_at else intent.state,
                "since": _time(intent.created_at),
                "until": _time(intent.expires_at) if intent.expires_at else None,
                "cost": _cost(rate, hours),
                "hosts": {name: status["hosts"].get(name, status["otherwise"]) for name in intent.hosts},
                "link": status["link"],
            }
        )
    return entries


def _status(intent: Intent, registry: Registry) -> dict[str, Any]:
    """What the provider finds; `otherwise` holds for a host that it does not name, also when it cannot be asked."""
    maker = maker_of(intent.provider, registry.folder_of(intent.id))
    try:
        maker.require_target(intent.target)
        return {**maker.status(), "otherwise": {"alive": False, "why": "it is gone"}}
    except OrchError as error:
        unknown = {"alive": None, "why": f"not known: {error.message}"}
        return {"hosts": {}, "link": {"kind": None, **unknown}, "otherwise": unknown}


def _cost(usd_per_h: float | None, hours: float) -> str:
    if usd_per_h is None:
        return "at a price that is not known here"
    return f"about {usd_per_h * hours:.3f} USD so far" if usd_per_h else "no cost"


def _time(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="seconds")
