"""Hosts from nothing to nothing: a maker makes or finds them, Ansible deploys to them, SSH reaches them. Any provider.

Intent is written before anything is made; every step may be called again after it failed or was killed; teardown needs
only the intent.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from orchestrator.clock import SYSTEM
from orchestrator.errors import ProvisionError, on_one_line
from orchestrator.experiment.plan.cells import postgresql_connections
from orchestrator.experiment.plan.estimate import cost_of
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import Topology, needed_languages, topology
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.base import at_once, runtimes
from orchestrator.hosts.lifecycle import IntentLog, Receipt
from orchestrator.hosts.provision import ansible
from orchestrator.hosts.provision.archives import cache_folder
from orchestrator.hosts.provision.deployments import Intent, Registry, deployment_id
from orchestrator.hosts.provision.infra import ROOT
from orchestrator.hosts.provision.makers import maker_of
from orchestrator.hosts.provision.takedown import take_down
from orchestrator.hosts.provision.wheelhouse import Target, built_programs, code, wheelhouse
from orchestrator.hosts.remote.fleet import RemoteFleet, measure_distance
from orchestrator.hosts.remote.host import RemoteHost
from orchestrator.hosts.remote.ssh_files import SSH_CONFIG, remote_host, write_ssh_files
from orchestrator.workspace import Workspace

OUTPUT = "output.json"
_PORT = 5432  # of databases on hosts of their own
_PASSWORD = "postgresql"  # noqa: S105 - the name of its file
_BOOT_S = 180.0
_SHORT_BOOT_S = (
    30.0  # of hosts that are up once they are made; its SSH server may still close a connection on a busy machine
)
_PROBE = (
    "import json,platform,sys;print(json.dumps([platform.python_version(),platform.machine(),platform.libc_ver()[1]]))"
)


class RemoteDeployment:
    """The hosts of one run; see `hosts.lifecycle.Deployment`."""

    def __init__(self, plan: Plan, intent_log: IntentLog, workspace: Workspace) -> None:
        self._plan = plan
        self._intent_log = intent_log
        self.id = deployment_id(intent_log.path.name)
        self._registry = Registry(workspace.deployments)
        self.folder = self._registry.folder_of(self.id)
        self._maker = maker_of(plan.provider, self.folder)
        self._topology: Topology = topology(plan)
        self._members: dict[str, RemoteHost] = {}

    def provision(self) -> None:
        self._maker.check()
        ansible.find_playbook_program()
        stood = self._registry.read(self.id)
        intent = self._declare(stood)
        output = self._maker.make(self._plan, is_new=stood is None)
        (self.folder / OUTPUT).write_text(json.dumps(output, indent=2))
        write_ssh_files(self.folder, output["hosts"])
        ends = [host["expires_at"] for host in self._maker.status()["hosts"].values() if host["expires_at"]]
        self._registry.write(replace(intent, state="up", created=None, expires_at=max(ends, default=intent.expires_at)))
        self._intent_log.append({"event": "provisioned", "deployment": self.id, "link": output["link"]})

    def deploy(self) -> RemoteFleet:
        output = json.loads((self.folder / OUTPUT).read_text())
        hosts = output["hosts"]
        self._close()
        members = self._members = {name: self._host(name, host) for name, host in hosts.items()}
        at_once(lambda host: host.session, members.values())  # each has booted, or says why not
        self._maker.prepare(self._plan, members)
        tasks_changed, dsns = self._install(hosts)
        fleet = RemoteFleet(
            members=members,
            topology=self._topology,
            pin=self._plan.pin,
            look=self._maker.status,
            pins={placement.id: placement.pin for placement in self._plan.placements if placement.pin},
            databases=dsns,
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

    def _install(self, hosts: dict[str, Any]) -> tuple[int, Mapping[str, str]]:
        """Deploy to every host what its kind needs; how many tasks changed something, and the databases' DSNs."""
        cache = cache_folder()
        plan, members = self._plan, self._members
        pythons = [str(hosts[name].get("interpreter", "python3")) for name in members]
        targets = dict(zip(members, at_once(_target, members.values(), pythons), strict=True))
        programs = {target: built_programs(plan, target, cache) for target in set(targets.values())}
        ends = [host for name, host in members.items() if hosts[name]["role"] != "store"]
        for language in needed_languages(plan):
            if language.needs:
                at_once(partial(runtimes, language), ends)  # before anything is put on a host that lacks something
        lock = ROOT / "locks" / "services.lock"
        wheels = {target: wheelhouse(lock, target, cache) for target in programs}
        store = next((name for name, host in hosts.items() if host["role"] == "store"), next(iter(hosts)))
        of_stores, dsns = databases(plan, self.folder / "keys", hosts, targets[store], cache)
        installed = {
            name: ansible.Installed(
                wheels=wheels[target],
                programs=programs[target],
                root=members[name].root,
                workspace=members[name].workspace,
            )
            for name, target in targets.items()
        }
        config = self.folder / SSH_CONFIG
        inventory = self.folder / "inventory.json"
        document = ansible.inventory(hosts, config, code(ROOT, cache), installed, of_stores)
        inventory.write_text(json.dumps(document, indent=2))  # which is YAML
        log = self.folder / "logs" / "ansible.log"
        return ansible.deploy(ROOT / "ansible", inventory, log), dsns

    def teardown(self) -> Receipt:
        self._close()
        intent = self._registry.read(self.id)
        return (
            Receipt(provider=self._plan.provider, note="nothing had been made")
            if intent is None
            else take_down(self._registry, intent)
        )

    def describe(self) -> dict[str, Any]:
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
            self._maker.require_target(stood.target)  # else there would be two sets of hosts under one id
            if stood.expires_at is None or now < stood.expires_at:
                return stood
        intent = Intent(
            id=self.id,
            run_id=self._intent_log.path.name,
            provider=self._plan.provider,
            hosts=tuple(host.name for host in self._topology.hosts),
            created_at=now,
            expires_at=None if PROVIDERS[self._plan.provider].hosts_are_given else now + self._plan.limits.ttl_s,
            cost_usd_per_h=cost_of(self._plan, 1.0),
            state="intended",
            target=self._maker.target(),
        )
        self._registry.write(intent)
        self._intent_log.append({"event": "deployment", "deployment": self.id, "provider": intent.provider})
        return intent

    def _host(self, name: str, host: dict[str, Any]) -> RemoteHost:
        provider = PROVIDERS[self._plan.provider]
        boot_s = None if provider.hosts_are_given else _BOOT_S if provider.costs_money else _SHORT_BOOT_S
        run = self._intent_log.path.name
        return remote_host(name, host, self.folder, run, boot_s=boot_s, cloud=provider.metadata)

    def _close(self) -> None:
        """End every connection, and with it what it started."""
        self._maker.release()
        for host in self._members.values():
            host.close()


def databases(
    plan: Plan, keys: Path, hosts: Mapping[str, Any], target: Target, cache: Path
) -> tuple[dict[str, Any], dict[str, str]]:
    """What Ansible needs for the hosts of role `store` among `hosts`, and the DSN of the server on each; nothing without.

    The password is made for the deployment, and lies among its keys, which go with it. ProvisionError as `wheelhouse`.
    """
    if not plan.makes_stores:
        return {}, {}
    file = keys / _PASSWORD
    if not file.exists():
        keys.mkdir(mode=0o700, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(24))
    programs = wheelhouse(ROOT / "locks" / "postgresql.lock", target, cache)
    variables = {
        "orch_postgresql": str(programs.path.resolve()),
        "orch_postgresql_digest": programs.digest,
        "orch_postgresql_connections": postgresql_connections(plan.cells),
        "orch_postgresql_port": _PORT,
        "orch_postgresql_password": str(file.resolve()),
    }
    dsn = f"port={_PORT} dbname=postgres user=orch password={file.read_text()}"
    stores = {name: host["address"] for name, host in hosts.items() if host["role"] == "store"}
    return variables, {name: f"host={address} {dsn}" for name, address in stores.items()}


def _target(host: RemoteHost, python: str) -> Target:
    done = host.run([python, "-c", _PROBE], timeout_s=60)
    version, machine, libc = json.loads(done.stdout) if done.returncode == 0 else ("0", "", "")
    if not libc or tuple(int(part) for part in version.split(".")[:2]) < (3, 11):
        there = f"Python {version}" if machine else on_one_line(done.stderr, 200)
        raise ProvisionError(
            f"{host.name} has no Python 3.11 or newer with glibc: {there}",
            hint="use an image with both, such as Debian or Ubuntu",
        )
    major, minor = libc.split(".")[:2]
    return Target(python=version, machine=machine, glibc=(int(major), int(minor)))
