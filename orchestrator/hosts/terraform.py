"""Drives `terraform` or `tofu` on one root module with one state. Nothing here knows a provider.

On Ctrl-C the child gets one interrupt and is waited for: a killed Terraform leaves its state locked. It therefore runs
in a session of its own, where the terminal's Ctrl-C does not reach it a second time.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import MissingError, ProvisionError

PROGRAMS = ("terraform", "tofu")


def find_program() -> str:
    """The path of terraform or tofu; MissingError when there is neither."""
    for name in PROGRAMS:
        path = shutil.which(name)
        if path:
            return path
    raise MissingError(
        "neither terraform nor tofu is on the PATH; hosts are made with one of them",
        hint="install Terraform or OpenTofu, 1.6 or newer, from its vendor's package; `orch doctor` tells what else",
    )


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What `plan` would do: counts of resources."""

    add: int
    change: int
    destroy: int

    @property
    def none(self) -> bool:
        """Whether everything is as it should be."""
        return not (self.add or self.change or self.destroy)


@dataclass(frozen=True, kw_only=True)
class Terraform:
    """One root module, its variables, and the folder that holds state, plugin data and logs of one deployment.

    Every method raises ProvisionError with the end of Terraform's own words when it fails.
    """

    module: Path
    folder: Path
    variables: Path  # a .tfvars.json file

    def init(self) -> None:
        """Make the working data ready; needs no network where the module needs no provider, or where it is cached."""
        backend = self.folder / "backend.tfvars"
        config = [f"-backend-config={backend}"] if backend.exists() else [f"-backend-config=path={self.state}"]
        self._run("init", "-reconfigure", *config)

    @property
    def state(self) -> Path:
        """Where a local backend keeps the state."""
        return self.folder / "terraform.tfstate"

    def plan(self) -> Changes:
        """A real plan against the state; changes nothing."""
        lines = self._run("plan", "-json", "-lock-timeout=30s", self._var_file()).splitlines()
        for line in lines:
            event = json.loads(line)
            if event.get("type") == "change_summary":
                counts = event["changes"]
                return Changes(add=counts["add"], change=counts["change"], destroy=counts["remove"])
        raise ProvisionError("terraform plan ended without saying what would change", hint=f"see {self._log('plan')}")

    def apply(self, replace: Sequence[str] = ()) -> None:
        """Make it so; `replace` names resource addresses that are to be made anew."""
        again = [f"-replace={address}" for address in replace]
        self._run("apply", "-auto-approve", "-lock-timeout=30s", self._var_file(), *again)

    def destroy(self) -> None:
        """Destroy what the state knows; works without a plan and any number of times."""
        self._run("destroy", "-auto-approve", "-lock-timeout=60s", self._var_file())

    def output(self) -> dict[str, Any]:
        """The module's outputs, by name."""
        raw = json.loads(self._run("output", "-json"))
        return {name: entry["value"] for name, entry in raw.items()}

    def _var_file(self) -> str:
        return f"-var-file={self.variables.resolve()}"

    def _log(self, verb: str) -> Path:
        return self.folder / "logs" / f"terraform-{verb}.log"

    def _run(self, verb: str, *arguments: str) -> str:
        log = self._log(verb)
        log.parent.mkdir(parents=True, exist_ok=True)
        command = [find_program(), f"-chdir={self.module.resolve()}", verb, *arguments]
        if verb != "output":
            command[3:3] = ["-input=false", "-no-color"]
        environment = {
            **os.environ,
            "CHECKPOINT_DISABLE": "1",
            "TF_IN_AUTOMATION": "1",
            "TF_DATA_DIR": str((self.folder / "terraform").resolve()),
        }
        with log.open("w+") as out:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
            try:
                status = child.wait()
            except KeyboardInterrupt:
                _interrupt_once_and_wait(child)
                raise
            out.seek(0)
            words = out.read()
        if status:
            raise ProvisionError(f"terraform {verb} failed: {_essence(words)}", hint=f"its whole output is in {log}")
        return words


def _interrupt_once_and_wait(child: subprocess.Popen[bytes]) -> None:
    child.send_signal(signal.SIGINT)
    while True:
        try:
            child.wait()
        except KeyboardInterrupt:  # an impatient second Ctrl-C: a killed Terraform would lock its state
            continue
        return


def _essence(words: str) -> str:
    """The error messages out of Terraform's output (plain or -json), at most 1,500 characters."""
    found: list[str] = []
    for line in words.splitlines():
        if line.startswith("{"):
            event = json.loads(line)
            if event.get("@level") == "error":
                diagnostic = event.get("diagnostic", {})
                found.append(f"{event.get('@message', '')} {diagnostic.get('detail', '')}".strip())
    if not found:
        marker = words.rfind("Error:")
        found = [words[marker:] if marker >= 0 else words]
    return " ".join(" ".join(found).replace("│", " ").replace("╵", " ").split())[-1500:]
