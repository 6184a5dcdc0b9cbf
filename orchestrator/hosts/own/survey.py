"""What is there on machines of the person's own, before anything is put on them: what they are, and what is in the way."""

from __future__ import annotations

import ipaddress
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.errors import OrchError, ProvisionError, on_one_line
from orchestrator.experiment.plan.plan import OwnHost, Plan
from orchestrator.experiment.plan.topology import OWN, HostSpec, Topology, topology
from orchestrator.experiment.read.units import format_size
from orchestrator.hosts.base import HostLost, at_once
from orchestrator.hosts.own.access import reached
from orchestrator.hosts.remote.host import RemoteHost, RemoteProcess
from orchestrator.hosts.remote.ssh_files import remote_host, write_ssh_files

_TEXT = Path(__file__).with_name("on_host.py").read_text(encoding="utf-8")
_PYTHONS = "python3 python3.14 python3.13 python3.12 python3.11"
_TOO_OLD = "import sys; sys.exit(sys.version_info < (3, 11))"
_START = f"""for p in {_PYTHONS}; do "$p" -c '{_TOO_OLD}' 2>/dev/null && exec "$p" -c "$@"; done; exit 66"""
_NO_PYTHON = 66
_ANSWER_S = 60.0
_DISK_BYTES, _MEMORY_BYTES = 600_000_000, 300_000_000  # what a run installs, and both ends of a trial
FIREWALL = (
    "a firewall between them? ports above 1023 must be open from requester to responder, or give another `address`"
)


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What was seen of a host: its output for the deployment, or what is in the way."""

    name: str
    output: dict[str, Any] | None = None
    seen: dict[str, Any] = field(default_factory=dict)
    trouble: str = ""
    hint: str = ""

    def sentence(self) -> str:
        if not self.seen:
            return self.trouble or "open from requester to responder, TCP and UDP"
        seen = self.seen
        parts = [
            f"Python {seen['version']} on {seen['machine']}, Linux {seen['kernel']}, {len(seen['cpus'])} CPUs",
            f"load {seen['load']:.2f}, {format_size(seen['memory_bytes'] // 10**6 * 10**6)} of memory and"
            f" {format_size(seen['disk_bytes'] // 10**6 * 10**6)} of disk free",
        ]
        return "; ".join([*parts, *([self.trouble] if self.trouble else [])])


def argv(verb: str, **arguments: Any) -> list[str]:
    """How a host runs a verb of `on_host`; exit status 66 where it has no Python that does."""
    return ["sh", "-c", _START, "sh", _TEXT, verb, json.dumps(arguments)]


def ask(host: RemoteHost, verb: str, **arguments: Any) -> dict[str, Any]:
    """What a host answers to a verb of `on_host`; ProvisionError where it cannot, HostLost where it is gone."""
    done = host.run(argv(verb, **arguments), timeout_s=_ANSWER_S)
    if done.returncode == _NO_PYTHON:
        raise ProvisionError(f"{host.name} has no Python 3.11 or newer", hint=f"install one of {_PYTHONS} on its PATH")
    if done.returncode:
        raise ProvisionError(f"{host.name}: {on_one_line(done.stderr.strip().rpartition(chr(10))[2], 300)}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def line_of(process: RemoteProcess) -> dict[str, Any]:
    """The next line of a verb that goes on; ProvisionError with its last words where there is none."""
    line = process.read(_ANSWER_S)
    if line is None:
        raise ProvisionError(
            on_one_line(process.last_words().strip().rpartition(chr(10))[2], 300) or "it ended without a word"
        )
    answer: dict[str, Any] = json.loads(line)
    return answer


def survey(plan: Plan, folder: Path) -> list[Looked]:
    """Look at every host that a plan needs; `folder` is the deployment's, and gets its SSH files."""
    given = {host.name: host for host in plan.hosts}
    wanted = topology(plan).hosts
    outputs: dict[str, dict[str, Any]] = {}
    looked: dict[str, Looked] = {}
    for host in wanted:
        instance = f"orch-{folder.name}-{host.name}"
        try:
            outputs[host.name] = {"instance": instance, **reached(given[host.name], instance)}
        except OrchError as error:
            looked[host.name] = Looked(name=host.name, trouble=error.message, hint=error.hint or "")
    write_ssh_files(folder, outputs)
    there = [host for host in wanted if host.name in outputs]
    are_apart = any(placement.kind != "local" for placement in plan.placements)
    seen = at_once(lambda host: _look(host, given[host.name], outputs[host.name], folder, are_apart), there)
    looked |= {each.name: each for each in seen}
    return [looked[host.name] for host in wanted]


def _look(spec: HostSpec, own: OwnHost, output: dict[str, Any], folder: Path, are_apart: bool) -> Looked:
    host = remote_host(spec.name, output, folder, "")
    try:
        seen = ask(host, "look", folder=own.folder)
    except (OrchError, HostLost) as error:
        return Looked(name=spec.name, trouble=str(error), hint=getattr(error, "hint", None) or "")
    finally:
        host.close()
    address = own.address or output.get("address") or seen["address"]
    instance = output["instance"]
    output |= {
        "role": spec.role,
        "zone": spec.zone,
        "machine": OWN,
        "user": seen["user"],
        "address": address,
        "disk": instance,
        "folder": f"{seen['folder']}/{instance}",
        "interpreter": seen["interpreter"],
    }
    trouble, hint = _trouble(seen, address, are_apart)
    trouble = trouble and f"{spec.name}: {trouble}"
    return Looked(name=spec.name, output=output, seen=seen, trouble=trouble, hint=hint)


def _trouble(seen: dict[str, Any], address: str, are_apart: bool) -> tuple[str, str]:
    """Why nothing can be measured there, and what to do; empty where it can."""
    if seen["system"] != "Linux" or not seen["glibc"]:
        return f"it runs {seen['system']} without glibc", "the wheels need Linux with glibc, such as Debian or Ubuntu"
    if not seen["can_write"]:
        return f"user {seen['user']} may not write to {seen['folder']}", "name another `folder` for that host"
    for what, key, needed in (("disk", "disk_bytes", _DISK_BYTES), ("memory", "memory_bytes", _MEMORY_BYTES)):
        if seen[key] < needed:
            return f"{format_size(seen[key])} of {what} are free; a run needs {format_size(needed)}", "make room there"
    try:
        is_loopback = ipaddress.IPv4Address(address).is_loopback
    except ValueError:
        return f"'{address}' is no IPv4 address", "give its `address` on the measured network"
    if is_loopback and are_apart:
        return f"it is reached at {address}, which no other host can", "give its `address` on the measured network"
    return "", ""


def closed_ports(members: Mapping[str, RemoteHost], wanted: Topology) -> str:
    """Why TCP or UDP does not get from a requester to a new port of its responder; empty where all do."""
    ways = {
        (requester, ends.responder)
        for ends in wanted.ends.values()
        for requester in ends.requesters
        if requester != ends.responder
    }
    for requester, responder in sorted(ways):
        address = members[responder].address
        listener = members[responder].start(argv("listen", address=address))
        try:
            port = line_of(listener)["port"]
            trouble = ask(members[requester], "reach", address=address, port=port)
            closed = [f"{kind.upper()} port {port} ({why})" for kind, why in trouble.items() if why]
        except ProvisionError as error:
            raise ProvisionError(
                f"{responder} cannot listen on {address}, or {requester} cannot ask it: {error.message}; "
                "is `address` its own?"
            ) from error
        finally:
            listener.end(grace_s=1.0)
        if closed:
            return f"{requester} cannot reach {responder} at {address}: {' and '.join(closed)}"
    return ""


def inspect(plan: Plan) -> list[Looked]:
    """What `survey` sees, and behind it the ports between hosts, without a deployment: nothing is left on the hosts."""
    with tempfile.TemporaryDirectory() as folder:
        looked = survey(plan, Path(folder))
        if any(each.trouble for each in looked):
            return looked
        members = {each.name: remote_host(each.name, each.output or {}, Path(folder), "") for each in looked}
        try:
            closed = closed_ports(members, topology(plan))
        except (OrchError, HostLost) as error:
            closed = str(error)
        finally:
            for host in members.values():
                host.close()
    return [*looked, Looked(name="ports", trouble=closed, hint=FIREWALL)]


def require(looked: Sequence[Looked]) -> None:
    """ProvisionError with all that is in the way."""
    bad = [each for each in looked if each.trouble]
    if bad:
        raise ProvisionError(
            "; ".join(each.trouble for each in bad),
            hint="; ".join(dict.fromkeys(each.hint for each in bad if each.hint)),
        )
