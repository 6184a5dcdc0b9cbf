"""A Terraform module of the person's own: its folder, and the hosts in its outputs (`hosts` of infra/README.md)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from orchestrator.errors import MissingError, ProvisionError, on_one_line
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.plan import OwnHost
from orchestrator.experiment.providers import PROVIDERS, WITH_MODULE, any_of
from orchestrator.shapes import decode_json

PROGRAMS = ("terraform", "tofu")
_READ_S = 120.0
_HAS_HOSTS = re.compile(r'^\s*output\s+"hosts"|^\s*"hosts"\s*:', re.MULTILINE)  # HCL, or JSON


@dataclass(frozen=True, kw_only=True)
class SshOutput:
    """How a host is reached. Without `known_hosts`: by the key that orch made for it, or the person's known_hosts."""

    user: str
    host_name: str
    port: int = 22
    alias: str | None = None
    sudo: bool | None = None
    proxy_command: str | None = None
    known_hosts: str | None = None
    identity_file: str | None = None  # the private key that opens it, where that is not the one that orch made


@dataclass(frozen=True, kw_only=True)
class HostOutput:
    """A host in the output of a module; what is None follows from what the module was given."""

    address: str
    ssh: SshOutput
    role: Literal["requester", "responder", "both", "store"] | None = None
    zone: str | None = None
    machine: str | None = None
    instance: str | None = None
    disk: str | None = None


def find_program() -> str:
    """The path of terraform or tofu; MissingError when there is neither."""
    if path := next(filter(None, map(shutil.which, PROGRAMS)), None):
        return path
    raise MissingError(
        "neither terraform nor tofu is on the PATH; hosts are made with one of them",
        hint="install Terraform or OpenTofu, 1.6 or newer, from its vendor's package; `orch doctor` says what else",
    )


def read_outputs(text: str) -> dict[str, Any]:
    """The outputs, by name, as `terraform output -json` prints them."""
    return {name: entry["value"] for name, entry in json.loads(text).items()}


def read_hosts(outputs: Mapping[str, Any]) -> dict[str, HostOutput]:
    """The output `hosts`; ValueError names a host whose fields are missing, unknown or of another type."""
    raw = outputs.get("hosts")
    if not isinstance(raw, dict) or not raw:
        given = ", ".join(outputs) or "none"
        raise ValueError(f"there is no output `hosts` that maps names to hosts (outputs: {given})")
    hosts = {}
    for name, host in raw.items():
        try:
            hosts[name] = decode_json(HostOutput, host)
        except ValueError as error:
            raise ValueError(f"hosts.{name}.{error}") from error
    return hosts


def own_module(located: Located) -> str:
    """The folder of the module that makes the hosts; empty where the provider has its own."""
    experiment = located.experiment
    if not PROVIDERS[experiment.provider].module_is_given:
        if experiment.module is not None:
            located.add(("module",), f"`module` is for {any_of(WITH_MODULE)}.")
        return ""
    if experiment.module is None:
        located.add(("provider",), "give `module`, the folder of a Terraform module.")
        return ""
    folder = located.folder / experiment.module
    files = [*folder.glob("*.tf"), *folder.glob("*.tf.json")]
    if not any(_HAS_HOSTS.search(path.read_text(encoding="utf-8", errors="replace")) for path in files):
        reason = f"{folder} is no Terraform module with an output `hosts`: infra/README.md says what it holds."
        located.add(("module",), reason)
    return str(folder)


def hosts_of_state(located: Located, place: Path) -> Iterator[OwnHost]:
    """Yield the hosts in the outputs of a state (a file, or the folder in which Terraform ran), as ssh reaches them."""
    try:
        hosts = read_hosts(_outputs_of(place))
    except (MissingError, ProvisionError, ValueError) as error:
        located.add(("state",), f"{error}.")
        return
    for name, host in hosts.items():
        given = {"role": host.role or "", "address": host.address, "known_hosts": host.ssh.known_hosts or ""}
        yield OwnHost(name=name, ssh=tuple(_ssh_words(host.ssh)), **given)


def _outputs_of(place: Path) -> dict[str, Any]:
    if not place.exists():
        raise ProvisionError(f"there is no state {place}")
    folder, of_file = (place, []) if place.is_dir() else (place.parent, [f"-state={place.resolve()}"])
    command = [find_program(), f"-chdir={folder.resolve()}", "output", "-json", "-no-color", *of_file]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_READ_S)
    if done.returncode:
        words = done.stderr.partition("Error:")[2] or done.stderr
        raise ProvisionError(f"the outputs of {place} cannot be read: {on_one_line(words, 500).rstrip('.')}")
    return read_outputs(done.stdout)


def _ssh_words(ssh: SshOutput) -> Iterator[str]:
    yield from ("-l", ssh.user, "-p", str(ssh.port))
    if ssh.identity_file:
        yield from ("-i", ssh.identity_file)
    if ssh.alias:
        yield from ("-o", f"HostKeyAlias={ssh.alias}")
    if ssh.proxy_command:
        yield from ("-o", f"ProxyCommand={ssh.proxy_command.replace('%', '%%')}")
    yield ssh.host_name
