"""Services that run already: where they answer, and to whom requests will go."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.experiment.model.address import is_loopback
from orchestrator.experiment.plan.estimate import sent_to
from orchestrator.experiment.plan.plan import External, Plan, Stack


def externals_by_label(stacks: Iterable[Stack]) -> dict[str, External]:
    """Who answers, where that runs already, by the stack's label; without the controls that enter a stack again."""
    return {s.label: s.running for s in stacks if s.running is not None and s.control_of is None}


def behind_loopback(stacks: Iterable[Stack]) -> str:
    """What is known of where those answer whose address is one of the loopback; empty without one."""
    labels = [label for label, external in externals_by_label(stacks).items() if is_loopback(external.host)]
    return f"{' and '.join(labels)} at a loopback address; who answers behind it is not known" if labels else ""


def address_of(external: External) -> str:
    """The address as the experiment names it, `db.example:80`."""
    return f"{external.given}:{external.port}"


def place_of(external: External) -> str:
    """Where a service of a run's record answers, which has no names of hosts: its port, here or elsewhere."""
    return f"{external.host}:{external.port}" if is_loopback(external.host) else f"port {external.port} elsewhere"


def by_address(stacks: Iterable[Stack]) -> dict[str, list[Stack]]:
    """The stacks of each service that runs already, by its address."""
    running = [(stack, address_of(stack.running)) for stack in stacks if stack.running is not None]
    return {address: [stack for stack, other in running if other == address] for _, address in running}


def announcements(plan: Plan) -> list[str]:
    """To whom requests will go that orch did not start, how many and how often; one line for each address."""
    lines = []
    for address, stacks in by_address(plan.stacks).items():
        externals, sent = externals_by_label(stacks), sent_to(plan, {stack.id for stack in stacks})
        often = [f"up to {sent.rate_per_s:,.0f} a second"] if sent.rate_per_s else []
        often += [f"{sent.in_flight:,} at once, each as soon as its reply comes"] if sent.in_flight else []
        hosts = [each.host for each in externals.values() if each.host != each.given]
        to = f"{address} ({hosts[0]})" if hosts else address
        requests = f"about {sent.requests:,} requests, warm-ups included, go to {to}, which runs already,"
        lines.append(
            f"{', '.join(externals)}: {requests} {' and '.join(often)}; orch starts nothing there, and ends nothing"
        )
    return lines
