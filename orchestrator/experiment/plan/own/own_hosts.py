"""Machines of the person's own, as `hosts` gives them or an inventory of Ansible's, which `ansible-inventory` reads."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from orchestrator.errors import on_one_line
from orchestrator.experiment.model.host_rules import HOST_PATTERN
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.own.own_module import hosts_of_state
from orchestrator.experiment.plan.plan import OwnHost, Placement
from orchestrator.experiment.providers import GIVEN, PROVIDERS

_ROLES = ("requester", "responder", "both", "store")
_BY_GROUP = {"requesters": "requester", "responders": "responder", "stores": "store"}
_READ_S = 120.0
# What ssh takes for a variable of Ansible's; each has an older name with `ssh_` in it.
_OPTIONS = {"user": "-l", "port": "-p", "private_key_file": "-i"}


def own_hosts(located: Located) -> tuple[OwnHost, ...]:
    """The hosts that an experiment gives; none where its provider makes them. What cannot be is noted in `located`."""
    experiment = located.experiment
    given = [key for key in ("hosts", "inventory", "state") if getattr(experiment, key)]
    if not PROVIDERS[experiment.provider].hosts_are_given:
        for key in given:
            located.add((key,), f"`{key}` is for machines of your own: `provider: {GIVEN}`.")
        return ()
    if len(given) != 1:
        located.add(given[1:], "your own machines are in `hosts`, an `inventory` or a `state`: give one of them.")
        return ()
    if experiment.inventory is not None:
        hosts = _from_inventory(located, located.folder / experiment.inventory)
    elif experiment.state is not None:
        hosts = hosts_of_state(located, located.folder / experiment.state)
    else:
        hosts = _named_here(located)
    return tuple(replace(host, role=host.role or _role_in(host.name)) for host in hosts)


def _named_here(located: Located) -> Iterator[OwnHost]:
    for name, host in located.experiment.hosts.items():
        given = {key: getattr(host, key) or "" for key in ("container", "role", "address", "folder")}
        yield OwnHost(name=name, ssh=tuple(shlex.split(host.ssh or "")), **given)


def by_role(
    hosts: Sequence[OwnHost], placements: Sequence[Placement]
) -> tuple[tuple[OwnHost, ...], tuple[Placement, ...]]:
    """Return both with the hosts named by what they do: runs and reports have no name of a machine."""
    names: dict[str, str] = {}
    for host in hosts:
        answers = any(placement.to_zone == host.name for placement in placements)
        sends = any(placement.from_zone == host.name for placement in placements)
        role = "responder" if answers else "requester" if sends or host.role == "both" else host.role or "spare"
        number = 1 + sum(name.startswith(role) for name in names.values())
        names[host.name] = role if number == 1 else f"{role}-{number}"
    named = tuple(replace(host, name=names[host.name], given=host.name) for host in hosts)
    return named, tuple(_between(names, placement) for placement in placements)


def _between(names: Mapping[str, str], placement: Placement) -> Placement:
    """A placement between hosts by their new names; one that was named after both hosts is named so again."""
    if not names or placement.from_zone is None or placement.to_zone is None:
        return placement
    ends = names[placement.from_zone], names[placement.to_zone]
    name = "-".join(ends) if placement.name == f"{placement.from_zone}-{placement.to_zone}" else placement.name
    return replace(placement, id=name, name=name, from_zone=ends[0], to_zone=ends[1])


def _role_in(name: str) -> str:
    """The role that a name says: `requester-2` is a requester."""
    return next((role for role in _ROLES if re.fullmatch(rf"{role}[-_.]?\d*", name)), "")


def _from_inventory(located: Located, path: Path) -> Iterator[OwnHost]:
    beside = Path(sys.executable).with_name("ansible-inventory")
    program = str(beside) if beside.exists() else shutil.which("ansible-inventory")
    if program is None or not path.exists():
        missing = f"file {path}" if program else "program ansible-inventory, which comes with orch, `make setup`"
        located.add(("inventory",), f"there is no {missing}.")
        return
    command = [program, "-i", str(path.resolve()), "--list"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_READ_S)
    groups: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
    variables: Mapping[str, Any] = groups.get("_meta", {}).get("hostvars", {})
    named = {
        name: {role for group, role in _BY_GROUP.items() if name in _members(groups, group)}
        for name in dict.fromkeys([*_members(groups, "all"), *variables])
    }
    if not named:
        why = on_one_line(done.stderr, 500) or "it is empty"
        located.add(("inventory",), f"ansible-inventory finds no host in {path}: {why}")
    for name, roles in named.items():
        known = variables.get(name, {})
        if not re.match(HOST_PATTERN, name) or known.get("ansible_connection", "ssh") != "ssh":
            reason = f"'{name}' is not a host that `ssh` reaches, with a name of letters, digits, . - _"
            located.add(("inventory",), reason)
        yield OwnHost(
            name=name,
            ssh=tuple(_ssh_words(name, known)),
            role="both" if len(roles) > 1 else next(iter(roles), ""),
            address=str(known.get("orch_address", "")),
            folder=str(known.get("orch_folder", "")),
        )


def _members(groups: Mapping[str, Any], group: str) -> list[str]:
    entry = groups.get(group, {})
    below = [name for child in entry.get("children", ()) for name in _members(groups, child)]
    return [*entry.get("hosts", ()), *below]


def _ssh_words(name: str, variables: Mapping[str, Any]) -> Iterator[str]:
    for variable, option in _OPTIONS.items():
        value = variables.get(f"ansible_{variable}", variables.get(f"ansible_ssh_{variable}"))
        if value is not None:
            yield from (option, str(value))
    for variable in ("ansible_ssh_common_args", "ansible_ssh_extra_args"):
        yield from shlex.split(str(variables.get(variable, "")))
    yield str(variables.get("ansible_host", variables.get("ansible_ssh_host", name)))
