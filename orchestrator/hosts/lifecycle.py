"""How hosts come and go: the steps of a deployment, the log of its intents, and the receipt at its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts.base import Fleet


class IntentLog(Protocol):
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


NETWORK: dict[str, Any] = {"kind": "network", "mtu": None, "scheduler": None, "paths": []}
"""The link between hosts that are connected as they are, in an output of `infra/`."""


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What was made, what of it is gone, and what is left; the last line of every teardown.

    `unknown` says in words what could not be looked at: there, anything may be left.
    """

    provider: str
    created: tuple[str, ...] = ()
    destroyed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    note: str = ""

    def sentence(self) -> str:
        """The receipt in one line.

        >>> Receipt(provider="lab", created=("a", "b"), destroyed=("a",), left=("b",)).sentence()
        'receipt (lab): 2 created, 1 destroyed, 1 left: b'
        >>> Receipt(provider="gcp", created=("a",), unknown=("disks in project p (no permission)",)).sentence()
        'receipt (gcp): 1 created, 0 destroyed, not known what is left: disks in project p (no permission)'
        """
        left = [f"{len(self.left)} left: {', '.join(self.left)}"] if self.left else []
        unknown = [f"not known what is left: {', '.join(self.unknown)}"] if self.unknown else []
        end = ", ".join([*left, *unknown]) or "nothing left"
        text = f"receipt ({self.provider}): {len(self.created)} created, {len(self.destroyed)} destroyed, {end}"
        return f"{text} ({self.note})" if self.note else text

    @property
    def open(self) -> tuple[str, ...]:
        """What keeps the teardown from being complete: what is left, and what is not known."""
        return (*self.left, *(f"not known: {item}" for item in self.unknown))


@dataclass(frozen=True, kw_only=True)
class Swept:
    """What a sweep removed, what is still there and why, and where it could not look and why, in words."""

    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class Maker(ABC):
    """Makes the hosts of a deployment and takes them down; but for `make`, from the deployment's folder alone."""

    def check(self) -> None:
        """MissingError that lists all that this machine lacks for it."""
        return

    def target(self) -> dict[str, str | None]:
        """Where hosts are made and looked for from here."""
        return {}

    def require_target(self, made_in: dict[str, str | None] | None) -> None:  # noqa: ARG002
        """UsageError when this environment leads elsewhere than to where a deployment was made."""
        return

    @abstractmethod
    def make(self, plan: Plan, *, is_new: bool) -> dict[str, Any]:
        """Make the hosts, or repair those of an earlier call; the outputs of infra/README.md."""

    def prepare(self, plan: Plan, members: Mapping[str, Any]) -> None:  # noqa: ARG002
        """What comes before anything is installed on the hosts."""
        return

    def release(self) -> None:
        """Let go of what `prepare` holds."""
        return

    @abstractmethod
    def status(self) -> dict[str, Any]:
        """Which hosts and links are alive, as `status` of infra/README.md."""

    def destroy(self) -> str | None:
        """Take down what was written down; what kept it from that, in words."""
        return None

    @abstractmethod
    def sweep(self) -> Swept:
        """Remove what is left, without trusting what was written down. Never raises."""

    def clear(self) -> None:
        """Remove the working data, once nothing of the deployment is left."""
        return


class Deployment(Protocol):
    """The hosts of one run, from nothing to nothing. Every step may be called again after it failed or was killed."""

    def provision(self) -> None:
        """Make the hosts; ProvisionError (4) or MissingError (3) when that cannot be done."""

    def deploy(self) -> Fleet:
        """Install what both ends need, and hand over the hosts; ProvisionError (4) when that cannot be done."""

    def teardown(self) -> Receipt:
        """End everything that was made, from the intent log alone; safe at any time, any number of times."""

    def describe(self) -> dict[str, Any]:
        """What a person must know of hosts that stay up: provider, id, until when, how to end them."""
