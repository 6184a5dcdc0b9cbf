"""What this machine can do: one finding per ability, with what it is needed for and how to get it. Changes nothing."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import MissingError, OrchError
from orchestrator.experiment.providers import PROVIDERS


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """One ability. `needed_for` are the providers that cannot do without it; elsewhere it makes things better."""

    name: str
    is_there: bool
    detail: str
    needed_for: tuple[str, ...] = ()
    hint: str = ""


def survey(provider: str | None = None) -> list[ProbeResult]:
    """Every finding about this machine; with a provider, also what that provider's own program says it lacks.

    A program that looks at this machine is always asked, since that is quick; a cloud only by name, over the network.
    """
    here = [*_python(), *_processor(), _ping(), *_tools()]
    makers = [p for p in PROVIDERS.values() if p.makes_hosts and provider in (None, p.name)]
    for maker in makers:
        if maker.hosts_are_this_machine:
            here.append(_provider(maker.name))
        elif provider is not None and not maker.hosts_are_given:
            here += [_controller()] if maker.needs_controller else []
            here += _cloud(maker.name) if maker.has_program else []
    return here


def lacking(findings: list[ProbeResult], provider: str) -> list[ProbeResult]:
    """What a provider cannot do without and this machine has not."""
    return [f for f in findings if provider in f.needed_for and not f.is_there]


def _who_needs(ability: str) -> tuple[str, ...]:
    return tuple(p.name for p in PROVIDERS.values() if ability in p.needs)


def _failed(name: str, error: OrchError, *needed_for: str) -> ProbeResult:
    return ProbeResult(name=name, is_there=False, detail=error.message, needed_for=needed_for, hint=error.hint or "")


def _ability(name: str, there: str | None, lacking: str, hint: str) -> ProbeResult:
    """An ability that `there` describes, or `lacking` where it is empty or None."""
    needed_for = _who_needs(name)
    return ProbeResult(name=name, is_there=bool(there), detail=there or lacking, needed_for=needed_for, hint=hint)


def _python() -> Iterator[ProbeResult]:
    system = f"{platform.system()} {platform.release()}"
    yield _ability("python", f"{platform.python_implementation()} {platform.python_version()} on {system}", "", "")


def _processor() -> Iterator[ProbeResult]:
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)  # Linux has it, macOS has not
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    several = f"{cpus} CPUs for this process" if cpus > 1 else None
    hint = "with one CPU both ends share it, and each slows the other: the results say so"
    yield _ability("cores", several, "1 CPU for this process", hint)
    can_pin = affinity is not None and shutil.which("taskset") is not None
    yield _ability(
        "pinning",
        "both ends can be pinned to CPUs of their own" if can_pin else None,
        "no way to pin a process to a CPU",
        "on Linux install util-linux (taskset); macOS cannot pin: the results say so",
    )


def _ping() -> ProbeResult:
    program = shutil.which("ping")
    there = f"the system's {program}" if program else None
    for method, kind in (("raw ICMP socket", socket.SOCK_RAW), ("unprivileged ICMP socket", socket.SOCK_DGRAM)):
        with suppress(OSError):
            socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP).close()
            there = method
    hint = "install iputils-ping, or allow ICMP sockets: sysctl -w net.ipv4.ping_group_range='0 2147483647'"
    return _ability("ping", there, "neither an ICMP socket nor a ping program", hint)


def _tools() -> Iterator[ProbeResult]:
    yield _ability(
        "terraform",
        shutil.which("terraform") or shutil.which("tofu"),
        "neither terraform nor tofu is on the PATH",
        "install Terraform from HashiCorp's packages, or OpenTofu from opentofu.org",
    )
    has_ansible = Path(sys.executable).with_name("ansible-playbook").exists() or shutil.which("ansible-playbook")
    there = "ansible-playbook is installed" if has_ansible else None
    yield _ability("ansible", there, "no ansible-playbook", "make setup")
    for program in ("ssh", "ssh-keygen"):
        yield _ability(program, shutil.which(program), f"no {program} on the PATH", "apt-get install openssh-client")


def _provider(provider: str) -> ProbeResult:
    """What the provider's own program says: the same question that `orch run` asks before it makes anything."""
    from orchestrator.hosts.provision.infra import Infra

    try:
        Infra(provider).check()
    except MissingError as error:
        return _failed(f"provider {provider}", error, provider)
    return ProbeResult(name=f"provider {provider}", is_there=True, detail="ready", needed_for=(provider,))


def _controller() -> ProbeResult:
    """The address from which the hosts are reached: nothing is assumed, so it must be given."""
    named = os.environ.get("ORCH_CONTROLLER_CIDR")
    return _ability(
        "controller",
        named and f"SSH is opened to {named}",
        "ORCH_CONTROLLER_CIDR is not set: nobody could reach the hosts",
        "export ORCH_CONTROLLER_CIDR=203.0.113.7/32, with the address from which you come",
    )


def _cloud(provider: str) -> list[ProbeResult]:
    """What the cloud says of a usual pair of hosts."""
    from orchestrator.hosts.provision.infra import Infra

    machine = PROVIDERS[provider].default_machine or PROVIDERS[provider].machines[0]
    try:
        findings = Infra(provider).findings((zone, machine) for zone in PROVIDERS[provider].zones)
    except OrchError as error:
        return [_failed(provider, error, provider)]
    return [
        ProbeResult(
            name=f"{provider} {f['name']}", is_there=f["ok"], detail=f["what"], needed_for=(provider,), hint=f["hint"]
        )
        for f in findings
    ]
