"""Which deployments there are: a folder each in one place (`Workspace.deployments`); its `deployment.json` comes first.

That file and the provider's own sweep are all that teardown needs; plans, state and keys of several deployments stand
side by side.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from orchestrator.disk import whole_file
from orchestrator.errors import UsageError, did_you_mean
from orchestrator.hosts.provision.infra import MODULES
from orchestrator.strict_json import read_json

FILE = "deployment.json"
_BY_LABEL = "ends what it made, found by its label"

_Id: TypeAlias = Annotated[str, Field(pattern=r"\Ao[0-9a-f]{9}\z")]
_Run: TypeAlias = Annotated[str, Field(pattern=r"\A[^/\x00-\x1f\x7f-\x9f]+\z")]
_Host: TypeAlias = Annotated[str, Field(pattern=r"\A[a-z]([a-z0-9-]{0,18}[a-z0-9])?\z")]  # as infra/*/variables.tf
_Time: TypeAlias = Annotated[float, Field(ge=0, le=253_000_000_000)]  # the years that a calendar has


@dataclass(frozen=True, kw_only=True)
class Intent:
    """What is to be made, written down first. Times are Unix seconds; `state` says how far it has come.

    `target` is where it is made (a cloud project, this machine), as the provider's program names it; None in what an
    older orch wrote.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    id: _Id
    run_id: _Run
    provider: str
    hosts: tuple[_Host, ...]
    created_at: _Time
    expires_at: _Time
    cost_usd_per_h: Annotated[float, Field(ge=0)] | None
    state: Literal["intended", "up", "down"]
    target: dict[str, str | None] | None = None


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
            document = read_json(path)
            intent: Intent = TypeAdapter(Intent).validate_json(json.dumps(document))
            _require_its_own(intent, identity)
        except FileNotFoundError:
            return None
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise _damaged(path, f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from error
        except (OSError, ValueError) as error:
            raise _damaged(path, str(error)) from error
        return intent

    def intents(self) -> list[Intent]:
        """Every deployment that was ever begun here, oldest first."""
        found = [self.read(path.parent.name) for path in self.place.glob(f"*/{FILE}")]
        return sorted((i for i in found if i is not None), key=lambda i: i.created_at)

    def standing(self) -> list[Intent]:
        """Deployments of which something may still be up."""
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


def _require_its_own(intent: Intent, identity: str) -> None:
    """ValueError when the intent speaks of another folder, or of a provider that is not one of `infra/`."""
    if identity != intent.id or intent.id != deployment_id(intent.run_id):
        raise ValueError("id or run_id: they do not belong to each other and to this folder")
    if intent.provider not in MODULES:
        raise ValueError(f"provider: there is none of that name; known: {', '.join(MODULES)}")


def _damaged(path: Path, why: str) -> UsageError:
    return UsageError(
        f"{path}: damaged: {why}", hint=f"move {path.parent} away; `orch teardown --all` then {_BY_LABEL}"
    )
