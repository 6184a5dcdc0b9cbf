"""Timing rules that mislead: which experiment may ask for them, and of which cells."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.errors import UsageError
from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.model.process_factors import requesters_of
from orchestrator.experiment.plan.plan import Operation
from orchestrator.experiment.plan.processes import processes_of
from services.python.contract.lines import Load, Warmup
from services.python.contract.timing_rules import MISLEADING, are_asked_for
from services.python.contract.timing_rules import TIMING_RULES as FACTOR

_ASKED = f"`{FACTOR}: {MISLEADING}`"


def refuse_overrides(overrides: Iterable[str]) -> None:
    """UsageError for a `--set` of timing rules: it would put them into an experiment that asks something else."""
    for override in filter(_is_of_rules, overrides):
        raise UsageError(
            f"--set {override}: timing rules are an experiment's own question, and are not set from outside of its file",
            hint="run experiments/timing_rules.yaml, or a copy of it with other stacks",
        )


def refuse_beside_others(located: Located) -> None:
    """Note whatever would put misleading rules into a part of an experiment, or compare by them.

    They are the whole experiment's or nobody's: so no cell of another question is timed by a requester that notes for them.
    """
    experiment = located.experiment
    for number, stack in enumerate(experiment.stacks):
        if getattr(stack, FACTOR) is not None:
            located.add(
                ("stacks", number, FACTOR),
                f"timing rules are an experiment's own question: give {_ASKED} for all stacks, beside `question`, or"
                " nowhere.",
            )
    chosen = getattr(experiment, FACTOR)
    if MISLEADING in chosen and len(chosen) > 1:
        located.add(
            (FACTOR,),
            f"{_ASKED} has the true rule beside the others, for the same requests: give it alone, in an experiment of its"
            " own.",
        )
    if FACTOR in experiment.compare_by:
        located.add(
            ("compare_by",),
            f"no figure of a misleading rule is a latency, so nothing is compared by `{FACTOR}`: leave it out; {_ASKED} has"
            " a table of its own.",
        )


def refusal(operation: Operation, call: Values, load: Load, warmup: Warmup, *, is_search: bool) -> str | None:
    """Why a cell's requests cannot be timed by these rules, with what to do instead; None where they can, or are not."""
    if not are_asked_for(call):
        return None
    for is_so, what in (
        (operation.name != "timestamp", f"`{operation.name}`, whose reply has no stamp of the responder's"),
        (operation.calls > 1, f"`calls: {operation.calls}`"),
        (call.get("connection") != "reuse", f"`connection: {call.get('connection')}`"),
        (requesters_of(call) > 1, f"`requesters: {requesters_of(call)}`"),
        (processes_of(call) > 1, f"`processes: {processes_of(call)}`"),
        (is_search, "a rate that `find` searches for"),
        (load.rate_per_s is not None, "a rate"),
        (load.concurrency > 1, f"{load.concurrency:,} in flight"),
        (load.think_s > 0, "think time"),
        (warmup.at_least_s > 0, "a warm-up of so much time, which code without one would measure: give `at_least: 0s`"),
    ):
        if is_so:
            return (
                f"{_ASKED} times `timestamp` calls that follow one another on a kept connection, after a warm-up of so many"
                f" requests; this asks for {what}. Change it"
            )
    return None


def _is_of_rules(override: str) -> bool:
    """Whether the key of `KEY=VALUE` is theirs, of the experiment or of one of its parts."""
    return FACTOR in override.partition("=")[0].split(".")
