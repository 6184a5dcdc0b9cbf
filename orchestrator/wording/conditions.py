"""Under which conditions a run was measured, and what its checks came to, in one line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orchestrator import quantities
from orchestrator.experiment.plan.contrasts import languages_of_stacks
from orchestrator.findings.check_result import CheckResult, CheckVerdict, by_check, counts, in_words
from orchestrator.findings.grid import Distances
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.wording.where import name_of_place

_MOST_CHECKS = 4
_WORDS: Mapping[CheckVerdict, str] = {"fail": "Failed", "warn": "Warnings"}
_MOST = 4  # values of one kind; of more the first and the last


def conditions(summary: RunSummary) -> str:
    """Return machine, system, runtime, places, requests in flight and repeats: `2 CPUs AMD EPYC (virtual machine), ...`."""
    return " · ".join(filter(None, _parts(summary)))


def checks_line(checks: Sequence[CheckResult]) -> str:
    """Return how many checks came to which verdict, then which failed and which warn."""
    if not checks:
        return "Checks: none were run."
    verdicts = by_check(checks)
    texts = [f"{in_words(counts(checks))}."]
    for verdict, word in _WORDS.items():
        if names := [name for name, each in verdicts.items() if each == verdict]:
            shown = names[:_MOST_CHECKS] + ([f"{len(names) - _MOST_CHECKS} more"] if len(names) > _MOST_CHECKS else [])
            texts.append(f"{word}: {quantities.listed(shown)}.")
    return f"Checks: {' '.join(texts)}"


def _parts(summary: RunSummary) -> Iterator[str]:
    known = dict(summary.conditions)
    machine = " ".join(filter(None, (known.get("CPUs", "") and f"{known['CPUs']}×", known.get("CPU", ""))))
    virtual = known.get("Virtualisation", "")
    yield f"{machine} ({virtual.split(',')[0]})" if machine and virtual else machine
    yield known.get("System", "")
    languages = dict.fromkeys(each for ends in languages_of_stacks(summary.plan).values() for each in ends)
    yield ", ".join(known.get(language, language) for language in languages)
    distances = Distances.of(summary.plan)
    places = [name_of_place(distances, cell) for cell in summary.cells if cell.kind != "codec"]
    yield _several(places)
    yield "" if CAPACITY.of(summary).rates else _several([cell.load for cell in summary.cells])
    repeats = max((len(cell.trials) for cell in summary.cells), default=0)
    yield quantities.count(repeats, "repeat") if repeats else ""


def _several(texts: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    return ", ".join(distinct) if len(distinct) <= _MOST else f"{distinct[0]} … {distinct[-1]}"
