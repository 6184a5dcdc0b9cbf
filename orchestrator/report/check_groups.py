"""Checks as a page shows them: by name, the worst first; and what no reader of a page may miss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.experiment.providers import PROVIDERS
from orchestrator.findings.check_result import WORST_FIRST as ORDER
from orchestrator.findings.check_result import CheckResult, CheckVerdict, counts
from orchestrator.findings.summary import RunSummary
from orchestrator.findings.validity import invalid_cells, is_everywhere
from orchestrator.quantities import count, listed
from orchestrator.wording.checks.sentences import action

QUIET: tuple[CheckVerdict, ...] = ("pass", "not applicable")  # nothing to be done about these
_MOST_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class CheckGroup:
    """All results of one check over a run; `verdict` is the worst of them.

    `actions` are what to do about those that did not pass, each advice once.
    """

    name: str
    verdict: CheckVerdict
    counts: tuple[tuple[CheckVerdict, int], ...]
    results: tuple[CheckResult, ...]
    actions: tuple[str, ...]


def check_groups(summary: RunSummary) -> tuple[CheckGroup, ...]:
    """Return the run's checks by name, worst first, and worst first within each."""
    by_name: dict[str, list[CheckResult]] = {}
    for check in summary.checks:
        by_name.setdefault(check.name, []).append(check)
    groups = [_group(name, checks) for name, checks in by_name.items()]
    return tuple(sorted(groups, key=lambda group: ORDER.index(group.verdict)))


def _group(name: str, checks: list[CheckResult]) -> CheckGroup:
    ordered = sorted(checks, key=lambda check: ORDER.index(check.verdict))
    by_verdict = Counter(check.verdict for check in checks)
    return CheckGroup(
        name=name,
        verdict=ordered[0].verdict,
        counts=tuple((verdict, by_verdict[verdict]) for verdict in ORDER if by_verdict[verdict]),
        results=tuple(ordered),
        actions=tuple(dict.fromkeys(action(check) for check in ordered if check.verdict not in QUIET)),
    )


def failed(summary: RunSummary) -> tuple[CheckResult, ...]:
    """Return the checks that make numbers of the run invalid: the reason for banner and watermark."""
    return tuple(check for check in summary.checks if check.verdict == "fail")


def shown_evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a check for people, who count trials from one; JSON holds their indexes, from zero."""
    shown = dict(evidence)
    if isinstance(index := shown.get("trial"), int):
        shown["trial"] = index + 1
    if isinstance(indexes := shown.get("trials"), list | tuple):
        shown["trials"] = [index + 1 for index in indexes]
    return shown


def marks(summary: RunSummary) -> tuple[str, ...]:
    """Return what is above everything else, a clause each: an emulated distance, failed checks."""
    return tuple(text for text in (_distance(summary), _failures(summary)) if text)


def _distance(summary: RunSummary) -> str:
    """That the network between the ends was emulated on one machine, and how long its round trips are."""
    provider = PROVIDERS[summary.plan.provider]
    links = {place.name: place.link.rtt_ms for place in summary.plan.placements if place.kind != "local"}
    if not (links and provider.makes_hosts and provider.hosts_are_this_machine):
        return ""
    return (
        f"Emulated distance, no real network: {_first([n if r is None else f'{n} {r:g} ms' for n, r in links.items()])}"
    )


def _failures(summary: RunSummary) -> str:
    results = failed(summary)
    if not results:
        return ""
    cells = {result.cell for result in results if result.cell}
    where = f" in {count(len(cells), 'cell')}" if cells else ""
    names = _first(list(dict.fromkeys(result.name for result in results)))
    invalid = invalid_cells(summary.cells, summary.checks)
    which = "all numbers are invalid" if is_everywhere(summary.cells, invalid) else "some numbers are invalid"
    which = f": {which}" if invalid else ""
    return f"{count(counts(results)['fail'], 'check')} failed{where} ({names}){which}"


def _first(names: list[str]) -> str:
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return listed([*names[:_MOST_NAMED], *more])
