"""Which deployments there are: a folder each in one place (`Workspace.deployments`); its `deployment.json` comes first.

That file and the provider's own sweep are all that teardown needs; plans, state and keys of several deployments stand
side by side.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from orchestrator.disk import whole_file
from orchestrator.errors import UsageError, did_you_mean
from orchestrator.experiment.providers import ProviderName
from orchestrator.shapes import decode_json
from orchestrator.strict_json import read_json

FILE = "deployment.json"


@dataclass(frozen=True, kw_only=True)
class Intent:
    """What is to be made, written down first. Times are Unix seconds; `state` says how far it has come.

    `target` is where it is made (a cloud project, this machine), as the provider's program names it. `created`: the hosts
    that a teardown saw, of an unfinished deployment or of hosts that are given; else None. Hosts that are given do not
    expire.
    """

    id: str
    run_id: str
    provider: ProviderName
    hosts: tuple[str, ...]
    created_at: float
    expires_at: float | None
    cost_usd_per_h: float | None
    state: Literal["intended", "up", "down"]
    target: dict[str, str | None] | None = None
    created: tuple[str, ...] | None = None


def deployment_id(run_id: str) -> str:
    """The short name a run's hosts carry: ten characters of a-z and 0-9, the first a letter."""
    return "o" + hashlib.sha256(run_id.encode()).hexdigest()[:9]


@dataclass(frozen=True)
class Registry:
    """The deployments of one place, a folder each (`Workspace.deployments`)."""

    place: Path

    def folder_of(self, identity: str) -> Path:
        """Where a deployment keeps state, keys and logs."""
        return self.place / identity

    def write(self, intent: Intent) -> None:
        """Put the intent on the disk, whole, before this returns."""
        folder = self.folder_of(intent.id)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with whole_file(folder / FILE, mode=0o600) as partial:
            partial.write_text(json.dumps(asdict(intent), indent=2))

    def read(self, identity: str) -> Intent | None:
        """The intent of a deployment; None when there never was one.

        UsageError when what was written is damaged.
        """
        path = self.folder_of(identity) / FILE
        try:
            intent: Intent = decode_json(Intent, read_json(path))
            if intent.id != identity:
                raise ValueError(f"id: it is of deployment {intent.id!r:.40}")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{path}: damaged: {error}",
                hint=f"move {path.parent} away; `orch teardown --all` then ends what it made, found by its label",
            ) from error
        return intent

    def intents(self) -> list[Intent]:
        """Every deployment that was ever begun here, oldest first."""
        intents = [self.read(path.parent.name) for path in self.place.glob(f"*/{FILE}")]
        return sorted((i for i in intents if i is not None), key=lambda i: i.created_at)

    def standing(self) -> list[Intent]:
        return [i for i in self.intents() if i.state != "down"]

    def find(self, name: str | None) -> Intent:
        """The standing deployment of that id or run id, or the only one; UsageError when that names none or several."""
        up = self.standing()
        if name is not None:
            for intent in up:
                if name in (intent.id, intent.run_id):
                    return intent
            known = [i.run_id for i in up]
            raise UsageError(
                f"no deployment of {name} is up", hint=did_you_mean(name, known) if known else "nothing is up"
            )
        if len(up) != 1:
            listed = ", ".join(f"{i.id} ({i.run_id})" for i in up)
            raise UsageError(f"several deployments are up: {listed}; name one" if up else "no deployment is up")
        return up[0]
