"""Where a run answers nothing: why (first), what was measured, and what would settle it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from orchestrator.analysis import equivalence, power, validity, words
from orchestrator.analysis.cells import by_median
from orchestrator.analysis.check_result import CheckResult
from orchestrator.analysis.intervals import FEWEST_BLOCKS
from orchestrator.analysis.summary import CellSummary, Comparison, Interval
from services.python.contract.description import Description

DECIDED = ("faster", "slower", "tie")
"""The standings that say something."""
_MOST_MEDIANS = 8
_FEW_BLOCKS = 5  # up to so many, a t-interval is wide even where the blocks agree
_MOST_REPEATS = 100  # more than that nobody measures to settle a question

# What the check `noise` counts; from where on it may well be why blocks differ. In CPUs, or as a share of the time.
_OF_CPUS = {
    "steal": (0.05, "the hypervisor took up to {} away"),
    "foreign": (0.25, "other programs used up to {}"),
}
_OF_TIME = {
    "throttled": (0.05, "a CPU quota stopped it for up to {} of the time"),
    "pressure": (0.20, "something waited for a CPU that others used for up to {} of the time"),
    "inside": (0.25, "other programs in a host used up to {} of what it may use"),
}


def is_open(comparisons: Sequence[Comparison]) -> bool:
    """Whether stacks were compared by their medians, and not one comparison says faster, slower or tie."""
    asked = [c for c in comparisons if c.statistic == "median" and not c.control]
    return bool(asked) and all(c.standing not in DECIDED for c in asked)


def sentences(
    cells: Sequence[CellSummary],
    comparisons: Sequence[Comparison],
    checks: Sequence[CheckResult],
    hosts: Mapping[str, Description],
    *,
    matters: float = equivalence.MATTERS,
    is_complete: bool = True,
    is_shared: bool = False,
) -> str:
    """The cause as a first sentence, the medians, and what to do; empty where something is resolved.

    Also empty where failed checks forbid every comparison: then those are the cause, and are said elsewhere. `hosts` are
    the descriptions of each host by its name, of which `cpus` is read; `matters` is the experiment's margin, and `is_shared`
    whether another measurement ran on the machine.
    """
    invalid = validity.invalid_cells(cells, checks)
    asked = [c for c in comparisons if c.statistic == "median" and not c.control]
    sound = [c for c in asked if c.cell not in invalid and c.reference_cell not in invalid]
    if not is_open(comparisons) or not sound:
        return ""
    compared = {c.cell for c in asked} | {c.reference_cell for c in asked}
    measured = [cell for cell in cells if cell.id in compared]
    medians = _medians(measured, len({c.group for c in asked}))
    if not is_complete and (cut := _cut(cells)):
        return " ".join((cut, *medians, "To continue it: `orch run --resume`."))
    loud = busy(checks, hosts, compared, is_shared=is_shared)
    return " ".join((_cause(sound, loud, matters), *medians, _advice(sound, comparisons, measured, loud, matters)))


def _cut(cells: Sequence[CellSummary]) -> str:
    """That the run lacks trials, as a sentence; empty where it has all that were planned."""
    made = sum(len(cell.trials) + cell.failed_trials for cell in cells)
    planned = sum(cell.planned_trials for cell in cells)
    if made >= planned:
        return ""
    return f"Not resolved: the run was interrupted after {made:,} of {words.count(planned, 'trial')}."


def _cause(asked: Sequence[Comparison], loud: str, matters: float) -> str:
    reasons = {c.why: None for c in asked if c.standing == "cannot tell"}
    if len(reasons) and all(c.standing == "cannot tell" for c in asked):
        first, *others = reasons
        more = f", and {words.count(len(others), 'more reason')} below" if others else ""
        return f"Not resolved: {first}{more}."
    open_ones = [c for c in asked if c.standing == "not resolved"]
    if all(_is_within_control(c, matters) for c in open_ones):
        return (
            "Not resolved: the reference, entered twice, differs from itself at least as much as the stacks do from it."
        )
    if loud:
        return f"Not resolved, as {loud}."
    if any(c.reason == "disturbed unequally" for c in open_ones):
        return f"Not resolved: {next(c.why for c in open_ones if c.reason)}."
    return f"Not resolved: {_because([c for c in open_ones if not _is_within_control(c, matters)], asked, matters)}."


def _is_within_control(comparison: Comparison, matters: float) -> bool:
    """Whether only the control's own difference keeps this one open: by its interval alone it would be decided."""
    return comparison.interval is not None and equivalence.standing(comparison.interval, matters) != "not resolved"


def _because(reaching: Sequence[Comparison], asked: Sequence[Comparison], matters: float) -> str:
    """What the blocks say of comparisons whose intervals reach across 1, as a clause."""
    if widened := _widened(reaching, sum(c.interval is not None for c in asked), matters):
        return widened
    blocks = max(len(c.by_block) for c in reaching)
    across = "the interval reaches" if len(reaching) == 1 else "the intervals reach"
    agree = [all(r > 1 for r in c.by_block) or all(r < 1 for r in c.by_block) for c in reaching]
    if all(agree):
        return f"{blocks} blocks are too few, as {across} across 1 although they all point the same way"
    if any(agree):
        return f"{blocks} blocks are too few, as {across} across 1"
    few = f", and {blocks} blocks are few" if blocks <= _FEW_BLOCKS else ""
    return f"the {blocks} blocks do not agree on which is faster{few}"


def _widened(reaching: Sequence[Comparison], compared: int, matters: float) -> str:
    """That most comparisons are open for what widens them, as a clause; empty where it is their own blocks."""
    settled = [
        c
        for c in reaching
        if (own := equivalence.own_interval(c.by_block)) and _is_decided(own, matters) and c.interval
    ]
    ways = [by for c in settled if c.interval and (by := equivalence.widened(c.by_block, c.interval, compared))]
    if not ways or 2 * len(settled) <= len(reaching):
        return ""
    whose = "the blocks agree" if len(settled) == len(reaching) else "the blocks of most comparisons agree"
    intervals = "the interval is" if len(reaching) == 1 else "the intervals are"
    return f"{whose}, but {intervals} {max(ways, key=len)}"


def _is_decided(interval: Interval, matters: float) -> bool:
    return equivalence.standing(interval, matters) in DECIDED


def caveat(loud: str) -> str:
    """What a resolved answer begins with where `busy` says this; empty where it says nothing."""
    return f"{loud[0].upper()}{loud[1:]}: repeat this on a quiet one before you rely on it." if loud else ""


def busy(
    checks: Sequence[CheckResult],
    hosts: Mapping[str, Description],
    compared: Container[str | None],
    *,
    is_shared: bool = False,
) -> str:
    """What else ran at worst, as a clause in terms of the machine's own CPUs; empty where nothing loud is known.

    Of a cell that is compared, a third of the trials must have been loud: a single one makes no interval wide by itself.
    """
    seen = [check.evidence for check in checks if check.name == "noise" and check.cell in compared]
    found = ["shared with another measurement"] if is_shared else []
    for key, (limit, text) in (_OF_CPUS | _OF_TIME).items():
        often = [e for e in seen if e.get("in_a_third", {}).get(key, 0.0) > limit]
        most, evidence = max(((e.get(key) or 0.0, e) for e in often), key=lambda pair: pair[0], default=(0.0, {}))
        if most > limit:
            cpus = _cpus(evidence.get("where"), hosts)
            found.append(text.format(_of_cpus(most, cpus) if key in _OF_CPUS else words.percent(min(most, 1.0))))
    return f"the machine was busy ({'; '.join(found)})" if found else ""


def _cpus(where: object, hosts: Mapping[str, Description]) -> int | None:
    """How many CPUs the host has; where the name is none of a host's (an end is called by its role), what all have."""
    counts = {name: facts.cpus for name, facts in hosts.items()}
    return counts.get(str(where)) or (next(iter(counts.values())) if len(set(counts.values())) == 1 else None)


def _of_cpus(used: float, cpus: int | None) -> str:
    """`0.60 of 2 CPUs`; counters of two moments are read one after the other, so that the sum may exceed what there is."""
    if cpus is None:
        return f"{words.factor(used)} CPUs"
    return f"{words.factor(min(used, cpus))} of {words.count(cpus, 'CPU')}"


def _medians(cells: Sequence[CellSummary], groups: int) -> list[str]:
    known = [(c, of.median) for c in sorted(cells, key=by_median) if (of := c.distribution) and of.median is not None]
    if groups > 1 or len({cell.stack_label for cell, _ in known}) < len(known) or not known:
        return ["What was seen of each stack stands in the table."] if known else []
    listed = [f"{cell.stack_label} {words.ms(median)}" for cell, median in known]
    more = [f"{len(listed) - _MOST_MEDIANS:,} more in the table"] if len(listed) > _MOST_MEDIANS else []
    return [f"The measured medians are: {words.listed([*listed[:_MOST_MEDIANS], *more])}."]


def _advice(
    asked: Sequence[Comparison],
    comparisons: Sequence[Comparison],
    cells: Sequence[CellSummary],
    loud: str,
    matters: float,
) -> str:
    """How many repeats settle it: the number that `orch plan` gives for this run's spread and its comparisons."""
    open_ones = [c for c in asked if c.standing == "not resolved"]
    planned = max([len(c.by_block) for c in asked] + [cell.planned_trials for cell in cells])
    if not open_ones and planned >= FEWEST_BLOCKS:
        return "More blocks alone will not settle it: fix that first."
    if open_ones and all(_is_within_control(c, matters) for c in open_ones):
        return "To narrow it, measure on a quieter machine: stacks must differ by more than the reference does from itself."
    if loud and planned < FEWEST_BLOCKS:
        return f"Measure it again on a quiet machine, with more blocks: `--set repeats={_FEW_BLOCKS}`."
    if loud:
        return "Measure it again on a quiet machine; from a busy one nobody can tell how many repeats that takes."
    compared = sum(1 for c in comparisons if c.statistic == "median" and not c.control)
    needed = power.repeats_to_settle(matters, power.spread_of(comparisons) or power.DEFAULT_SD, compared=compared)
    if needed is None or needed > _MOST_REPEATS:
        reach = f"more than {power.MOST_BLOCKS:,}" if needed is None else f"{needed:,}"
        return (
            f"To narrow it, use a quieter machine or longer trials, or let only a larger difference matter (`matters`): at "
            f"this spread it would take {reach} repeats to settle it."
        )
    if needed <= planned:
        return (
            f"To narrow it, measure more blocks: `--set repeats={2 * planned}`. At this spread {needed} are usually "
            f"enough where stacks are equal or differ by {words.margin(matters)} or more; differences in between take more."
        )
    return f"To settle it (four times in five, at this spread), measure more blocks: `--set repeats={needed}`."
