"""The programs beside each module of `infra/` that answer for what Terraform cannot see: `infra/<provider>/provider.py`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import MissingError, OrchError, ProvisionError, UsageError, on_one_line
from orchestrator.hosts.lifecycle import Swept
from orchestrator.hosts.output import capture

ROOT = Path(__file__).resolve().parents[3]
_INCOMPLETE = 6
_LACKING = 3
_PATIENCE_S = 900.0


@dataclass(frozen=True)
class Infra:
    """One provider's module and its program; infra/README.md has the documents each verb prints."""

    provider: str

    @property
    def module(self) -> Path:
        return ROOT / "infra" / self.provider

    def check(self) -> None:
        """MissingError that lists all that this machine lacks for the provider."""
        document = self._ask("check")
        if not document["ok"]:
            missing = document["missing"]
            raise MissingError(
                f"provider {self.provider} cannot be used here: {'; '.join(m['what'] for m in missing)}",
                hint="; ".join(m["hint"] for m in missing if m.get("hint")),
            )

    def target(self) -> dict[str, str | None]:
        named: dict[str, str | None] = self._ask("target")["target"]
        return named

    def require_target(self, made_in: dict[str, str | None] | None) -> None:
        """UsageError when this environment leads elsewhere than to where a deployment was made (None: not recorded)."""
        if made_in is None:
            return
        answer = self._ask("target")
        here = answer["target"]
        other = [key for key in made_in if here.get(key) != made_in[key]]
        if other:
            before = " and ".join(f"{key} {made_in[key]}" for key in other)
            now = " and ".join(f"{key} {here.get(key)}" if here.get(key) else f"no {key}" for key in other)
            again = " ".join(f"{answer['set_by'].get(key, key)}={made_in[key]}" for key in other)
            raise UsageError(
                f"its hosts were made in {before}, and this environment names {now}: nothing was asked or deleted there;"
                f" set {again}",
                hint="then call again",
            )

    def findings(self, hosts: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
        """What the cloud itself says of making hosts in these zones, of these machine types: name, ok, what, hint."""
        options = [word for zone, machine in sorted(hosts) for word in ("--host", f"{zone}:{machine}")]
        findings: list[dict[str, Any]] = self._ask("check", *options)["findings"]
        return findings

    def status(self, identity: str) -> dict[str, Any]:
        """Which hosts and links are alive, and what to replace to repair the rest."""
        return self._ask("status", "--run-id", identity)

    def standing(self) -> dict[str, Any]:
        """Return every run with something still there, by id."""
        runs: dict[str, Any] = self._ask("list")["runs"]
        return runs

    def sweep(self, identity: str) -> Swept:
        """Remove all that is ours and carries the id. Never raises: where the provider cannot be asked, all is unknown."""
        try:
            document = self._ask("sweep", "--run-id", identity)
        except OrchError as error:
            return Swept(unknown=(f"all of orch-{identity} ({error.message})",))
        left, unknown = (
            tuple(f"{item['what']} ({item['why']})" for item in document.get(key, ())) for key in ("left", "unknown")
        )
        return Swept(removed=tuple(document["removed"]), left=left, unknown=unknown)

    def _ask(self, *words: str) -> dict[str, Any]:
        command = [sys.executable, str(self.module / "provider.py"), *words]
        hint = f"by hand: python3 infra/{self.provider}/provider.py {' '.join(words)}"
        try:  # in a session of its own: a teardown that has begun is not to be cut by the terminal's Ctrl-C
            done = capture(command, timeout_s=_PATIENCE_S)
        except TimeoutError as error:
            message = f"{self.provider}: {words[0]} had no answer after {_PATIENCE_S:g} s"
            raise ProvisionError(message, hint=hint) from error
        why = on_one_line(done.stderr, 800) or f"exit status {done.returncode} without a word"
        if done.returncode not in (0, _LACKING, _INCOMPLETE):
            raise ProvisionError(f"{self.provider}: {words[0]} failed: {why}", hint=hint)
        if not done.stdout:
            raise MissingError(f"{self.provider}: {words[0]} failed: {why}", hint=hint)
        document: dict[str, Any] = json.loads(done.stdout)
        return document
