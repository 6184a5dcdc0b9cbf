"""Why a run, or part of it, cannot answer: checks that failed, noise that resolves nothing, an end before its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from orchestrator import quantities
from orchestrator.experiment.model.factors import STACK, phrases
from orchestrator.findings import validity
from orchestrator.findings.check_result import CheckResult, Overload
from orchestrator.findings.ranking import Ranking
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.findings.validity import Disturbance
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.statistics.terms import ReasonKind
from orchestrator.wording.phrasing import fitting, some

_MOST_LETTERS = 150  # of whose checks failed
_MOST_NAMED = 3
_UNITS = {"stream": "events/s", "task": "tasks/s"}  # everything else is requests
_DECIDED = {"faster", "slower", "tie"}
_LOUD: Mapping[str, str] = {
    validity.SHARED: "shared with another measurement",
    "steal": "the hypervisor took up to {cpus} CPUs away",
    "foreign": "other programs used up to {cpus} CPUs",
    "throttled": "a CPU quota stopped it for up to {share} of the time",
    "pressure": "something waited for a CPU that others used for up to {share} of the time",
}

Overloads: TypeAlias = list[tuple[CellSummary, Overload]]


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
    left_out: str


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
    missing = {c.cell for c in compared if c.cell not in invalid and c.reference_cell in invalid}
    missing -= {cell for c in valid for cell in (c.cell, c.reference_cell)}
    without = f"{quantities.count(len(missing), 'other measurement')} of these settings cannot be compared without it"
    text = "; ".join(clauses)
    every = "; ".join((*clauses, *([without] if missing else [])))
    return Failed(
        is_everywhere=not valid if compared else validity.is_everywhere(summary.cells, invalid),
        text=text,
        left_out=fitting(f"Left out: {every}.", f"Left out: {text}."),
    )


def _checked(cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> str:
    """Which checks failed for which stacks, as a clause; empty where none did."""
    if not invalid:
        return ""
    checks = list(dict.fromkeys(name for names in invalid.values() for name in names))
    stacks = list(dict.fromkeys(cell.stack_label for cell in cells if cell.id in invalid))
    measured = sum(1 for cell in cells if cell.distribution or cell.id in invalid)
    is_in_part = not all(cell.id in invalid for cell in cells if cell.stack_label in stacks)
    where = f" in {len(invalid)} of {quantities.count(measured, 'measurement')}" if is_in_part else ""
    noun = "check" if len(checks) == 1 else "checks"
    return fitting(
        f"the {noun} {some([f'“{name}”' for name in checks], 3)} failed for {some(stacks, 3)}{where}",
        f"{quantities.count(len(checks), 'check')} failed for {quantities.count(len(stacks), 'stack')}{where}",
        most=_MOST_LETTERS,
    )


def _overloaded(over: Overloads) -> str:
    """Return `graphqlws does not keep up with 5,000 events/s here (3,650 delivered)`, a clause for each of a few stacks."""
    by_stack: dict[str, Overloads] = {}
    for each in over:
        by_stack.setdefault(each[0].stack_label, []).append(each)
    if len(by_stack) > _MOST_NAMED:
        return f"{len(by_stack)} stacks do not keep up with {_rates(over)}"
    return "; ".join(f"{label} does not keep up with {_rates(members)}" for label, members in by_stack.items())


def _rates(over: Overloads) -> str:
    """The planned rates, and what was delivered of a single one."""
    rates = sorted({overload.planned_per_s for _, overload in over})
    unit = _UNITS.get(over[0][0].kind, "requests/s")
    if len(over) == 1 and (delivered := over[0][1].delivered_per_s) is not None:
        return f"{quantities.rate(rates[0])} {unit} here ({quantities.rate(delivered)} delivered)"
    if len(rates) > _MOST_NAMED:
        return f"{quantities.rate(rates[0])} to {quantities.rate(rates[-1])} {unit} here"
    return f"{quantities.listed([quantities.rate(rate) for rate in rates])} {unit} here"


def interrupted(summary: RunSummary) -> str:
    """Return that the run ended before its time, as a clause; empty where it has all that was planned."""
    trials = sum(len(cell.trials) + cell.failed_trials for cell in summary.cells)
    planned = sum(cell.planned_trials for cell in summary.cells)
    if summary.state == "complete" or trials >= planned:
        return ""
    return f"it was interrupted after {trials:,} of {quantities.count(planned, 'trial')}"


def invalid_numbers(summary: RunSummary) -> str:
    """Return what failed checks mean for the numbers, in a sentence; empty where none failed."""
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    names = ", ".join(dict.fromkeys(check.name for check in summary.checks if check.verdict == "fail"))
    if not names:
        return ""
    if not invalid or validity.is_everywhere(summary.cells, invalid):
        return f"These numbers are invalid: {names} failed (see the checks)."
    measured = [cell for cell in summary.cells if cell.distribution or cell.id in invalid]
    which = [
        f"{cell.stack_label}, {cell.setting} ({', '.join(invalid[cell.id])} failed)"
        for cell in summary.cells
        if cell.id in invalid
    ]
    more = [f"and {len(which) - _MOST_NAMED} more"] if len(which) > _MOST_NAMED else []
    return (
        f"The numbers of {len(invalid)} of {len(measured)} cells are invalid: "
        f"{'; '.join(which[:_MOST_NAMED] + more)}. The other cells are valid."
    )


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


def why_uncompared(cell: CellSummary, summary: RunSummary) -> str:
    """Why nothing is compared with this cell, nor it with anything, as a clause; empty where something is.

    A setting is an operation, a placement, a load and how requests are made.
    """
    if CAPACITY.of(summary).rates:
        return "rates that a search tried are not compared, but the rates that were found"
    if any(cell.id in (comparison.cell, comparison.reference_cell) for comparison in summary.comparisons):
        return ""
    by = [str(contrast["factor"]) for contrast in summary.plan.get("contrasts") or ({"factor": STACK},)]
    if STACK not in by:
        return f"no other cell differs from it in the {' or the '.join(by)} alone"
    reference = _reference(summary)
    if cell.stack == reference:
        subject, others = "no other stack was", [other for other in summary.cells if other.stack != reference]
    else:
        subject, others = "the reference was not", [other for other in summary.cells if other.stack == reference]
    if any(other.place == cell.place for other in others):
        return f"{subject} measured with {quantities.listed(phrases(cell.factors))}"
    return f"{subject} measured in this setting"


def _reference(summary: RunSummary) -> str:
    named = summary.plan.get("reference")
    first = summary.plan.get("stacks") or [{"id": summary.cells[0].stack}]
    return str(named or first[0]["id"])
