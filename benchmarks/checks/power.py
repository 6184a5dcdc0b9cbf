"""The smallest error of each kind that its check finds nine times in ten."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.checks.fault import Fault
from benchmarks.checks.realistic import clean_run
from benchmarks.checks.refereed import beside
from orchestrator.checks import CHECKS
from orchestrator.checks.base import Check, rank, worst
from orchestrator.evidence.collect import collect
from orchestrator.findings.check_result import CheckVerdict
from orchestrator.results.folder import RunFolder

NINE_IN_TEN = 0.9
RUNS = 20
_ANOTHER = 10_000  # seeds further


@dataclass(frozen=True, kw_only=True)
class Tried:
    """How often an error of this size was found."""

    size: float
    found: int
    runs: int

    @property
    def is_enough(self) -> bool:
        """Nine times in ten."""
        return self.found >= NINE_IN_TEN * self.runs


@dataclass(frozen=True, kw_only=True)
class Power:
    """What came of one fault: the sizes tried, ascending, and the smallest that is found; None where none is."""

    check: str
    what: str
    smallest: str | None
    largest_tried: str
    tried: tuple[Tried, ...]


def existing(faults: tuple[Fault, ...]) -> list[Fault]:
    """Those whose check this version has."""
    names = {check.name for check in CHECKS}
    return [fault for fault in faults if fault.check in names]


def measure(fault: Fault, *, runs: int = RUNS, seed: int = 1) -> Power:
    """Larger and larger errors, until one is found nine times in ten, by itself and one size beyond."""
    check = next(check for check in CHECKS if check.name == fault.check)
    tried: list[Tried] = []
    for size in fault.sizes:
        tried.append(_try(check, fault, size, runs, seed))
        if len(tried) > 1 and tried[-1].is_enough and tried[-2].is_enough:
            break
    enough = _first_of_those_that_stay(tried)
    return Power(
        check=fault.check,
        what=fault.what,
        smallest=None if enough is None else fault.told(enough.size),
        largest_tried=fault.told(tried[-1].size),
        tried=tuple(tried),
    )


def _first_of_those_that_stay(tried: list[Tried]) -> Tried | None:
    """The smallest size from which on all are found: an error that is found by chance once is not found."""
    smallest = None
    for trial in reversed(tried):
        if not trial.is_enough:
            break
        smallest = trial
    return smallest


def _try(check: Check, fault: Fault, size: float, runs: int, seed: int) -> Tried:
    found = 0
    for made in range(1, runs + 1):
        found += rank(verdict(check, fault, size, seed + made)) >= rank(fault.found)
        if found + runs - made < NINE_IN_TEN * runs:
            return Tried(size=size, found=found, runs=made)  # it cannot become nine in ten any more
    return Tried(size=size, found=found, runs=runs)


def verdict(check: Check, fault: Fault, size: float, seed: int) -> CheckVerdict:
    """The gravest verdict of the check on a run in which every trial has this error."""
    source = np.random.default_rng((seed, 11))
    run = clean_run(seed, spoil=lambda draft: fault.inject(draft, size, source), **fault.planned(size))
    if fault.is_refereed:
        run = beside(run, clean_run(seed + _ANOTHER, **fault.planned(size)))
    return judged(check, run)


def judged(check: Check, run: RunFolder) -> CheckVerdict:
    """The gravest verdict of one check, the others left out."""
    evidence = collect(run, {check.name: check.observe} if check.observe else {})
    findings = [worst(check.judge_last(evidence, ()))] if check.judge_last else []
    findings += [check.judged(cell, evidence) for cell in evidence.cells if cell.trials]
    return max((finding.verdict for finding in findings if finding), key=rank, default="pass")


def document(power: Power) -> dict[str, object]:
    """As it is kept."""
    return asdict(power)
