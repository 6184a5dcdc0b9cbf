"""Which deployments there are: a folder each under `.orch/deployments/`; its `deployment.json` comes first.

That file and the provider's own sweep are all that teardown needs; plans, state and keys of several deployments stand
side by side.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from orchestrator.errors import UsageError, did_you_mean

FOLDER = Path(".orch") / "deployments"
FILE = "deployment.json"


@dataclass(frozen=True, kw_only=True)
class Intent:
    """What is to be made, written down first. Times are Unix seconds; `state` says how far it has come.

    `target` is where it is made (a cloud project, this machine), as the provider's program names it; None in what an
    older orch wrote.
    """

    id: str
    run_id: str
    provider: str
    hosts: tuple[str, ...]
    created_at: float
    expires_at: float
    cost_usd_per_h: float | None
    state: Literal["intended", "up", "down"]
    target: dict[str, str | None] | None = None


def deployment_id(run_id: str) -> str:
    """The short name a run's hosts carry: ten characters of a-z and 0-9, the first a letter."""
    return "o" + hashlib.sha256(run_id.encode()).hexdigest()[:9]


def folder_of(identity: str) -> Path:
    """Where a deployment keeps state, keys and logs."""
    return FOLDER / identity


def write(intent: Intent) -> None:
    """Put the intent on the disk, whole, before this returns."""
    folder = folder_of(intent.id)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = folder / f"{FILE}.partial"
    with partial.open("w") as file:
        json.dump(asdict(intent), file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / FILE)


def read(identity: str) -> Intent | None:
    """The intent of a deployment; None when there never was one, UsageError when what was written is damaged."""
    path = folder_of(identity) / FILE
    if not path.exists():
        return None
    try:
        raw: dict[str, Any] = json.loads(path.read_text())
        return Intent(**{**raw, "hosts": tuple(raw["hosts"])})
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{path}: damaged: {error}",
            hint=f"move {path.parent} away; `orch teardown --all` then ends what it made, found by its label",
        ) from error


def intents() -> list[Intent]:
    """Every deployment that was ever begun here, oldest first."""
    found = [read(path.parent.name) for path in FOLDER.glob(f"*/{FILE}")]
    return sorted((i for i in found if i is not None), key=lambda i: i.created_at)


def standing() -> list[Intent]:
    """Deployments of which something may still be up."""
    return [i for i in intents() if i.state != "down"]


def find(name: str | None) -> Intent:
    """The standing deployment of that id or run id, or the only one; UsageError when that names none or several."""
    up = standing()
    if name is not None:
        for intent in up:
            if name in (intent.id, intent.run_id):
                return intent
        known = [i.run_id for i in up]
        raise UsageError(f"no deployment of {name} is up", hint=did_you_mean(name, known) if known else "nothing is up")
    if len(up) != 1:
        listed = ", ".join(f"{i.id} ({i.run_id})" for i in up)
        raise UsageError(f"several deployments are up: {listed}; name one" if up else "no deployment is up")
    return up[0]
