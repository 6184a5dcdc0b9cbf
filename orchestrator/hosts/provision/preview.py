"""What Terraform itself says that a plan would make, for `orch plan`: nothing is made, nothing is kept."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import OrchError
from orchestrator.experiment.plan.own.own_module import find_program
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import topology
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.provision.infra import Infra
from orchestrator.hosts.provision.makers import terraform_of, variables
from orchestrator.hosts.provision.terraform import Changes

_ID = "preview"


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The hosts, by zone, and Terraform's count of what it would add; or why Terraform could not be asked."""

    hosts: tuple[tuple[str, str], ...]  # name and zone
    changes: Changes | None = None
    lacking: str | None = None

    def sentence(self) -> str:
        hosts = ", ".join(f"{name} in {zone}" for name, zone in self.hosts)
        if self.changes is None:
            return f"not asked ({self.lacking}); it would make {hosts}"
        return f"{self.changes.add} to add: {hosts}, and what connects them"


def preview(plan: Plan) -> Preview:
    """A real `terraform plan` for the hosts that the plan needs, in a folder that is gone afterwards.

    What keeps Terraform from being asked (no program, no root, no credentials) is shown in the preview: a plan can be
    made and read without it.
    """
    hosts = tuple((host.name, host.zone) for host in topology(plan).hosts)
    try:
        find_program()
        if PROVIDERS[plan.provider].has_program:
            Infra(plan.provider).check()
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            terraform = terraform_of(plan.provider, place, Path(plan.module).resolve() if plan.module else None)
            terraform.variables.write_text(variables(plan, _ID, place / "keys"))
            terraform.init()
            return Preview(hosts=hosts, changes=terraform.plan())
    except OrchError as error:
        return Preview(hosts=hosts, lacking=error.message)
