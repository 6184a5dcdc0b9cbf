"""What this machine can do: one finding per ability, with what it is needed for and how to get it. Changes nothing."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.catalogue import builds, platforms, toolchains
from orchestrator.catalogue.offers import Language
from orchestrator.catalogue.read import catalogue
from orchestrator.errors import MissingError, OrchError, UsageError
from orchestrator.experiment.model.factors import GIVEN
from orchestrator.experiment.plan.own.json_documents import INSTALL, is_compiler_there
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts import chromium
from orchestrator.hosts.busy import ADVICE, look
from orchestrator.hosts.local import postgresql


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """One ability. `needed_for` are the providers that cannot do without it; elsewhere it makes things better."""

    name: str
    is_there: bool
    detail: str
    needed_for: tuple[str, ...] = ()
    hint: str = ""


def survey(provider: str | None = None, plan: Plan | None = None) -> list[ProbeResult]:
    """Every finding about this machine; with a provider, also what that provider's own program says it lacks.

    A program that looks at this machine is always called, since that is quick; a cloud only by name, over the network.
    """
    here = [*_python(), *_processor(), _quiet(), _ping(), *_tools(), *_kernel(), _browser(), _database(), *_languages()]
    makers = [p for p in PROVIDERS.values() if p.makes_hosts and provider in (None, p.name)]
    for maker in makers:
        if maker.hosts_are_this_machine:
            here.append(_provider(maker.name))
        elif provider is not None and not maker.hosts_are_given:
            here += [_controller()] if maker.needs_controller else []
            here += _cloud(maker.name, plan) if maker.has_program else []
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


def _on_path(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _python() -> Iterator[ProbeResult]:
    system = f"{platform.system()} {platform.release()}"
    yield _ability("python", f"{platform.python_implementation()} {platform.python_version()} on {system}", "", "")


def _processor() -> Iterator[ProbeResult]:
    cpus = len(os.sched_getaffinity(0))
    several = f"{cpus} CPUs for this process" if cpus > 1 else None
    hint = "with one CPU both ends share it, and each slows the other: the results say so"
    yield _ability("cores", several, "1 CPU for this process", hint)
    yield _ability(
        "pinning",
        "both ends can be pinned to CPUs of their own" if shutil.which("taskset") else None,
        "no way to pin a process to a CPU",
        "install util-linux (taskset)",
    )


def _quiet() -> ProbeResult:
    """What else runs here, in a second's look; nothing that a provider cannot do without."""
    sign = look().sign()
    return _ability("quiet", None if sign else "little else runs right now", f"busy right now: {sign}", ADVICE)


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
    yield _ability(
        "protoc",
        "grpcio-tools is installed" if is_compiler_there() else None,
        "no grpcio-tools, which make a typed message of your own JSON for gRPC and Protocol Buffers",
        f"{INSTALL}; without it say `document: value`",
    )
    for program in ("ssh", "ssh-keygen"):
        yield _ability(program, shutil.which(program), f"no {program} on the PATH", "apt-get install openssh-client")
    no_sshd = "no sshd; emulated hosts are reached through one"
    yield _ability("sshd", _on_path("sshd"), no_sshd, "apt-get install openssh-server (its service need not run)")
    yield _ability("iproute2", _on_path("ip"), "no ip program", "apt-get install iproute2")


def _kernel() -> Iterator[ProbeResult]:
    yield _ability(
        "root",
        "running as root" if os.geteuid() == 0 else None,
        "not running as root, which namespaces need",
        "as root: sudo .venv/bin/orch run ...",
    )
    has_netem = _has_netem()
    yield _ability(
        "netem",
        "the kernel emulates distance" if has_netem else None,
        "not in this kernel: a user-space link does it",
        "nothing to do; with netem the emulated distance is steadier",
    )
    has_tun = Path("/dev/net/tun").exists()
    yield ProbeResult(
        name="tun",
        is_there=has_tun,
        detail="/dev/net/tun" if has_tun else "no /dev/net/tun",
        needed_for=() if has_netem else _who_needs("tun"),
        hint="modprobe tun; in a container: --device /dev/net/tun",
    )
    version = _cgroup_version()
    yield _ability(
        "cgroup",
        f"version {version}" if version else None,
        "no control groups: a machine's size cannot be emulated",
        "a Linux kernel with control groups",
    )


def _has_netem() -> bool:
    modules = Path("/lib/modules") / platform.release()
    listings = (Path("/proc/modules"), modules / "modules.builtin", modules / "modules.dep")
    return any("sch_netem" in listing.read_text(errors="replace") for listing in listings if listing.is_file())


def _cgroup_version() -> int | None:
    if Path("/sys/fs/cgroup/cgroup.controllers").exists():
        return 2
    mounts = Path("/proc/mounts")
    return 1 if mounts.exists() and " cgroup " in mounts.read_text() else None


def _browser() -> ProbeResult:
    return _ability("chromium", chromium.find(), "none: `orch report --pictures` cannot draw", chromium.INSTALL)


def _database() -> ProbeResult:
    """The server that `store: postgresql` asks on this machine; needed for nothing else."""
    given = os.environ.get(GIVEN)
    try:
        binaries = None if given else postgresql.find()
    except MissingError as error:
        return _failed("postgresql", error)
    detail = f"{binaries.version} in {binaries.folder}" if binaries else f"a server that {GIVEN} names"
    return ProbeResult(name="postgresql", is_there=True, detail=detail)


def _languages() -> Iterator[ProbeResult]:
    """Whether the programs of each language that builds some can be started here, and could be built."""
    try:
        known = catalogue()
    except UsageError as error:
        yield _failed("services", error)
        return
    for language in known.languages.values():
        if language.build or language.needs:
            yield _programs_of(language, known.folder)


def _programs_of(language: Language, services: Path) -> ProbeResult:
    """Of one language: whether what was built can be started, which toolchain is here, and what is missing."""
    folder = services / language.name
    toolchain, needs = (
        [toolchains.look(tool, folder) for tool in group] for group in (language.toolchain, language.needs)
    )
    state = builds.look(language, services, platforms.here())
    versions = {status.tool.program: status.version for status in (*toolchain, *needs) if status.version}
    here = ", ".join(f"{program} {version}" for program, version in versions.items())
    no_toolchain, no_runtime = toolchains.lacking(toolchain), toolchains.lacking(needs)
    build = f": `orch setup build {language.name}`" if state.why and not no_toolchain else ""
    return ProbeResult(
        name=f"build {language.name}",
        is_there=not state.why and not no_runtime,
        detail="; ".join(part for part in (state.why or state.kind, here, no_toolchain, no_runtime) if part),
        hint=f"only experiments that name {language.title} need it{build}",
    )


def _provider(provider: str) -> ProbeResult:
    """What the provider's own program says: the same question that `orch run` asks before it makes anything."""
    from orchestrator.hosts.provision.infra import Infra

    try:
        Infra(provider).check()
    except MissingError as error:
        return _failed(f"provider {provider}", error, provider)
    return ProbeResult(name=f"provider {provider}", is_there=True, detail="ready", needed_for=(provider,))


def of_experiment(plan: Plan) -> list[ProbeResult]:
    """What is there on each of the experiment's own machines."""
    from orchestrator.hosts.own.survey import inspect

    return [
        ProbeResult(
            name=each.name,
            is_there=not each.trouble,
            detail=each.sentence(),
            needed_for=(plan.provider,),
            hint=each.hint,
        )
        for each in inspect(plan)
    ]


def _controller() -> ProbeResult:
    """The address from which the hosts are reached: nothing is assumed, so it must be given."""
    named = os.environ.get("ORCH_CONTROLLER_CIDR")
    return _ability(
        "controller",
        named and f"SSH is opened to {named}",
        "ORCH_CONTROLLER_CIDR is not set: nobody could reach the hosts",
        "export ORCH_CONTROLLER_CIDR=203.0.113.7/32, with the address from which you come",
    )


def _cloud(provider: str, plan: Plan | None) -> list[ProbeResult]:
    """What the cloud says of the hosts that a plan needs, or else of a usual pair."""
    from orchestrator.experiment.plan.topology import topology
    from orchestrator.hosts.provision.infra import Infra

    machine = PROVIDERS[provider].default_machine or next(iter(PROVIDERS[provider].machines))
    hosts = [(zone, machine) for zone in PROVIDERS[provider].zones]
    if plan is not None and plan.provider == provider:
        hosts = [(host.zone, host.machine) for host in topology(plan).hosts]
    try:
        findings = Infra(provider).findings(hosts)
    except OrchError as error:
        return [_failed(provider, error, provider)]
    return [
        ProbeResult(
            name=f"{provider} {f['name']}", is_there=f["ok"], detail=f["what"], needed_for=(provider,), hint=f["hint"]
        )
        for f in findings
    ]
