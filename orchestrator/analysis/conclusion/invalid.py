"""Why a run, or part of it, cannot answer: checks that failed, noise that resolves nothing, an end before its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.analysis import unresolved, validity, words
from orchestrator.analysis.check_result import Overloaded
from orchestrator.analysis.conclusion.arena import Arena
from orchestrator.analysis.conclusion.plain import fitting, some
from orchestrator.analysis.overloads import clause as overload_clause
from orchestrator.analysis.overloads import overloads
from orchestrator.analysis.summary import CellSummary, RunSummary

_MOST_LETTERS = 150  # of whose checks failed


def noise(arenas: Sequence[Arena], busy: str) -> str:
    """Why a run resolves nothing, where that is because others held up its trials, as a clause; empty else.

    `busy`: what else the machine did (`unresolved.busy`).
    """
    members = [member for arena in arenas for member in arena.members]
    standings = {member.standing for member in members}
    if standings & {*unresolved.DECIDED} or "not resolved" not in standings:
        return ""
    if busy:
        return busy
    unequal = any(member.reason == "disturbed unequally" for member in members)
    return "others held up the compared sides unequally" if unequal else ""


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
