"""Why a run, or part of it, cannot answer: checks that failed, other programs that took the CPUs, an end before its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.analysis import unresolved, validity, words
from orchestrator.analysis.check_result import Overloaded
from orchestrator.analysis.conclusion.plain import fitting, named, some
from orchestrator.analysis.overloads import clause as overload_clause
from orchestrator.analysis.overloads import overloads
from orchestrator.analysis.summary import CellSummary, RunSummary
from orchestrator.results.manifest import is_shared

_MOST_LETTERS = 150  # of whose checks failed

# From which share on noise is so loud that no figure is worth a sentence, and how it is said. In CPUs, or of the time.
_OF_CPUS = {"steal": (0.10, "the hypervisor took {} away"), "foreign": (0.50, "other programs took {}")}
_OF_TIME = {
    "throttled": (0.10, "a CPU quota stopped it for {} of the time"),
    "pressure": (0.40, "something waited for a CPU that others used for {} of the time"),
}


@dataclass(frozen=True)
class Noise:
    """What else the machine did, as a clause; `is_bad` where that leaves no answer. Empty of a quiet one."""

    text: str = ""
    is_bad: bool = False


def noise(summary: RunSummary, compared: set[str]) -> Noise:
    """By the check *noise*: what a third of the trials of a compared cell reached at least."""
    if is_shared(summary.warnings):
        return Noise("another measurement ran on this machine at the same time", is_bad=True)
    found: list[tuple[float, str]] = []
    labels = {cell.id: cell.stack_label for cell in summary.cells}
    for check in summary.checks:
        if (
            check.name != "noise"
            or check.cell not in compared
            or not isinstance(check.evidence.get("in_a_third"), dict)
        ):
            continue
        reached = check.evidence["in_a_third"]
        for key, (limit, text) in (_OF_CPUS | _OF_TIME).items():
            if (share := float(reached.get(key) or 0.0)) >= limit:
                amount = _of_cpus(share) if key in _OF_CPUS else words.percent(min(share, 1.0))
                while_ = f" while {named(labels[str(check.cell)])} was measured"
                found.append((share / limit, f"{text.format(amount)}{while_}"))
    if found:
        return Noise(max(found)[1], is_bad=True)
    loud = unresolved.busy(summary.checks, {}, compared)
    return Noise(loud)


def _of_cpus(share: float) -> str:
    """`half of a CPU`, `0.7 of a CPU`, `1.5 CPUs`."""
    if abs(share - 0.5) < 0.05:
        return "half of a CPU"
    return f"{share:.1f} of a CPU" if share < 0.95 else "a CPU" if share < 1.05 else f"{share:.1f} CPUs"


@dataclass(frozen=True)
class Failed:
    """What failed checks leave out. `text` names it as a clause; `left_out` is a sentence to follow the answer.

    `is_everywhere`: no comparison is valid, or without comparisons no cell. `is_checked`: something other than overload.
    """

    is_everywhere: bool
    is_checked: bool
    text: str
    left_out: str
    overloads: tuple[Overloaded, ...]


def failed(summary: RunSummary) -> Failed | None:
    """Return what failed checks of this run leave out; None where none failed."""
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    if not invalid:
        return None
    over = overloads(summary.cells, summary.checks)
    overloaded = {cell.cell for cell in over}
    checked = {cell: names for cell, names in invalid.items() if cell not in overloaded}
    clauses = [text for text in (overload_clause(over), _checked(summary.cells, checked)) if text]
    compared = [c for c in summary.comparisons if not c.control]
    valid = [c for c in compared if c.cell not in invalid and c.reference_cell not in invalid]
    missing = {c.cell for c in compared if c.cell not in invalid and c.reference_cell in invalid}
    missing -= {cell for c in valid for cell in (c.cell, c.reference_cell)}
    if missing:
        clauses.append(
            f"{words.count(len(missing), 'other measurement')} of these settings cannot be compared without it"
        )
    text = "; ".join(clauses[:-1] if missing else clauses)
    return Failed(
        is_everywhere=not valid if compared else validity.is_everywhere(summary.cells, invalid),
        is_checked=bool(checked),
        text=text,
        left_out=fitting(f"Left out: {'; '.join(clauses)}.", f"Left out: {text}."),
        overloads=over,
    )


def _checked(cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> str:
    """Which checks failed for which stacks, as a clause; empty where none did."""
    if not invalid:
        return ""
    checks = list(dict.fromkeys(name for names in invalid.values() for name in names))
    stacks = list(dict.fromkeys(cell.stack_label for cell in cells if cell.id in invalid))
    measured = sum(1 for cell in cells if cell.distribution or cell.id in invalid)
    is_in_part = not all(cell.id in invalid for cell in cells if cell.stack_label in stacks)
    where = f" in {len(invalid)} of {words.count(measured, 'measurement')}" if is_in_part else ""
    noun = "check" if len(checks) == 1 else "checks"
    return fitting(
        f"the {noun} {some([f'“{name}”' for name in checks], 3)} failed for {some(stacks, 3)}{where}",
        f"{words.count(len(checks), 'check')} failed for {words.count(len(stacks), 'stack')}{where}",
        most=_MOST_LETTERS,
    )


def cut(summary: RunSummary) -> str:
    """That the run ended before its time, as a clause; empty where it has all that was planned."""
    made = sum(len(cell.trials) + cell.failed_trials for cell in summary.cells)
    planned = sum(cell.planned_trials for cell in summary.cells)
    if summary.state == "complete" or made >= planned:
        return ""
    return f"it was interrupted after {made:,} of {words.count(planned, 'trial')}"
