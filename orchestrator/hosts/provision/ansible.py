"""Deploys to hosts with Ansible: the inventory comes from a maker's outputs, the roles from `ansible/`."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from orchestrator.errors import MissingError, ProvisionError
from orchestrator.hosts.provision.programs import LOCK, run_logged
from orchestrator.hosts.provision.wheelhouse import Bundle
from orchestrator.hosts.remote.ssh_files import ansible_variables


def find_playbook_program() -> str:
    """The ansible-playbook of this installation, or of the PATH; MissingError when there is none."""
    beside = Path(sys.executable).with_name("ansible-playbook")
    program = str(beside) if beside.exists() else shutil.which("ansible-playbook")
    if program is None:
        raise MissingError("ansible-playbook is missing", hint="it comes with orch's own packages: `make setup`")
    return program


@dataclass(frozen=True, kw_only=True)
class Installed:
    """What a host gets, and where it lies there; `programs` is None where nothing was built for it."""

    wheels: Bundle
    programs: Bundle | None
    root: PurePosixPath
    workspace: PurePosixPath


def inventory(
    hosts: dict[str, Any],
    ssh_config: Path,
    code: Bundle,
    installed: Mapping[str, Installed],
    of_stores: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Ansible's inventory as plain data; `hosts` is the output of that name of a module of `infra/`.

    `installed` is by host; `of_stores`: the variables of hosts with a database.
    """
    stores = {
        "hosts": {name: {} for name, host in hosts.items() if host["role"] == "store"},
        "vars": dict(of_stores or {}),
    }
    variables = {
        "ansible_ssh_common_args": f"-F {shlex.quote(str(ssh_config.resolve()))}",
        "orch_code": str(code.path.resolve()),
        "orch_code_digest": code.digest,
    }
    by_host = {
        name: {
            **ansible_variables(name, host, ssh_config.parent),
            "orch_address": host["address"],
            "orch_installs": _is_first(name, hosts, "disk"),
            "orch_checks": _is_first(name, hosts, "disk", "role"),
            **_of_host(host, installed[name]),
        }
        for name, host in hosts.items()
    }
    return {"all": {"vars": variables, "hosts": by_host, "children": {"stores": stores}}}


def _of_host(host: dict[str, Any], installed: Installed) -> dict[str, Any]:
    """Variables of one host; one that is not made for the run (it has a `folder`) keeps Ansible's own files there, too."""
    programs, is_ours = installed.programs, not host.get("folder")
    interpreter = host.get("interpreter")
    return {
        "orch_wheelhouse": str(installed.wheels.path.resolve()),
        "orch_wheelhouse_digest": installed.wheels.digest,
        "orch_programs": "" if programs is None else str(programs.path.resolve()),
        "orch_programs_digest": "" if programs is None else programs.digest,
        "orch_root": str(installed.root),
        "orch_workspace": str(installed.workspace),
        "orch_is_ours": is_ours,
        "orch_python": interpreter or "python3",
        **({"ansible_python_interpreter": interpreter} if interpreter else {}),
        **({} if is_ours else {"ansible_remote_tmp": str(installed.root / "ansible")}),
    }


def _is_first(name: str, hosts: dict[str, Any], *keys: str) -> bool:
    """Whether a host is the first of those that agree in these keys: one of them does the work for all."""
    alike = [other for other in hosts if all(hosts[other][key] == hosts[name][key] for key in keys)]
    return alike[0] == name


def deploy(ansible: Path, inventory_file: Path, log: Path) -> int:
    """Run `deploy.yml` on every host of the inventory; return how many tasks changed something.

    ProvisionError with the failed task's own words.
    """
    environment = {
        "ANSIBLE_CONFIG": str((ansible / "ansible.cfg").resolve()),
        # Wheels are compressed already: no -C. One connection per host, named by all that tells hosts apart (%C): by
        # Ansible's own naming the host of that name in another deployment would be taken for ours.
        "ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=20s",
        "ANSIBLE_SSH_CONTROL_PATH": "%(directory)s/%%C",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_FORCE_COLOR": "0",
    }
    command = [find_playbook_program(), "-i", str(inventory_file.resolve()), str((ansible / "deploy.yml").resolve())]
    done = run_logged(command, log, environment, lock=inventory_file.parent / LOCK)
    if done.returncode:
        words = f"{done.stdout}\n{done.stderr}"
        raise ProvisionError(f"deploying failed: {_essence(words)}", hint=f"Ansible's whole output is in {log}")
    return sum(map(int, re.findall(r"^\S+\s*: ok=\d+\s+changed=(\d+)", done.stdout, re.MULTILINE)))


def _essence(words: str) -> str:
    """The lines of the failed tasks, at most 1,500 characters."""
    failed = [line for line in words.splitlines() if re.match(r"^(fatal|ERROR|\[ERROR\]|failed):?", line)]
    return " ".join(" ".join(failed or [words]).split())[:1500] or "it printed nothing"
