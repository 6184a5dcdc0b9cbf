"""Where a run answers nothing: why, what was seen all the same, and what would settle it; the cause stands first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.analysis import validity, words
from orchestrator.analysis.cells import by_median
from orchestrator.analysis.summary import CellSummary, CheckResult, Comparison

_DECIDED = ("faster", "slower", "tie")
_MOST_MEDIANS = 8
_FEW_BLOCKS = 5  # up to so many, a t-interval is wide even where the blocks agree

# What the check `noise` counts; from where on it may well be why blocks differ. In CPUs, or as a share of the time.
_OF_CPUS = {
    "steal": (0.05, "the hypervisor took up to {} away"),
    "foreign": (0.25, "other programs used up to {}"),
}
_OF_TIME = {
    "throttled": (0.05, "a CPU quota stopped it for up to {} of the time"),
    "pressure": (0.20, "something waited for a CPU for up to {} of the time"),
}


def is_open(comparisons: Sequence[Comparison]) -> bool:
    """Whether stacks were compared by their medians, and not one comparison says faster, slower or tie."""
    asked = [c for c in comparisons if c.statistic == "median" and not c.control]
    return bool(asked) and all(c.standing not in _DECIDED for c in asked)


def sentences(
    cells: Sequence[CellSummary],
    comparisons: Sequence[Comparison],
    checks: Sequence[CheckResult],
    hosts: Mapping[str, Mapping[str, Any]],
) -> str:
    """The cause as a first sentence, the medians, and what to do; empty where something is resolved.

    Also empty where failed checks forbid every comparison: then those are the cause, and are said elsewhere. `hosts` are
    the facts of each host by its name, of which `cpus` is read.
    """
    invalid = validity.invalid_cells(cells, checks)
    asked = [c for c in comparisons if c.statistic == "median" and not c.control]
    sound = [c for c in asked if c.cell not in invalid and c.reference_cell not in invalid]
    if not is_open(comparisons) or not sound:
        return ""
    compared = {c.cell for c in asked} | {c.reference_cell for c in asked}
    measured = [cell for cell in cells if cell.id in compared]
    loud = _loud(checks, hosts)
    return " ".join(
        (_cause(sound, loud), *_medians(measured, len({c.group for c in asked})), _advice(sound, bool(loud)))
    )


def _cause(asked: Sequence[Comparison], loud: str) -> str:
    told = {c.why: None for c in asked if c.standing == "cannot tell"}
    if len(told) and all(c.standing == "cannot tell" for c in asked):
        first, *others = told
        more = f", and {words.count(len(others), 'more reason')} below" if others else ""
        return f"Not resolved: {first}{more}."
    if all(c.interval and not c.interval[0] <= 1 <= c.interval[1] for c in asked if c.standing == "not resolved"):
        return (
            "Not resolved: the reference, entered twice, differs from itself by no less than the stacks differ from it."
        )
    blocks = max(len(c.by_block) for c in asked)
    few = f", and {blocks} blocks are few" if blocks <= _FEW_BLOCKS else ""
    differ = f"the {blocks} blocks differ by more than the stacks do{few}"
    return f"Not resolved, as {loud}: {differ}." if loud else f"Not resolved: {differ}."


def _loud(checks: Sequence[CheckResult], hosts: Mapping[str, Mapping[str, Any]]) -> str:
    """What else ran at worst, as a clause in terms of the machine's own CPUs; empty where nothing loud is known."""
    seen = [check.evidence for check in checks if check.name == "noise" and check.cell]
    found = []
    for key, (limit, text) in (_OF_CPUS | _OF_TIME).items():
        most, evidence = max(((e.get(key) or 0.0, e) for e in seen), key=lambda pair: pair[0], default=(0.0, {}))
        if most > limit:
            cpus = _cpus(evidence.get("where"), hosts)
            found.append(text.format(_of_cpus(most, cpus) if key in _OF_CPUS else words.percent(min(most, 1.0))))
    return f"the machine was busy ({'; '.join(found)})" if found else ""


def _cpus(where: object, hosts: Mapping[str, Mapping[str, Any]]) -> int | None:
    """How many CPUs the host has; where the name is none of a host's (an end is called by its role), what all have."""
    counts = {name: facts.get("cpus") for name, facts in hosts.items()}
    own = counts.get(str(where)) or (next(iter(counts.values())) if len(set(counts.values())) == 1 else None)
    return own if isinstance(own, int) else None


def _of_cpus(used: float, cpus: int | None) -> str:
    """`0.60 of 2 CPUs`; counters of two moments are read one after the other, so that the sum may exceed what there is."""
    if cpus is None:
        return f"{words.factor(used)} CPUs"
    return f"{words.factor(min(used, cpus))} of {words.count(cpus, 'CPU')}"


def _medians(cells: Sequence[CellSummary], groups: int) -> list[str]:
    known = [(c, of.median) for c in sorted(cells, key=by_median) if (of := c.distribution) and of.median is not None]
    if groups > 1 or not known:
        return ["What was seen of each stack stands in the table."] if known else []
    listed = [f"{cell.stack_label} {words.ms(median)}" for cell, median in known]
    more = [f"{len(listed) - _MOST_MEDIANS:,} more in the table"] if len(listed) > _MOST_MEDIANS else []
    return [f"The medians were, all the same: {words.listed([*listed[:_MOST_MEDIANS], *more])}."]


def _advice(asked: Sequence[Comparison], is_loud: bool) -> str:
    blocks = max(len(c.by_block) for c in asked)
    where = " on a quieter machine" if is_loud else ""
    return f"To settle it, measure more blocks{where}: `--set repeats={max(6, 2 * blocks)}`."
