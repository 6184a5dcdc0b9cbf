"""Who makes the hosts: one `Deployment` per provider, behind one interface, chosen by the plan.

The run loop provisions, deploys, measures on the `Fleet` it is given, and tears down; it never asks which provider it
is. Adding a provider means adding a folder to `infra/`: Terraform and its own program make all hosts that are made.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from orchestrator.errors import MissingError, did_you_mean
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.lifecycle import Deployment, IntentLog
from orchestrator.workspace import Workspace

Factory = Callable[[Plan, IntentLog, Workspace], Deployment]

# "module:factory", with hosts to make and without; the module is imported only when it is asked for.
_FACTORIES = {
    False: "orchestrator.hosts.local.host:LocalDeployment",
    True: "orchestrator.hosts.provision.deployment:TerraformDeployment",
}


def open_deployment(plan: Plan, intent_log: IntentLog, workspace: Workspace) -> Deployment:
    """The deployment of a plan's provider; MissingError when this installation has none for it."""
    try:
        target = _FACTORIES[PROVIDERS[plan.provider].makes_hosts]
    except KeyError:
        raise MissingError(
            f"provider {plan.provider!r} is not available in this installation",
            hint=did_you_mean(plan.provider, PROVIDERS),
        ) from None
    module, _, name = target.partition(":")
    factory: Factory = getattr(importlib.import_module(module), name)
    return factory(plan, intent_log, workspace)
