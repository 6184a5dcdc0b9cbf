"""Hosts out of an output of `infra/` (infra/README.md), and the files by which ssh and Ansible reach them."""

from __future__ import annotations

import shlex
from pathlib import Path, PurePosixPath
from typing import Any

from orchestrator.hosts.remote.container import Container
from orchestrator.hosts.remote.host import ROOT, RemoteHost
from orchestrator.hosts.remote.ssh import Access

USER_KEY = "user"
SSH_CONFIG = "ssh_config"
_KNOWN_HOSTS = "known_hosts"
_SSH_OPTIONS = """\
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
  BatchMode yes
  ServerAliveInterval 10
"""


def remote_host(
    name: str, host: dict[str, Any], folder: Path, run: str, *, boot_s: float | None = None, cloud: str | None = None
) -> RemoteHost:
    """A host of the deployment in `folder`; `write_ssh_files` comes before its first use.

    One that is not made for the run has a `folder` of its own, which holds all that is installed, and the run's files.
    """
    root = PurePosixPath(host.get("folder") or ROOT)
    workspace = root / "workspace" if host.get("folder") else PurePosixPath("/var/tmp/orch") / run  # noqa: S108
    return RemoteHost(
        name=name,
        address=host.get("address", ""),
        access=Container(name=name, **host["container"]) if "container" in host else _access(name, host["ssh"], folder),
        workspace=workspace,
        boot_s=boot_s,
        cloud=cloud,
        root=root,
    )


def _access(name: str, ssh: dict[str, Any], folder: Path) -> Access:
    return Access(
        name=name,
        alias=ssh["alias"],
        host_name=ssh["host_name"],
        user=ssh["user"],
        port=int(ssh["port"]),
        proxy_command=ssh["proxy_command"],
        identity=None if "identities" in ssh else folder / "keys" / USER_KEY,
        own_keys=tuple(ssh.get("identities", ())),
        known_hosts=folder / _KNOWN_HOSTS,
    )


def ansible_variables(name: str, host: dict[str, Any], folder: Path) -> dict[str, Any]:
    """By what Ansible reaches a host, as who; a container by a program that takes the words of `ssh`."""
    if "container" not in host:
        return {"ansible_user": host["ssh"]["user"], "ansible_become": host["ssh"]["sudo"]}
    program = str(_program(name, folder).resolve())
    return {"ansible_user": host["user"], "ansible_become": False, "ansible_ssh_executable": program}


def _program(name: str, folder: Path) -> Path:
    return folder / f"exec-{name}"


def write_ssh_files(folder: Path, hosts: dict[str, Any]) -> None:
    """Write into `folder` how each host is reached and known; any other key is refused."""
    for name, host in hosts.items():
        if "container" in host:
            words = shlex.join(Container(name=name, **host["container"]).argv())
            _program(name, folder).write_text(f'#!/bin/sh\nfor command; do :; done\nexec {words} sh -c "$command"\n')
            _program(name, folder).chmod(0o700)
    over_ssh = {name: host["ssh"] for name, host in hosts.items() if "ssh" in host}
    known = folder / _KNOWN_HOSTS
    known.write_text("".join(f"{ssh['known_hosts']}\n" for ssh in over_ssh.values()))
    config = ""
    for name, ssh in over_ssh.items():
        config += f"Host {name}\n  HostName {ssh['host_name']}\n  HostKeyAlias {ssh['alias']}\n"
        config += f"  User {ssh['user']}\n  Port {ssh['port']}\n"
        if ssh["proxy_command"]:
            config += f"  ProxyCommand {ssh['proxy_command'].replace('%', '%%')}\n"
        if "identities" in ssh:
            config += "".join(f"  IdentityFile {_quoted(Path(key))}\n" for key in ssh["identities"])
        else:
            config += f"  IdentityFile {_quoted(folder / 'keys' / USER_KEY)}\n  IdentitiesOnly yes\n"
    (folder / SSH_CONFIG).write_text(f"{config}Host *\n  UserKnownHostsFile {_quoted(known)}\n{_SSH_OPTIONS}")


def _quoted(path: Path) -> str:
    """A path as ssh_config(5) takes it: in quotes, and without the meaning that % has there."""
    text = str(path.resolve()).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{text}"'
