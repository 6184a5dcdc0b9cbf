"""Checks in the order in which a sceptic wants them: what failed, what warns, what is undecided, what passed, the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.analysis.check_result import CheckResult, CheckVerdict
from orchestrator.analysis.counts import WORST_FIRST as ORDER
from orchestrator.analysis.counts import counts
from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.words import count

QUIET: tuple[CheckVerdict, ...] = ("pass", "not applicable")  # nothing to be done about these


@dataclass(frozen=True, kw_only=True)
class CheckGroup:
    """All results of one check over a run; `verdict` is the worst of them.

    `actions` says what to do about those that did not pass, each advice once.
    """

    name: str
    verdict: CheckVerdict
    counts: tuple[tuple[CheckVerdict, int], ...]
    results: tuple[CheckResult, ...]
    actions: tuple[str, ...]


def check_groups(summary: RunSummary) -> tuple[CheckGroup, ...]:
    """The run's checks by name, worst first, and worst first within each."""
    by_name: dict[str, list[CheckResult]] = {}
    for check in summary.checks:
        by_name.setdefault(check.name, []).append(check)
    groups = [_group(name, checks) for name, checks in by_name.items()]
    return tuple(sorted(groups, key=lambda group: ORDER.index(group.verdict)))


def failed(summary: RunSummary) -> tuple[CheckResult, ...]:
    """The checks that make numbers of the run invalid: the reason for banner and watermark."""
    return tuple(check for check in summary.checks if check.verdict == "fail")


def failed_in_words(summary: RunSummary) -> str:
    """`2 checks failed in 4 cells`: each check once, as in every other count of them."""
    results = failed(summary)
    cells = {result.cell for result in results if result.cell}
    text = f"{count(counts(results)['fail'], 'check')} failed"
    return f"{text} in {count(len(cells), 'cell')}" if cells else text


def shown_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a check for people, who count trials from one; JSON holds their indexes, from zero."""
    found = dict(evidence)
    if isinstance(index := found.get("trial"), int):
        found["trial"] = index + 1
    if isinstance(indexes := found.get("trials"), list | tuple):
        found["trials"] = [index + 1 for index in indexes]
    return found


def _group(name: str, checks: list[CheckResult]) -> CheckGroup:
    ordered = sorted(checks, key=lambda check: ORDER.index(check.verdict))
    found = Counter(check.verdict for check in checks)
    return CheckGroup(
        name=name,
        verdict=ordered[0].verdict,
        counts=tuple((verdict, found[verdict]) for verdict in ORDER if found[verdict]),
        results=tuple(ordered),
        actions=tuple(dict.fromkeys(check.action for check in ordered if check.verdict not in QUIET and check.action)),
    )
