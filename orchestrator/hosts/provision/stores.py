"""Databases on hosts of their own: what Ansible needs for them, and how responders reach them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from orchestrator.experiment.plan.cells import postgresql_connections
from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts.provision.infra import ROOT
from orchestrator.hosts.provision.wheelhouse import Target, wheelhouse

PORT: Final = 5432
_PASSWORD = "postgresql"  # noqa: S105 - the name of its file


@dataclass(frozen=True, kw_only=True)
class Databases:
    """Variables of the role `store`, and the DSN of the server on each of its hosts; nothing where there are none."""

    variables: Mapping[str, Any] = field(default_factory=dict)
    dsns: Mapping[str, str] = field(default_factory=dict, repr=False)


def prepared(plan: Plan, keys: Path, hosts: Mapping[str, Any], target: Target, cache: Path) -> Databases:
    """What the hosts of role `store` among `hosts` (the output of a module of `infra/`) need.

    The password is made for the deployment, and lies among its keys, which go with it. ProvisionError as `wheelhouse`.
    """
    if not plan.makes_stores:
        return Databases()
    file = keys / _PASSWORD
    if not file.exists():
        keys.mkdir(mode=0o700, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(24))
    programs = wheelhouse(ROOT / "locks" / "postgresql.lock", target, cache)
    variables = {
        "orch_postgresql": str(programs.path.resolve()),
        "orch_postgresql_digest": programs.digest,
        "orch_postgresql_connections": postgresql_connections(plan.cells),
        "orch_postgresql_port": PORT,
        "orch_postgresql_password": str(file.resolve()),
    }
    dsn = f"port={PORT} dbname=postgres user=orch password={file.read_text()}"
    return Databases(
        variables=variables,
        dsns={name: f"host={host['address']} {dsn}" for name, host in hosts.items() if host["role"] == "store"},
    )
