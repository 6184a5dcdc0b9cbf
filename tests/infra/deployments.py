"""A lab deployment as a caller of infra/lab makes it: keys, variables, Terraform, SSH."""

from __future__ import annotations

import json
import os
import re
import secrets
import statistics
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.support.own_hosts import make_key

RESPONSE_S = 90


Done = subprocess.CompletedProcess[str]


def call_provider(module: Path, *arguments: str, **variables: str) -> Done:
    """Run the program of a provider, as orch does."""
    argv, own = [sys.executable, "-ES", str(module / "provider.py"), *arguments], {**os.environ, **variables}
    return subprocess.run(argv, env=own, capture_output=True, text=True, timeout=RESPONSE_S, check=False)


def host_spec(run_id: str, public_key: str, host_key: str) -> str:
    """What the lab's `host-up` is told, as ORCH_LAB_SPEC, of a host `db`."""
    spec = {"run_id": run_id, "name": "db", "zone": "us-west1-a", "machine": "lab", "ttl_seconds": 60}
    spec |= {"cpu_cores": None, "memory_mib": None, "ssh_public_key": public_key, "host_key_path": host_key}
    return json.dumps(spec)


class Deployment:
    """One run id, its folder with state and keys, and what one does with it."""

    def __init__(self, *, terraform: str, module: Path, folder: Path, variables: dict[str, Any]) -> None:
        self.run_id = f"t{secrets.token_hex(5)}"
        self.folder = folder
        self._terraform = terraform
        self._module = module
        self.variables = {
            "run_id": self.run_id,
            "ttl_seconds": 600,
            "ssh_public_key": make_key(folder / "user_key"),
            "host_keys": {
                name: {
                    "private_key_path": str(folder / f"host_key_{name}"),
                    "public_key": make_key(folder / f"host_key_{name}"),
                }
                for name in variables["hosts"]
            },
            **variables,
        }
        self._environment = {
            **os.environ,
            "TF_DATA_DIR": str(folder / "terraform"),
            "TF_IN_AUTOMATION": "1",
            "CHECKPOINT_DISABLE": "1",
            "TF_VAR_python": sys.executable,
        }

    def run_terraform(self, *arguments: str) -> Done:
        return subprocess.run(
            [self._terraform, f"-chdir={self._module}", *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=RESPONSE_S,
            check=False,
        )

    def _with_variables(self, verb: str, *arguments: str) -> Done:
        path = self.folder / "variables.tfvars.json"
        path.write_text(json.dumps(self.variables))
        return self.run_terraform(verb, "-input=false", "-no-color", f"-var-file={path}", *arguments)

    def init(self) -> None:
        state = self.folder / "terraform.tfstate"
        done = self.run_terraform("init", "-input=false", "-no-color", f"-backend-config=path={state}")
        assert done.returncode == 0, done.stderr

    def apply(self, *arguments: str) -> Done:
        return self._with_variables("apply", "-auto-approve", *arguments)

    def plan_changes(self) -> bool:
        """Whether a plan would change anything."""
        done = self._with_variables("plan", "-detailed-exitcode")
        assert done.returncode in (0, 2), done.stderr
        return done.returncode == 2

    def destroy(self) -> Done:
        return self._with_variables("destroy", "-auto-approve")

    def up(self) -> Deployment:
        self.init()
        done = self.apply()
        assert done.returncode == 0, done.stderr
        return self

    def output(self, name: str) -> Any:
        done = self.run_terraform("output", "-json", name)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @cached_property
    def hosts(self) -> dict[str, Any]:
        return self.output("hosts")

    def provider(self, *arguments: str) -> Done:
        return call_provider(self._module, *arguments)

    def status(self) -> dict[str, Any]:
        return json.loads(self.provider("status", "--run-id", self.run_id).stdout)

    def ssh(self, name: str, command: str) -> Done:
        """Run a command on a host, with the run's own known_hosts and strict checking."""
        argv = self._ssh_argv(name, command)
        return subprocess.run(argv, capture_output=True, text=True, timeout=RESPONSE_S, check=False)

    def start_ssh(self, name: str, command: str) -> subprocess.Popen[str]:
        """Start a command on a host; its stdout is a pipe."""
        return subprocess.Popen(
            self._ssh_argv(name, command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )

    def _ssh_argv(self, name: str, command: str) -> list[str]:
        way = self.hosts[name]["ssh"]
        trusted = self.folder / f"known_hosts_{secrets.token_hex(4)}"
        trusted.write_text(way["known_hosts"] + "\n")
        options = {
            "HostKeyAlias": way["alias"],
            "User": way["user"],
            "Port": way["port"],
            "ProxyCommand": way["proxy_command"],
            "IdentityFile": self.folder / "user_key",
            "IdentitiesOnly": "yes",
            "BatchMode": "yes",
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": trusted,
            "GlobalKnownHostsFile": "/dev/null",
        }
        chosen = [f"-o{option}={value}" for option, value in options.items()]
        return ["ssh", "-F", "none", *chosen, way["host_name"], command]

    def median_ping_ms(self, source: str, destination: str) -> float:
        address = self.hosts[destination]["address"]
        done = self.ssh(source, f"ping -n -c 20 -i 0.05 {address}")
        times_ms = [float(text) for text in re.findall(r"time=([0-9.]+) ms", done.stdout)]
        assert times_ms, f"no reply: {done.stdout}{done.stderr}"
        return statistics.median(times_ms)

    def record(self, name: str) -> dict[str, Any]:
        """What the lab wrote down of a host."""
        path = Path("/var/lib/orch-lab", self.run_id, "hosts", name, "host.json")
        return json.loads(path.read_text())

    def emulator_pid(self) -> int:
        path = Path("/var/lib/orch-lab", self.run_id, "link", "process.json")
        return json.loads(path.read_text())["emulator"]["pid"]

    def traces(self) -> list[str]:
        """Everything on this machine that carries the run's id: folders, namespaces, cgroups, processes."""
        remains = [str(path) for path in (Path("/var/lib/orch-lab", self.run_id),) if path.exists()]
        remains += [str(path) for path in Path("/run/netns").glob(f"orch-{self.run_id}-*")]
        remains += [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/orch-{self.run_id}-*") if path.is_dir()]
        for arguments in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = arguments.read_bytes().split(b"\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            # Exactly the id as an argument of its own: a test runner may show it elsewhere on its command line.
            if self.run_id.encode() in words:
                remains.append(f"process {arguments.parent.name}: {b' '.join(words).decode(errors='replace')}")
        return remains
