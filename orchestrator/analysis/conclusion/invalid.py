"""Why a run, or part of it, cannot answer: checks that failed, noise that resolves nothing, an end before its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.analysis import unresolved, validity, words
from orchestrator.analysis.conclusion.arena import Arena
from orchestrator.analysis.conclusion.plain import some
from orchestrator.analysis.summary import RunSummary

_MOST_LETTERS = 100  # of whose checks failed: the answer of the others stands behind it


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
    """The checks that failed: whether they leave nothing, a clause that says it, and what becomes of what they name."""

    cells: frozenset[str]
    is_everywhere: bool
    is_in_part: bool  # some of what was measured of a stack, and not all
    text: str
    left_out: str  # `which is left out`


def failed(summary: RunSummary, arenas: Sequence[Arena]) -> Failed | None:
    """What failed checks of this run forbid; None where none does."""
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    if not invalid:
        return None
    checks = list(dict.fromkeys(name for names in invalid.values() for name in names))
    by_id = {cell.id: cell for cell in summary.cells}
    stacks = list(dict.fromkeys(by_id[cell].stack_label for cell in invalid))
    is_everywhere = validity.is_everywhere(summary.cells, invalid) or (
        bool(arenas) and not any(arena.tiers for arena in arenas)
    )
    measured = sum(1 for cell in summary.cells if cell.distribution or cell.id in invalid)
    is_in_part = not all(cell.id in invalid for cell in summary.cells if cell.stack_label in stacks)
    where = f" in {len(invalid)} of {words.count(measured, 'measurement')}" if is_in_part else ""
    noun = "check" if len(checks) == 1 else "checks"
    text = f"the {noun} {some([f'“{name}”' for name in checks], 3)} failed for {some(stacks, 3)}{where}"
    if len(text) > _MOST_LETTERS:
        text = f"{words.count(len(checks), 'check')} failed for {words.count(len(stacks), 'stack')}{where}"
    is_one = len(invalid if is_in_part else stacks) == 1  # of measurements, or of stacks
    left_out = "which is left out" if is_one else "which are left out"
    return Failed(frozenset(invalid), is_everywhere, is_in_part, text, left_out)


def cut(summary: RunSummary) -> str:
    """That the run ended before its time, as a clause; empty where it has all that was planned."""
    made = sum(len(cell.trials) + cell.failed_trials for cell in summary.cells)
    planned = sum(cell.planned_trials for cell in summary.cells)
    if summary.state == "complete" or made >= planned:
        return ""
    return f"it was interrupted after {made:,} of {words.count(planned, 'trial')}"
