"""Hosts that are there already: nothing is made but a folder on each, which goes with the run."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from orchestrator.errors import MissingError, OrchError, ProvisionError
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import topology
from orchestrator.experiment.providers import THIS_MACHINE
from orchestrator.hosts.base import HostLost, at_once
from orchestrator.hosts.lifecycle import NETWORK, Maker, Swept
from orchestrator.hosts.local.machine_lock import PLACE, machine
from orchestrator.hosts.own.survey import FIREWALL, argv, ask, closed_ports, line_of, require, survey
from orchestrator.hosts.remote.container import Container
from orchestrator.hosts.remote.host import RemoteHost, RemoteProcess
from orchestrator.hosts.remote.ssh_files import remote_host


class OwnMaker(Maker):
    """See `Maker`. What it knows of a deployment is in `output.json` and the SSH files beside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: list[RemoteProcess] = []
        self._here = ExitStack()  # this machine, where it runs the containers

    def make(self, plan: Plan, *, is_new: bool) -> dict[str, Any]:  # noqa: ARG002 - looked at anew in any case
        """See `Maker.make`: look at the hosts; ProvisionError with all that is in the way. Nothing is put on them yet."""
        looked = survey(plan, self._folder)
        require(looked)
        return {"hosts": {each.name: each.output for each in looked}, "link": NETWORK}

    def prepare(self, plan: Plan, members: Mapping[str, RemoteHost]) -> None:
        """See `Maker.prepare`: hold every machine, try the ports, make the folders."""
        run = self._folder.name
        if any(isinstance(host.access, Container) for host in members.values()):
            self._here.enter_context(machine(THIS_MACHINE))
        controller = f"{socket.gethostname()}:{Path.cwd()}"
        for host in members.values():
            holder = host.start(
                argv("hold", lock=str(PLACE), run=run, controller=controller, ttl_s=int(plan.limits.ttl_s))
            )
            self._held.append(holder)
            answer = line_of(holder)
            if not answer["held"]:
                by = answer["by"]
                who = f"run {by['run']} of user {by['user']} in {by['folder']}" if by else "another run"
                raise MissingError(
                    f"{host.name} is in use: {who} measures there; two at once would disturb each other",
                    hint="wait until it has ended, or take other hosts",
                )
        if closed := closed_ports(members, topology(plan)):
            raise ProvisionError(closed, hint=FIREWALL)
        at_once(lambda host: ask(host, "make", root=str(host.root), run=run), members.values())

    def release(self) -> None:
        for holder in self._held:
            holder.end(grace_s=1.0)
        self._held = []
        self._here.close()

    def status(self) -> dict[str, Any]:
        """See `Maker.status`: a host is alive where it has the run's folder, and left out where that is gone."""

        def of_host(host: RemoteHost) -> dict[str, Any]:
            try:
                is_there = ask(host, "status", root=str(host.root))["is_there"]
            except (OrchError, HostLost) as error:
                if _is_gone(host):
                    return {"alive": False, "why": None, "expires_at": None}
                return {"alive": None, "why": f"not known: {error}", "expires_at": None}
            finally:
                host.close()
            return {"alive": is_there, "why": None, "expires_at": None}

        hosts = self._hosts()
        seen = dict(zip(hosts, at_once(of_host, hosts.values()), strict=True))
        there = {name: host for name, host in seen.items() if host["alive"] is not False}
        return {"hosts": there, "link": {"kind": "network", "alive": True, "why": None}, "replace": []}

    def sweep(self) -> Swept:
        """See `Maker.sweep`: end what runs out of the run's folder on each host, and remove it."""

        def of_host(host: RemoteHost) -> tuple[str, str]:
            what = f"{host.root} on {host.name}"
            try:
                answer = ask(host, "sweep", root=str(host.root), run=self._folder.name)
            except (OrchError, HostLost) as error:
                return ("", "") if _is_gone(host) else ("unknown", f"{what} ({error})")
            finally:
                host.close()
            if answer["left"]:
                return "left", f"{what} ({answer['left']})"
            return ("removed", what) if answer["removed"] else ("", "")

        answers = at_once(of_host, self._hosts().values())
        removed, left, unknown = (
            tuple(what for how, what in answers if how == wanted) for wanted in ("removed", "left", "unknown")
        )
        return Swept(removed=removed, left=left, unknown=unknown)

    def _hosts(self) -> dict[str, RemoteHost]:
        """The hosts that may have a folder of the run: none before they were written down."""
        try:
            output = json.loads((self._folder / "output.json").read_text())
        except FileNotFoundError:
            return {}
        return {name: remote_host(name, host, self._folder, "") for name, host in output["hosts"].items()}


def _is_gone(host: RemoteHost) -> bool:
    """Whether a host was removed with all that was on it."""
    return isinstance(host.access, Container) and host.access.is_gone()
