"""What a reader must know of a plan before it is run."""

from __future__ import annotations

from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.estimate import short_of_room
from orchestrator.experiment.plan.loads import describe_load
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.topology import with_too_few_cpus
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.experiment.read.units import format_duration


def warnings(plan: Plan, expected_s: float) -> list[str]:
    """Sentences about a plan whose run is expected to take so many seconds; none where nothing is to be said."""
    sentences = []
    if expected_s > plan.limits.wall_s:
        sentences.append(
            f"the run is expected to take {format_duration(expected_s)}, longer than limits.wall"
            f" ({format_duration(plan.limits.wall_s)}), which will end it early"
        )
    if len(plan.stacks) > 1 and next(pairs(plan), None) is None:
        sentences.append("nothing is compared: no other stack has a cell that matches one of the reference")
    late = {describe_load(cell.load, cell.kind, cell.calls): None for cell in short_of_room(plan)}
    if late:
        sentences.append(
            "more requests are under way at once than an open loop may have, so that some are sent late or not at all:"
            f" {'; '.join(late)}; raise its concurrency"
        )
    for stack, facts in plan.resolved.items():
        missing = [package for package, version in facts["versions"].items() if version == "not installed here"]
        if missing and not PROVIDERS[plan.provider].makes_hosts:
            sentences.append(f"{stack} needs {', '.join(missing)}, not installed here: make setup")
    return [*sentences, *with_too_few_cpus(plan)]
