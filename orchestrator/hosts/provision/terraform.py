"""Drives `terraform` or `tofu` on one root module with one state. Nothing here knows a provider."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import MissingError, ProvisionError
from orchestrator.hosts.provision.archives import cache_folder, private
from orchestrator.hosts.provision.programs import LOCK, run_logged

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

    It runs in a folder of links to the module's files: Terraform writes its lock file beside them, and not into the
    checkout. Every method raises ProvisionError with the end of Terraform's own words when it fails.
    """

    module: Path
    folder: Path
    variables: Path  # a .tfvars.json file

    def init(self) -> None:
        """Make the working data ready; needs no network where the module needs no provider, or where it is cached.

        The state lies in the deployment's folder, unless the module's folder has a `backend_override.tf` of the user's
        (see infra/README.md): then it lies there under `orch/<id>`.
        """
        state = self.folder.resolve() / "terraform.tfstate"
        where = f"prefix=orch/{self.folder.name}" if self._is_remote else f"path={state}"
        self._link_module()
        with _installing():
            self._run("init", "-reconfigure", f"-backend-config={where}")

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
        self._run("apply", "-auto-approve", "-lock-timeout=30s", self._var_file(), *self._no_backup(), *again)

    def destroy(self) -> None:
        """Destroy what the state knows; works without a plan and any number of times."""
        self._run("destroy", "-auto-approve", "-lock-timeout=60s", self._var_file(), *self._no_backup())

    def clear(self) -> None:
        """Remove the working data, and the state with its copies, once nothing of the deployment is left.

        The state may name private keys (infra/gcp gives each host its own); the logs and the variables stay.
        """
        shutil.rmtree(self._data, ignore_errors=True)
        shutil.rmtree(self._root, ignore_errors=True)
        for copy in self.folder.glob("terraform.tfstate*"):
            copy.unlink()

    def output(self) -> dict[str, Any]:
        """The module's outputs, by name."""
        raw = json.loads(self._run("output", "-json"))
        return {name: entry["value"] for name, entry in raw.items()}

    @property
    def _data(self) -> Path:
        return self.folder / "terraform"

    @property
    def _root(self) -> Path:
        return self.folder / "module"

    def _link_module(self) -> None:
        """Link every file of the module as it is now; a lock file that Terraform wrote here stays."""
        self._root.mkdir(exist_ok=True)
        for link in self._root.iterdir():
            if link.is_symlink():
                link.unlink()
        for path in self.module.resolve().iterdir():
            if not (self._root / path.name).exists():
                (self._root / path.name).symlink_to(path)

    @property
    def _is_remote(self) -> bool:
        return (self.module / "backend_override.tf").exists()

    def _no_backup(self) -> list[str]:
        """No copy of the state before the last change: it outlives a destroy, with the private keys in it."""
        return [] if self._is_remote else ["-backup=-"]

    def _var_file(self) -> str:
        return f"-var-file={self.variables.resolve()}"

    def _log(self, verb: str) -> Path:
        return self.folder / "logs" / f"terraform-{verb}.log"

    def _run(self, verb: str, *arguments: str) -> str:
        command = [find_program(), f"-chdir={self._root.resolve()}", verb, *arguments]
        if verb != "output":
            command[3:3] = ["-input=false", "-no-color"]
        environment = {
            "CHECKPOINT_DISABLE": "1",
            "TF_IN_AUTOMATION": "1",
            "TF_DATA_DIR": str(self._data.resolve()),
            "TF_PLUGIN_CACHE_DIR": str(_plugins()),
            "TF_VAR_python": sys.executable,
        }
        log = self._log(verb)
        ended = run_logged(command, log, environment, lock=self.folder / LOCK)
        if ended.status:
            raise ProvisionError(
                f"terraform {verb} failed: {_essence(ended.words)}", hint=f"its whole output is in {log}"
            )
        return ended.out


def _plugins() -> Path:
    """Where providers are installed, once for all deployments: what TF_PLUGIN_CACHE_DIR names, else our own cache."""
    named = os.environ.get("TF_PLUGIN_CACHE_DIR")
    folder = Path(named) if named else cache_folder() / "terraform-plugins"
    if not named:
        private(folder)  # what lies there is run
    return folder.resolve()


@contextmanager
def _installing() -> Iterator[None]:
    """One `init` at a time: Terraform does not guard the cache against two that install into it."""
    place = cache_folder()
    private(place)
    with (place / "terraform-plugins.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _essence(words: str) -> str:
    """The error messages out of Terraform's output (plain or -json), at most 1,500 characters."""
    messages: list[str] = []
    for line in words.splitlines():
        if line.startswith("{"):
            event = json.loads(line)
            if event.get("@level") == "error":
                diagnostic = event.get("diagnostic", {})
                messages.append(f"{event.get('@message', '')} {diagnostic.get('detail', '')}".strip())
    if not messages:
        marker = words.rfind("Error:")
        messages = [words[marker:] if marker >= 0 else words]
    return " ".join(" ".join(messages).replace("│", " ").replace("╵", " ").split())[-1500:] or "it printed nothing"
