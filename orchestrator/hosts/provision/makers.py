"""What makes a deployment's hosts: Terraform with a module of `infra/` or one's own; hosts of one's own are found.

`preview` asks Terraform what it would make.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchError, ProvisionError
from orchestrator.experiment.plan.own.own_module import HostOutput, find_program, read_hosts
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import HostSpec, WantedLink, topology
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.base import HostLost, at_once
from orchestrator.hosts.lifecycle import NETWORK, Maker, Swept
from orchestrator.hosts.provision.infra import Infra
from orchestrator.hosts.provision.terraform import Terraform
from orchestrator.hosts.remote.ssh import ensure_key
from orchestrator.hosts.remote.ssh_files import USER_KEY, remote_host

_OWN = "module-of"  # a link in the deployment's folder to a module of the person's own
_ANSWER_S = 60.0


def maker_of(provider: str, folder: Path) -> Maker:
    """Who makes the hosts of the deployment in `folder`, which is named after it."""
    if PROVIDERS[provider].hosts_are_given:
        from orchestrator.hosts.own.maker import OwnMaker  # only its runs pay for it

        return OwnMaker(folder)
    return TerraformMaker(provider, folder) if PROVIDERS[provider].has_program else ModuleMaker(provider, folder)


def terraform_of(provider: str, folder: Path, own: Path | None) -> Terraform:
    """Terraform for a deployment in `folder`, with the module of a provider or one of the person's `own`."""
    module = Infra(provider).module if own is None else own
    return Terraform(module=module, folder=folder, variables=folder / "variables.tfvars.json", is_own=own is not None)


class TerraformMaker(Maker):
    """A module of `infra/`, its state in the deployment's folder, and the module's own program."""

    def __init__(self, provider: str, folder: Path) -> None:
        self._infra = Infra(provider)
        self._terraform = terraform_of(provider, folder, None)
        self._id = folder.name

    def check(self) -> None:
        self._infra.check()
        find_program()

    def target(self) -> dict[str, str | None]:
        return self._infra.target()

    def require_target(self, made_in: dict[str, str | None] | None) -> None:
        self._infra.require_target(made_in)

    def make(self, plan: Plan, *, is_new: bool) -> dict[str, Any]:
        self._terraform.variables.write_text(variables(plan, self._id, self._terraform.folder / "keys"))
        self._terraform.init()
        # Terraform does not see that a namespace or a link has died; the provider does.
        broken = [] if is_new else self.status()["replace"]
        self._terraform.apply(replace=broken)
        return self._terraform.output()

    def status(self) -> dict[str, Any]:
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
        return self._infra.sweep(self._id)

    def clear(self) -> None:
        self._terraform.clear()


class ModuleMaker(TerraformMaker):
    """A module without a program of its own: hosts are asked over SSH, and Terraform's state says what is left."""

    def __init__(self, provider: str, folder: Path) -> None:
        super().__init__(provider, folder)
        self._folder, self._output = folder, folder / "output.json"
        link = folder / _OWN
        if link.is_symlink():
            self._terraform = terraform_of(provider, folder, link.readlink())

    def check(self) -> None:
        find_program()

    def target(self) -> dict[str, str | None]:
        """See `Maker.target`: its state alone says it."""
        return {}

    def require_target(self, made_in: dict[str, str | None] | None) -> None:
        """See `Maker.require_target`."""

    def make(self, plan: Plan, *, is_new: bool) -> dict[str, Any]:  # noqa: ARG002 - Terraform sees itself what is gone
        """See `Maker.make`. ProvisionError names the hosts that are not in the module's output as infra/README.md has it."""
        link = self._folder / _OWN
        if plan.module and not link.is_symlink():
            link.symlink_to(Path(plan.module).resolve())
            self._terraform = terraform_of(plan.provider, self._folder, link.readlink())
        self._terraform.variables.write_text(variables(plan, self._id, self._folder / "keys"))
        self._terraform.init()
        self._terraform.apply()
        output = self._terraform.output()
        try:
            hosts = read_hosts(output)
        except ValueError as error:
            raise ProvisionError(f"the outputs of {self._terraform.module}: {error}", hint=_SHAPE) from error
        wanted = topology(plan).hosts
        if missing := [host.name for host in wanted if host.name not in hosts]:
            raise ProvisionError(
                f"the outputs of {self._terraform.module}: `hosts` has {', '.join(hosts)}, and not {', '.join(missing)}",
                hint="make a host for each name in the variable `hosts`, or give those names to hosts of your own",
            )
        return {
            "hosts": {host.name: self._completed(host, hosts[host.name]) for host in wanted},
            "link": output.get("link") or NETWORK,
        }

    def _completed(self, wanted: HostSpec, given: HostOutput) -> dict[str, Any]:
        """A host of the module's output with all fields of infra/README.md."""
        instance, ssh = given.instance or f"orch-{self._id}-{wanted.name}", given.ssh
        alias = ssh.alias or ssh.host_name
        key = ensure_key(self._folder / "keys" / wanted.name, wanted.name)
        return {
            "role": wanted.role,
            "zone": wanted.zone,
            "machine": given.machine or wanted.machine,
            "instance": instance,
            "address": given.address,
            "disk": given.disk or instance,
            "ssh": {
                **{key: value for key, value in asdict(ssh).items() if key != "identity_file"},
                "alias": alias,
                "sudo": ssh.user != "root" if ssh.sudo is None else ssh.sudo,
                "known_hosts": ssh.known_hosts or f"{alias} {' '.join(key.split()[:2])}",
                **({"identities": [ssh.identity_file]} if ssh.identity_file else {}),
            },
        }

    def destroy(self) -> str | None:
        """See `Maker.destroy`: without a state nothing was made, or only its loss is known (`sweep`)."""
        return super().destroy() if self._terraform.state.exists() else None

    def status(self) -> dict[str, Any]:
        """See `Maker.status`: whether each host lets orch in; ProvisionError where Terraform has not ended with hosts."""

        def of_host(name: str, host: dict[str, Any]) -> dict[str, Any]:
            reached = remote_host(name, host, self._folder, "")
            why = None
            try:
                reached.run(["true"], timeout_s=_ANSWER_S)
            except (OrchError, HostLost) as error:
                why = str(error)
            finally:
                reached.close()
            return {"alive": why is None, "why": why, "expires_at": None}

        try:
            hosts = json.loads(self._output.read_text())["hosts"]
        except FileNotFoundError as error:
            if self._terraform.state.exists():
                raise ProvisionError(f"only Terraform's state {self._terraform.state} knows its hosts") from error
            hosts = {}
        seen = dict(zip(hosts, at_once(of_host, hosts, hosts.values()), strict=True))
        return {"hosts": seen, "link": {"kind": "network", "alive": True, "why": None}, "replace": []}

    def sweep(self) -> Swept:
        """See `Maker.sweep`: what the state knows after a destroy is left; a state that is lost leaves all unknown."""
        state, was_made = self._terraform.state, self._output.exists()
        if not was_made and not state.exists():
            return Swept()
        try:
            left = self._terraform.resources()
        except OrchError as error:
            return Swept(unknown=(f"all of orch-{self._id} ({error.message})",))
        if left:
            return Swept(unknown=(f"{', '.join(left)} (in Terraform's state {state})",))
        if not state.exists():
            return Swept(unknown=(f"all of orch-{self._id} (there is no state {state} any more)",))
        return Swept()

    def clear(self) -> None:
        """See `Maker.clear`: without its output, nothing is taken for lost."""
        super().clear()
        self._output.unlink(missing_ok=True)


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


def preview(plan: Plan) -> tuple[str, str]:
    """What a real `terraform plan` would make, in a sentence, and why Terraform could not be asked: a plan does without.

    It works in a folder that is gone afterwards.
    """
    hosts = ", ".join(f"{host.name} in {host.zone}" for host in topology(plan).hosts)
    try:
        find_program()
        if PROVIDERS[plan.provider].has_program:
            Infra(plan.provider).check()
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            terraform = terraform_of(plan.provider, place, Path(plan.module).resolve() if plan.module else None)
            terraform.variables.write_text(variables(plan, "preview", place / "keys"))
            terraform.init()
            return f"{terraform.plan()} to add: {hosts}, and what connects them", ""
    except OrchError as error:
        return f"not asked ({error.message}); it would make {hosts}", error.message


_SHAPE = "each host has `address` and `ssh: {user, host_name}`; infra/README.md lists what else it may have"


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
