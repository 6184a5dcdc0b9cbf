"""Who makes the hosts: one `Deployment` per provider, behind one interface, chosen by the plan.

The run loop provisions, deploys, measures on the `Fleet` it is given, and tears down; it never asks which provider it
is. Adding a provider means one line in `PROVIDERS`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from orchestrator.errors import MissingError, did_you_mean
from orchestrator.experiment.plan import Plan
from orchestrator.hosts.base import Fleet


class Ledger(Protocol):
    """Where a deployment writes its intent before it makes anything, and reads it back to take things down.

    The run folder's journal is one: it survives a kill, so teardown can work from it alone.
    """

    @property
    def path(self) -> Path:
        """The run folder."""

    def append(self, event: dict[str, Any], *, sync: bool = True) -> None:
        """Write one event down; with `sync` it is on the disk when this returns."""

    def events(self) -> Iterator[dict[str, Any]]:
        """Everything written down so far, oldest first."""


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What was made, what of it is gone, and what is left; the last line of every teardown.

    `unknown` says in words what could not be looked at: there, anything may be left. `is_sure`: whether all processes were
    looked for; if not, nothing more is said than that nothing was seen.
    """

    provider: str
    created: tuple[str, ...] = ()
    destroyed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    note: str = ""
    is_sure: bool = True

    def sentence(self) -> str:
        """The receipt in one line.

        >>> Receipt(provider="lab", created=("a", "b"), destroyed=("a",), left=("b",)).sentence()
        'receipt (lab): 2 created, 1 destroyed, 1 left: b'
        >>> Receipt(provider="gcp", created=("a",), unknown=("disks in project p (no permission)",)).sentence()
        'receipt (gcp): 1 created, 0 destroyed, not known what is left: disks in project p (no permission)'
        """
        left = [f"{len(self.left)} left: {', '.join(self.left)}"] if self.left else []
        unknown = [f"not known what is left: {', '.join(self.unknown)}"] if self.unknown else []
        end = ", ".join([*left, *unknown]) or self._nothing
        text = f"receipt ({self.provider}): {len(self.created)} created, {len(self.destroyed)} destroyed, {end}"
        return f"{text} ({self.note})" if self.note else text

    @property
    def _nothing(self) -> str:
        return "nothing left" if self.is_sure else "nothing seen that is left"

    @property
    def open(self) -> tuple[str, ...]:
        """What keeps the teardown from being complete: what is left, and what is not known."""
        return (*self.left, *(f"not known: {item}" for item in self.unknown))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


class Deployment(Protocol):
    """The hosts of one run, from nothing to nothing. Every step may be called again after it failed or was killed."""

    def provision(self) -> None:
        """Make the hosts; ProvisionError (4) or MissingError (3) when that cannot be done."""

    def deploy(self) -> Fleet:
        """Install what both ends need, and hand over the hosts; ProvisionError (4) when that cannot be done."""

    def teardown(self) -> Receipt:
        """End everything that was made, from the ledger alone; safe at any time, any number of times."""

    def describe(self) -> dict[str, Any]:
        """What a person must know of hosts that stay up: provider, id, until when, how to end them."""


Factory = Callable[[Plan, Ledger], Deployment]

# provider -> "module:factory"; the module is imported only when its provider is asked for.
PROVIDERS: dict[str, str] = {
    "local": "orchestrator.hosts.local:LocalDeployment",
    "lab": "orchestrator.hosts.deployment:TerraformDeployment",
    "gcp": "orchestrator.hosts.deployment:TerraformDeployment",
}


def open_deployment(plan: Plan, ledger: Ledger) -> Deployment:
    """The deployment of a plan's provider; MissingError when this installation has none for it."""
    try:
        target = PROVIDERS[plan.provider]
    except KeyError:
        raise MissingError(
            f"provider {plan.provider!r} is not available in this installation",
            hint=did_you_mean(plan.provider, PROVIDERS),
        ) from None
    module, _, name = target.partition(":")
    factory: Factory = getattr(importlib.import_module(module), name)
    return factory(plan, ledger)
