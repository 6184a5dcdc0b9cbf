"""What makes a deployment's hosts: Terraform with a module of `infra/`; hosts of one's own are found as they are."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import WantedLink, topology
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.lifecycle import Maker, Swept
from orchestrator.hosts.provision.infra import Infra
from orchestrator.hosts.provision.terraform import Terraform, find_program
from orchestrator.hosts.remote.ssh import ensure_key
from orchestrator.hosts.remote.ssh_files import USER_KEY


def maker_of(provider: str, folder: Path) -> Maker:
    """Who makes the hosts of the deployment in `folder`, which is named after it."""
    if PROVIDERS[provider].hosts_are_given:
        from orchestrator.hosts.own.maker import OwnMaker  # only its runs pay for it

        return OwnMaker(folder)
    return TerraformMaker(provider, folder)


class TerraformMaker(Maker):
    """A module of `infra/`, its state in the deployment's folder, and the module's own program."""

    def __init__(self, provider: str, folder: Path) -> None:
        self._infra = Infra(provider)
        self._terraform = Terraform(
            module=self._infra.module, folder=folder, variables=folder / "variables.tfvars.json"
        )
        self._id = folder.name

    def check(self) -> None:
        """See `Maker.check`."""
        self._infra.check()
        find_program()

    def target(self) -> dict[str, str | None]:
        """See `Maker.target`."""
        return self._infra.target()

    def require_target(self, made_in: dict[str, str | None] | None) -> None:
        """See `Maker.require_target`."""
        self._infra.require_target(made_in)

    def make(self, plan: Plan, *, is_new: bool) -> dict[str, Any]:
        """See `Maker.make`."""
        self._terraform.variables.write_text(variables(plan, self._id, self._terraform.folder / "keys"))
        self._terraform.init()
        # Terraform does not see that a namespace or a link has died; the provider does.
        broken = [] if is_new else self.status()["replace"]
        self._terraform.apply(replace=broken)
        return self._terraform.output()

    def status(self) -> dict[str, Any]:
        """See `Maker.status`."""
        return self._infra.status(self._id)

    def destroy(self) -> str | None:
        """See `Maker.destroy`. Only the state knows of what has lost its labels."""
        if not self._terraform.variables.exists():
            return None
        try:
            self._terraform.init()
            self._terraform.destroy()
        except OrchError as error:
            state = self._terraform.folder / "terraform.tfstate"
            return f"what only Terraform's state knows (terraform could not destroy: {error.message[:300]}; state: {state})"
        return None

    def sweep(self) -> Swept:
        """See `Maker.sweep`: what carries the deployment's label."""
        return self._infra.sweep(self._id)

    def clear(self) -> None:
        """See `Maker.clear`."""
        self._terraform.clear()


def variables(plan: Plan, identity: str, keys: Path) -> str:
    """The input of every module of `infra/` as JSON (infra/README.md). Makes in `keys` the SSH keys that are not there."""
    wanted = topology(plan)
    host_keys = {
        host.name: {
            "private_key_path": str((keys / host.name).resolve()),
            "public_key": ensure_key(keys / host.name, host.name),
        }
        for host in wanted.hosts
    }
    document = {
        "run_id": identity,
        "hosts": {h.name: {"role": h.role, "zone": h.zone, "machine": h.machine} for h in wanted.hosts},
        "ttl_seconds": int(plan.limits.ttl_s),  # the same each time: another one would make other hosts
        "ssh_public_key": ensure_key(keys / USER_KEY, "orch"),
        "host_keys": host_keys,
        "links": [_link(between) for between in wanted.links if between.link.rtt_ms is not None],
        "controller_cidr": os.environ.get("ORCH_CONTROLLER_CIDR") or None,  # JSON's null, never a word
        "labels": {"experiment": _label(plan.name)},
    }
    return json.dumps(document, indent=2)


def _link(wanted: WantedLink) -> dict[str, Any]:
    link = {
        "from_zone": wanted.zones[0],
        "to_zone": wanted.zones[1],
        "rtt_ms": wanted.link.rtt_ms,
        "jitter_ms": wanted.link.jitter_ms or None,
        "rate_mbit": wanted.link.rate_mbit,
        "loss": wanted.link.loss or None,
        "initial_window": wanted.link.initial_window,
    }
    return {key: value for key, value in link.items() if value is not None}


def _label(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name.lower())[:63]
