"""What is up, over all deployments and providers: what was written down, and what each provider still finds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from orchestrator.clock import SYSTEM
from orchestrator.errors import OrchError
from orchestrator.hosts.provision.deployments import Intent, Registry
from orchestrator.hosts.provision.makers import maker_of


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
