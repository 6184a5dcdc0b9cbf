"""Drives `terraform` or `tofu` on one root module with one state. Nothing here knows a provider."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import ProvisionError
from orchestrator.experiment.plan.own.own_module import find_program, read_outputs
from orchestrator.hosts.provision.archives import cache_folder
from orchestrator.hosts.provision.programs import LOCK, run_logged


@dataclass(frozen=True, kw_only=True)
class Terraform:
    """One root module, its variables, and the folder that holds state, plugin data and logs of one deployment.

    It runs in a folder of links to the module's files: Terraform writes its lock file beside them, and not into the
    checkout. A module of the person's own may lead out of its folder (`../common`), and runs where it is. Every method
    raises ProvisionError with the end of Terraform's own words when it fails.
    """

    module: Path
    folder: Path
    variables: Path  # a .tfvars.json file
    is_own: bool = False

    def init(self) -> None:
        """Make the working data ready; needs no network where the module needs no provider, or where it is cached.

        The state lies in the deployment's folder.
        """
        if not self.is_own:
            self._link_module()
        with _installing():
            self._run("init", "-reconfigure", f"-backend-config=path={self.state.resolve()}")

    def apply(self, replace: Sequence[str] = ()) -> None:
        """Make it so; `replace` names resource addresses that are to be made anew."""
        again = [f"-replace={address}" for address in replace]
        self._run(*self._changing("apply", "-lock-timeout=30s"), *again)

    def destroy(self) -> None:
        self._run(*self._changing("destroy", "-lock-timeout=60s"))

    def clear(self) -> None:
        """Remove the working data, and the state with its copies, once nothing of the deployment is left.

        The state may name private keys (infra/gcp gives each host its own); the logs and the variables stay.
        """
        shutil.rmtree(self._data, ignore_errors=True)
        shutil.rmtree(self._links, ignore_errors=True)
        for copy in self.folder.glob("terraform.tfstate*"):
            copy.unlink()

    def output(self) -> dict[str, Any]:
        return read_outputs(self._run("output", "-json", *self._local_state()))

    def resources(self) -> list[str]:
        """The addresses of what the state knows, after `init`; none without a state."""
        return self._run("state", "list", *self._local_state()).splitlines() if self.state.exists() else []

    @property
    def state(self) -> Path:
        return self.folder / "terraform.tfstate"

    @property
    def _data(self) -> Path:
        return self.folder / "terraform"

    @property
    def _links(self) -> Path:
        return self.folder / "module"

    @property
    def _root(self) -> Path:
        return self.module if self.is_own else self._links

    def _link_module(self) -> None:
        """Link every file of the module as it is now; a lock file that Terraform wrote here stays."""
        self._links.mkdir(exist_ok=True)
        for link in self._links.iterdir():
            if link.is_symlink():
                link.unlink()
        for path in self.module.resolve().iterdir():
            if not (self._links / path.name).exists():
                (self._links / path.name).symlink_to(path)

    def _local_state(self) -> list[str]:
        """Named for a module without a `backend` block, whose state would be beside its files."""
        return [f"-state={self.state.resolve()}"] if self.is_own else []

    def _changing(self, verb: str, patience: str) -> list[str]:
        """Without a copy of the state before the last change: it outlives a destroy, with the private keys in it."""
        variables = f"-var-file={self.variables.resolve()}"
        return [verb, "-auto-approve", patience, variables, *self._local_state(), "-backup=-"]

    def _run(self, verb: str, *arguments: str) -> str:
        command = [find_program(), f"-chdir={self._root.resolve()}", verb, *arguments]
        if verb not in ("output", "state"):
            command[3:3] = ["-input=false", "-no-color"]
        environment = {
            "CHECKPOINT_DISABLE": "1",
            "TF_IN_AUTOMATION": "1",
            "TF_DATA_DIR": str(self._data.resolve()),
            "TF_PLUGIN_CACHE_DIR": str(_plugins()),
            "TF_VAR_python": sys.executable,
        }
        log = self.folder / "logs" / f"terraform-{verb}.log"
        done = run_logged(command, log, environment, lock=self.folder / LOCK)
        if done.returncode:
            why = _essence(f"{done.stdout}\n{done.stderr}")
            raise ProvisionError(f"terraform {verb} failed: {why}", hint=f"its whole output is in {log}")
        return done.stdout


def _plugins() -> Path:
    """Where providers are installed, once for all deployments: what TF_PLUGIN_CACHE_DIR names, else our own cache."""
    named = os.environ.get("TF_PLUGIN_CACHE_DIR")
    folder = Path(named) if named else cache_folder() / "terraform-plugins"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder.resolve()


@contextmanager
def _installing() -> Iterator[None]:
    """One `init` at a time: Terraform does not guard the cache against two that install into it."""
    with _plugins().with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _essence(words: str) -> str:
    """The error messages out of Terraform's output, at most 1,500 characters."""
    marker = max(0, words.rfind("Error:"))
    return " ".join(words[marker:].replace("│", " ").replace("╵", " ").split())[-1500:] or "it printed nothing"
