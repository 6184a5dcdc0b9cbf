"""Why a run, or part of it, cannot answer: checks that failed, noise that resolves nothing, an end before its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from orchestrator import quantities
from orchestrator.findings import validity
from orchestrator.findings.check_result import CheckResult, CheckVerdict, Overload, counts
from orchestrator.findings.ranking import Ranking
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.findings.validity import Disturbance
from orchestrator.statistics.terms import ReasonKind
from orchestrator.wording.phrasing import fitting, some

_MOST_LETTERS = 150  # of whose checks failed
_UNITS = {"stream": "events/s", "task": "tasks/s"}  # everything else is requests
_DECIDED = {"faster", "slower", "tie"}
_LOUD: Mapping[str, str] = {
    "shared": "shared with another measurement",
    "steal": "the hypervisor took up to {cpus} CPUs away",
    "foreign": "other programs used up to {cpus} CPUs",
    "throttled": "a CPU quota stopped it for up to {share} of the time",
    "pressure": "a process had to wait for a CPU up to {share} of the time",
}

_VERDICTS: Mapping[CheckVerdict, tuple[str, str]] = {
    "fail": ("failed", "failed"),
    "pass": ("passed", "passed"),
    "not applicable": ("does not apply", "do not apply"),
    "warn": ("warning", "warnings"),
    "cannot tell": ("undecided", "undecided"),
}

Overloads: TypeAlias = list[tuple[CellSummary, Overload]]


def verdicts(checks: Sequence[CheckResult]) -> str:
    """Return how many checks came to which verdict: `14 passed, 3 do not apply, 2 warnings`; empty without any."""
    counted = counts(checks)
    shown = ((counted[verdict], words) for verdict, words in _VERDICTS.items() if counted[verdict])
    return ", ".join(f"{number} {singular if number == 1 else plural}" for number, (singular, plural) in shown)


def loud(disturbances: Sequence[Disturbance]) -> str:
    """Return what else ran, as a clause; empty where nothing did."""
    texts = [
        _LOUD[each.kind].format(cpus=quantities.factor(each.most), share=quantities.percent(min(each.most, 1.0)))
        for each in disturbances
    ]
    return f"the machine was busy ({'; '.join(texts)})" if texts else ""


def noise(rankings: Sequence[Ranking], disturbances: Sequence[Disturbance]) -> str:
    """Return why nothing is resolved, where that is because others held up the trials, as a clause; empty else."""
    members = [member for ranking in rankings for member in ranking.members]
    standings = {member.standing for member in members}
    if standings & _DECIDED or "not resolved" not in standings:
        return ""
    if disturbances:
        return loud(disturbances)
    unequal = any(member.reason and member.reason.kind is ReasonKind.DISTURBED for member in members)
    return "others held up the compared sides unequally" if unequal else ""


@dataclass(frozen=True)
class Failed:
    """What failed checks leave out. `text` names it as a clause; `left_out` is a sentence to follow the answer.

    `is_everywhere`: no comparison is valid, or without comparisons no cell.
    """

    is_everywhere: bool
    text: str

    @property
    def left_out(self) -> str:
        """The sentence."""
        return fitting(f"Measurements left out: {self.text}.")


def failed(summary: RunSummary) -> Failed | None:
    """Return what failed checks of this run leave out; None where none failed."""
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    if not invalid:
        return None
    over = _overloads(summary.cells, summary.checks)
    overloaded = {cell.id for cell, _ in over}
    checked = {cell: names for cell, names in invalid.items() if cell not in overloaded}
    clauses = [text for text in (_overloaded(over), _checked(summary.cells, checked)) if text]
    compared = [c for c in summary.comparisons if not c.control]
    valid = [c for c in compared if c.cell not in invalid and c.reference_cell not in invalid]
    return Failed(
        is_everywhere=not valid if compared else validity.is_everywhere(summary.cells, invalid),
        text="; ".join(clauses),
    )


def _checked(cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> str:
    if not invalid:
        return ""
    checks = list(dict.fromkeys(name for names in invalid.values() for name in names))
    stacks = list(dict.fromkeys(cell.labels.stack for cell in cells if cell.id in invalid))
    measured = sum(1 for cell in cells if cell.distribution or cell.id in invalid)
    is_in_part = not all(cell.id in invalid for cell in cells if cell.labels.stack in stacks)
    where = f" in {len(invalid)} of {quantities.count(measured, 'measurement')}" if is_in_part else ""
    noun = "check" if len(checks) == 1 else "checks"
    return fitting(
        f"the {noun} {some([f'“{name}”' for name in checks], 3)} failed for {some(stacks, 3)}{where}",
        f"{quantities.count(len(checks), 'check')} failed for {quantities.count(len(stacks), 'stack')}{where}",
        most=_MOST_LETTERS,
    )


def _overloaded(over: Overloads) -> str:
    """Return `graphqlws does not keep up with 5,000 events/s here (3,650 delivered)`; empty where all keep up."""
    if not over:
        return ""
    labels = list(dict.fromkeys(cell.labels.stack for cell, _ in over))
    rates = sorted({overload.planned_per_s for _, overload in over})
    shown = " to ".join(map(quantities.rate, dict.fromkeys((rates[0], rates[-1]))))
    delivered = over[0][1].delivered_per_s if len(over) == 1 else None
    came = "" if delivered is None else f" ({quantities.rate(delivered)} delivered)"
    verb = "does" if len(labels) == 1 else "do"
    return f"{some(labels, 3)} {verb} not keep up with {shown} {_UNITS.get(over[0][0].kind, 'requests/s')} here{came}"


def waiting(summary: RunSummary) -> str:
    """Return, as a clause, the stacks whose every request waits for a known cause; empty without one."""
    waits = {check.cell for check in summary.checks if any(point.kind == "all-wait" for point in check.points)}
    labels = list(dict.fromkeys(cell.labels.stack for cell in summary.cells if cell.id in waits))
    text = f"every request of {some(labels, 3)} waits, and not for work: `latency modes` of `orch runs check` has the cause"
    return text if labels else ""


def interrupted(summary: RunSummary) -> str:
    """Return that the run ended before its time, as a clause; empty where it has all that was planned."""
    trials = sum(len(cell.trials) + cell.counts.failed_trials for cell in summary.cells)
    planned = sum(cell.counts.planned_trials for cell in summary.cells)
    if summary.run.state == "complete" or trials >= planned:
        return ""
    return f"it was interrupted after {trials:,} of {quantities.count(planned, 'trial')}"


def invalid_numbers(summary: RunSummary) -> str:
    """Return what failed checks mean for the numbers, in a sentence; empty where none failed."""
    names = ", ".join(dict.fromkeys(check.name for check in summary.checks if check.verdict == "fail"))
    if not names:
        return ""
    invalid, which = validity.invalid_cells(summary.cells, summary.checks), "These numbers"
    if invalid and not validity.is_everywhere(summary.cells, invalid):
        measured = sum(1 for cell in summary.cells if cell.distribution or cell.id in invalid)
        which = f"The numbers of {len(invalid)} of {measured} cells"
    return f"{which} are invalid: {names} failed (see the checks)."


def _overloads(cells: Sequence[CellSummary], checks: Sequence[CheckResult]) -> Overloads:
    """The cells whose planned rate was not carried, and that no other check invalidates, in their order."""
    failures: dict[str | None, list[CheckResult]] = {}
    for check in checks:
        if check.verdict == "fail" and check.severity != "note":
            failures.setdefault(check.cell, []).append(check)
    if None in failures:
        return []
    return [
        (cell, min(known, key=lambda overload: overload.delivered_per_s is None))
        for cell in cells
        if (known := [check.overload for check in failures.get(cell.id, ()) if check.overload])
        and len(known) == len(failures[cell.id])
    ]
