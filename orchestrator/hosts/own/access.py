"""How a host of the person's own is reached: what OpenSSH or a container engine itself makes of its name."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import shutil
import socket
from collections import defaultdict
from pathlib import Path
from typing import Any

from orchestrator.errors import ProvisionError, on_one_line
from orchestrator.experiment.plan.plan import OwnHost
from orchestrator.hosts.output import capture

_ANSWER_S = 30.0
_SSH_PORT = 22
_ENGINES = ("docker", "podman")


def reached(host: OwnHost, alias: str) -> dict[str, Any]:
    """Return the part of the host's output by which it is reached: `ssh`, or `container` with its `address`."""
    return _container_of(host) if host.container else {"ssh": ssh_of(host, alias)}


def _container_of(host: OwnHost) -> dict[str, Any]:
    """By the first installed engine that knows it; ProvisionError where none does, or where it is not running."""
    words = []
    for engine in filter(shutil.which, _ENGINES):
        command = [engine, "inspect", "--type", "container", host.container]
        done = capture(command, timeout_s=_ANSWER_S)
        if done.returncode == 0:
            return _described(host, engine, json.loads(done.stdout)[0])
        words.append(f"{engine}: {on_one_line(done.stderr, 200)}")
    why = "; ".join(words) or "neither docker nor podman is installed here"
    raise ProvisionError(
        f"{host.name}: no engine knows a container {host.container}: {why}",
        hint="is the engine running? `docker ps` or `podman ps` shows the names of those that run",
    )


def _described(host: OwnHost, engine: str, facts: dict[str, Any]) -> dict[str, Any]:
    if not facts["State"]["Running"]:
        raise ProvisionError(
            f"{host.name}: the container {host.container} is not running",
            hint=f"`{engine} start {shlex.quote(host.container)}`",
        )
    addresses = [network["IPAddress"] for network in facts["NetworkSettings"].get("Networks", {}).values()]
    return {"container": {"engine": engine, "id": facts["Id"]}, "address": next(filter(None, addresses), "")}


def ssh_of(host: OwnHost, alias: str) -> dict[str, Any]:
    """The host's `ssh` as in an output of `infra/`, with its host keys out of the person's known_hosts, named `alias`.

    `identities` are the person's keys for it, beside those of the agent. ProvisionError where its key is not known.
    """
    settings = _settings(host)
    name, port = settings["hostname"][0], int(settings["port"][0])
    given = [" ".join(line.split()[1:3]) for line in host.known_hosts.splitlines() if line.strip()]
    keys = given or _known_keys(settings, name, port)
    if not keys and not settings["proxyjump"] and not settings["proxycommand"]:
        try:
            socket.getaddrinfo(name, port)
        except OSError as error:
            raise ProvisionError(f"{host.name}: there is no host {name}: {error.strerror}") from error
    if not keys:
        raise ProvisionError(
            f"{host.name}: the SSH host key of {name} is not known, and an unknown one is never accepted",
            hint=f"`ssh {shlex.join(host.ssh)}` shows its fingerprint and keeps it in known_hosts, once you agree",
        )
    return {
        "user": settings["user"][0],
        "sudo": False,
        "alias": alias,
        "host_name": name,
        "port": port,
        "proxy_command": _proxy(host, settings, name, port),
        "known_hosts": "\n".join(f"{alias} {key}" for key in keys),
        "identities": [str(path) for path in map(_expanded, settings["identityfile"]) if path.is_file()],
    }


def _settings(host: OwnHost) -> dict[str, list[str]]:
    """What `ssh -G` says; it connects nowhere."""
    done = capture(["ssh", "-G", *host.ssh], timeout_s=_ANSWER_S)
    if done.returncode:
        raise ProvisionError(
            f"{host.name}: ssh does not understand `{shlex.join(host.ssh)}`: {on_one_line(done.stderr, 300)}",
            hint="give what you would type after `ssh`, without a command",
        )
    settings: dict[str, list[str]] = defaultdict(list)
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        settings[key].append(value)
    return settings


def _expanded(text: str) -> Path:
    """As OpenSSH does: the home folder is that of the account, whatever HOME says."""
    home = pwd.getpwuid(os.geteuid()).pw_dir
    return Path(text.replace("%d", home).replace("~", home, 1) if text[:1] in "~%" else text)


def _known_keys(settings: dict[str, list[str]], name: str, port: int) -> list[str]:
    """Type and key of each line of the known_hosts files that holds for the host, without those that are revoked."""
    known_as = settings["hostkeyalias"][0] if settings["hostkeyalias"] else name
    if port != _SSH_PORT and not settings["hostkeyalias"]:
        known_as = f"[{known_as}]:{port}"
    keys: dict[str, None] = {}
    revoked = set()
    for files in (*settings["userknownhostsfile"], *settings["globalknownhostsfile"]):
        for file in map(_expanded, shlex.split(files)):
            command = ["ssh-keygen", "-F", known_as, "-f", str(file)]
            done = capture(command, timeout_s=_ANSWER_S)
            for line in done.stdout.splitlines():
                words = line.split()
                if line.startswith("@revoked"):
                    revoked.add(" ".join(words[2:4]))
                elif not line.startswith(("#", "@")):
                    keys[" ".join(words[1:3])] = None
    return [key for key in keys if key not in revoked]


def _proxy(host: OwnHost, settings: dict[str, list[str]], name: str, port: int) -> str | None:
    """The command that carries the connection: the person's own, or an `ssh` to the last jump host."""
    own = next((command for command in settings["proxycommand"] if command != "none"), None)
    if own is not None:
        for token, value in (("%h", name), ("%p", str(port)), ("%r", settings["user"][0]), ("%n", host.ssh[-1])):
            own = own.replace(token, value)
        return shlex.join(["sh", "-c", f"exec {own.replace('%%', '%')}"])
    jumps = next((jump for jump in settings["proxyjump"] if jump != "none"), None)
    if jumps is None:
        return None
    *before, last = jumps.split(",")
    files = [word for flag, file in zip(host.ssh, host.ssh[1:], strict=False) if flag == "-F" for word in (flag, file)]
    through = ["-J", ",".join(before)] if before else []
    options = ["-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"]
    return shlex.join(["ssh", *files, *options, *through, "-W", f"[{name}]:{port}", f"ssh://{last}"])
