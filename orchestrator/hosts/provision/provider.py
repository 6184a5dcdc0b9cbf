"""Who makes the hosts: one `Deployment` per provider, behind one interface, chosen by the plan.

The run loop provisions, deploys, measures on the `Fleet` it is given, and tears down; it never asks which provider it
is. Adding a provider means adding a folder to `infra/`: Terraform and its own program make all hosts that are made.
Machines of the person's own are deployed to, reached and swept by the same code.
"""

from __future__ import annotations

from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.lifecycle import Deployment, IntentLog
from orchestrator.workspace import Workspace


def open_deployment(plan: Plan, intent_log: IntentLog, workspace: Workspace) -> Deployment:
    """Return the deployment of a plan's provider."""
    if PROVIDERS[plan.provider].makes_hosts:
        from orchestrator.hosts.provision.deployment import RemoteDeployment  # only who has hosts pays for it

        return RemoteDeployment(plan, intent_log, workspace)
    from orchestrator.hosts.local.host import LocalDeployment

    return LocalDeployment(plan, intent_log, workspace)
