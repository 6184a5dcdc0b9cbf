"""Hosts from nothing to nothing: Terraform makes them, Ansible deploys to them, SSH reaches them. Any provider of `infra/`.

Intent is written before anything is made; every step may be called again after it failed or was killed; teardown needs
only the intent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from orchestrator.clock import SYSTEM
from orchestrator.errors import ProvisionError, on_one_line
from orchestrator.experiment.plan.estimate import cost_of
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import Topology, WantedLink, needed_languages, topology
from orchestrator.hosts.base import runtimes
from orchestrator.hosts.lifecycle import IntentLog, Receipt
from orchestrator.hosts.provision import ansible, artifacts, stores
from orchestrator.hosts.provision.archives import cache_folder
from orchestrator.hosts.provision.deployments import Intent, Registry, deployment_id
from orchestrator.hosts.provision.infra import ROOT, Infra
from orchestrator.hosts.provision.takedown import take_down, terraform_of
from orchestrator.hosts.provision.terraform import find_program
from orchestrator.hosts.provision.wheelhouse import Target, code, wheelhouse
from orchestrator.hosts.remote.fleet import RemoteFleet, measure_distance, prove_placement
from orchestrator.hosts.remote.host import RemoteHost
from orchestrator.hosts.remote.ssh import Access, ensure_key
from orchestrator.workspace import Workspace

T = TypeVar("T")

_BOOT_S = 180.0
_SHORT_BOOT_S = (
    30.0  # of hosts that are up once they are made; its SSH server may still close a connection on a busy machine
)
_SSH_OPTIONS = """\
  IdentitiesOnly yes
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
  BatchMode yes
  ServerAliveInterval 10
"""
_USER = "user"
_PROBE = (
    "import json,platform,sys;print(json.dumps([platform.python_version(),platform.machine(),platform.libc_ver()[1]]))"
)


class TerraformDeployment:
    """The hosts of one run; see `hosts.provider.Deployment`."""

    def __init__(self, plan: Plan, intent_log: IntentLog, workspace: Workspace) -> None:
        self._plan = plan
        self._intent_log = intent_log
        self.id = deployment_id(intent_log.path.name)
        self._registry = Registry(workspace.deployments)
        self.folder = self._registry.folder_of(self.id)
        self._infra = Infra(plan.provider)
        self._terraform = terraform_of(self.folder, plan.provider)
        self._topology: Topology = topology(plan)
        self._members: dict[str, RemoteHost] = {}

    @property
    def _identity(self) -> Path:
        return self.folder / "keys" / _USER

    def provision(self) -> None:
        """Make the hosts, or repair those that exist; see `Deployment.provision`."""
        self._infra.check()
        find_program()
        ansible.find_playbook_program()
        stood = self._registry.read(self.id)
        intent = self._declare(stood)
        self._terraform.variables.write_text(variables(self._plan, self.id, self.folder / "keys"))
        self._terraform.init()
        # Terraform does not see that a namespace or a link has died; the provider does.
        broken = [] if stood is None else self._infra.status(self.id)["replace"]
        self._terraform.apply(replace=broken)
        output = self._terraform.output()
        (self.folder / "output.json").write_text(json.dumps(output, indent=2))
        self._write_ssh_files(output["hosts"])
        ends = [host["expires_at"] for host in self._infra.status(self.id)["hosts"].values() if host["expires_at"]]
        self._registry.write(replace(intent, state="up", created=None, expires_at=max(ends, default=intent.expires_at)))
        self._intent_log.append({"event": "provisioned", "deployment": self.id, "link": output["link"]})

    def deploy(self) -> RemoteFleet:
        """Install what both ends need, and prove that the hosts stand where they should; see `Deployment.deploy`."""
        output = json.loads((self.folder / "output.json").read_text())
        hosts = output["hosts"]
        self._close()
        cloud = self._plan.provider if output["link"]["kind"] == "network" else None
        members = self._members = {name: self._host(name, host, cloud) for name, host in hosts.items()}
        _at_once(lambda host: host.session, members.values())  # each has booted, or says why not
        cache = cache_folder()
        target = _target(next(iter(members.values())))
        programs = artifacts.programs(self._plan, target, cache)
        self._require_runtimes(hosts)
        wheels = wheelhouse(ROOT / "locks" / "services.lock", target, cache)
        workspace = str(next(iter(members.values())).workspace)
        database = stores.prepared(self._plan, self.folder / "keys", hosts, target, cache)
        document = ansible.inventory(
            hosts, self.folder / "ssh_config", wheels, code(ROOT, cache), workspace, database.variables, programs
        )
        inventory = self.folder / "inventory.json"
        ansible.write(inventory, document)
        tasks_changed = ansible.deploy(ROOT / "ansible", inventory, self.folder / "logs" / "ansible.log")
        facts = dict(zip(members, _at_once(RemoteHost.facts, members.values()), strict=True))
        prove_placement(facts, hosts)
        fleet = RemoteFleet(
            members=members,
            topology=self._topology,
            pin=self._plan.pin,
            look=lambda: self._infra.status(self.id),
            pins={placement.id: placement.pin for placement in self._plan.placements if placement.pin},
            databases=database.dsns,
        )
        fleet.about = {
            "provider": self._plan.provider,
            "deployment": self.id,
            "link": output["link"],
            "hosts": {
                name: {k: host[k] for k in ("role", "zone", "machine", "address")} for name, host in hosts.items()
            },
            "tasks_changed": tasks_changed,
            "distances": measure_distance(fleet, self._plan),
        }
        return fleet

    def _require_runtimes(self, hosts: dict[str, Any]) -> None:
        """ProvisionError where a host that asks or answers has not what the languages need; before it is deployed to."""
        needing = [language for language in needed_languages(self._plan) if language.needs]
        ends = [host for name, host in self._members.items() if hosts[name]["role"] != "store"]
        for language in needing:
            _at_once(partial(runtimes, language), ends)

    def teardown(self) -> Receipt:
        """Close the connections, and take the deployment down from its intent; see `Deployment.teardown`."""
        self._close()
        intent = self._registry.read(self.id)
        return (
            Receipt(provider=self._plan.provider, note="nothing had been made")
            if intent is None
            else take_down(self._registry, intent)
        )

    def describe(self) -> dict[str, Any]:
        """Provider, hosts, until when, and how to end them; see `Deployment.describe`."""
        intent = self._registry.read(self.id)
        if intent is None:
            return {"provider": self._plan.provider, "deployment": self.id, "hosts": []}
        return {
            "provider": intent.provider,
            "deployment": intent.id,
            "hosts": list(intent.hosts),
            "expires_at": intent.expires_at,
            "end_with": f"orch teardown {intent.run_id}",
        }

    def _declare(self, stood: Intent | None) -> Intent:
        """Return the written intent of this run: the one that is there, or a new one."""
        now = SYSTEM.wall_ns() / 1e9
        if stood is not None and stood.state != "down":
            self._infra.require_target(stood.target)  # else there would be two sets of hosts under one id
            if now < stood.expires_at:
                return stood
        intent = Intent(
            id=self.id,
            run_id=self._intent_log.path.name,
            provider=self._plan.provider,
            hosts=tuple(host.name for host in self._topology.hosts),
            created_at=now,
            expires_at=now + self._plan.limits.ttl_s,
            cost_usd_per_h=cost_of(self._plan, 1.0),
            state="intended",
            target=self._infra.target(),
        )
        self._registry.write(intent)
        self._intent_log.append({"event": "deployment", "deployment": self.id, "provider": intent.provider})
        return intent

    def _write_ssh_files(self, hosts: dict[str, Any]) -> None:
        known = self.folder / "known_hosts"
        known.write_text("".join(f"{host['ssh']['known_hosts']}\n" for host in hosts.values()))
        config = ""
        for name, host in hosts.items():
            ssh = host["ssh"]
            config += f"Host {name}\n  HostName {ssh['host_name']}\n  HostKeyAlias {ssh['alias']}\n"
            config += f"  User {ssh['user']}\n  Port {ssh['port']}\n"
            if ssh["proxy_command"]:
                config += f"  ProxyCommand {ssh['proxy_command'].replace('%', '%%')}\n"
        config += f"Host *\n  IdentityFile {_quoted(self._identity)}\n  UserKnownHostsFile {_quoted(known)}\n"
        (self.folder / "ssh_config").write_text(f"{config}{_SSH_OPTIONS}")

    def _host(self, name: str, host: dict[str, Any], cloud: str | None) -> RemoteHost:
        ssh = host["ssh"]
        access = Access(
            name=name,
            alias=ssh["alias"],
            host_name=ssh["host_name"],
            user=ssh["user"],
            port=int(ssh["port"]),
            proxy_command=ssh["proxy_command"],
            identity=self._identity,
            known_hosts=self.folder / "known_hosts",
        )
        workspace = PurePosixPath("/var/tmp/orch") / self._intent_log.path.name  # noqa: S108 - the host's, made by Ansible
        return RemoteHost(
            name=name,
            address=host["address"],
            zone=host["zone"],
            access=access,
            workspace=workspace,
            boot_s=_SHORT_BOOT_S if cloud is None else _BOOT_S,
            cloud=cloud,
        )

    def _close(self) -> None:
        """End every connection, and with it what it started."""
        for host in self._members.values():
            host.close()


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
        "ssh_public_key": ensure_key(keys / _USER, "orch"),
        "host_keys": host_keys,
        "links": [_link(between) for between in wanted.links if between.link.rtt_ms is not None],
        "controller_cidr": os.environ.get("ORCH_CONTROLLER_CIDR") or None,  # JSON's null, never a word
        "labels": {"experiment": _label(plan.name)},
    }
    return json.dumps(document, indent=2)


def _quoted(path: Path) -> str:
    """A path as ssh_config(5) takes it: in quotes, and without the meaning that % has there."""
    text = str(path.resolve()).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text}"'


def _at_once(ask: Callable[[RemoteHost], T], hosts: Iterable[RemoteHost]) -> list[T]:
    """Ask every host the same, all at the same time; the answers in the hosts' order."""
    with ThreadPoolExecutor(max_workers=16) as pool:
        return list(pool.map(ask, hosts))


def _target(host: RemoteHost) -> Target:
    done = host.run(["python3", "-c", _PROBE], timeout_s=60)
    if done.returncode:
        raise ProvisionError(
            f"{host.name} has no python3: {on_one_line(done.stderr, 200)}",
            hint="use an image with Python 3.11 or newer",
        )
    version, machine, libc = json.loads(done.stdout)
    if not libc:
        raise ProvisionError(
            f"{host.name} has no glibc, and the wheels need one", hint="use an image such as Debian or Ubuntu"
        )
    if tuple(int(part) for part in version.split(".")[:2]) < (3, 11):
        raise ProvisionError(f"{host.name} has Python {version}", hint="use an image with Python 3.11 or newer")
    major, minor = libc.split(".")[:2]
    return Target(python=version, machine=machine, glibc=(int(major), int(minor)))


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
