"""Who makes the hosts: one `Deployment` per provider, behind one interface, chosen by the plan.

The run loop provisions, deploys, measures on the `Fleet` it is given, and tears down; it never asks which provider it
is. Adding a provider means adding a folder to `infra/`: Terraform and its own program make all hosts that are made.
"""

from __future__ import annotations

from orchestrator.errors import MissingError, did_you_mean
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.lifecycle import Deployment, IntentLog
from orchestrator.workspace import Workspace


def open_deployment(plan: Plan, intent_log: IntentLog, workspace: Workspace) -> Deployment:
    """The deployment of a plan's provider; MissingError when this installation has none for it."""
    if plan.provider not in PROVIDERS:
        raise MissingError(
            f"provider {plan.provider!r} is not available in this installation",
            hint=did_you_mean(plan.provider, PROVIDERS),
        )
    if PROVIDERS[plan.provider].makes_hosts:
        from orchestrator.hosts.provision.deployment import TerraformDeployment  # only who makes hosts pays for it

        return TerraformDeployment(plan, intent_log, workspace)
    from orchestrator.hosts.local.host import LocalDeployment

    return LocalDeployment(plan, intent_log, workspace)
