"""Whether two runs were made under the same conditions: what forbids comparing, what forbids a verdict, what is named.

`conditions.conditions` says what a run was made under. Another CPU is another experiment. Another CPU governor may be
the whole difference without anybody having meant it. Another kernel or library version may be just what somebody wants
to compare: it is named beside the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.analysis.matching import differing
from orchestrator.analysis.summary import RunSummary

# As `conditions` calls them.
MUST_AGREE = ("Provider", "CPU", "CPUs", "Machine type", "Machine", "CPU pinning")
CONFOUND = ("CPU governor", "Virtualisation", "Clock source", "Memory")
NAMED = ("Kernel", "System", "Python", "orch")


def obstacles(new: RunSummary, old: RunSummary) -> list[str]:
    """Why the two cannot be compared at all."""
    return _conditions(new, old, MUST_AGREE)


def confounders(new: RunSummary, old: RunSummary) -> list[str]:
    """Conditions that differ and that nobody compares on purpose."""
    found = _conditions(new, old, CONFOUND)
    requesters = [run.plan.get("requesters", 1) for run in (new, old)]
    return found + ([f"requesters: {requesters[0]} against {requesters[1]}"] if requesters[0] != requesters[1] else [])


def changes(new: RunSummary, old: RunSummary) -> list[str]:
    """Conditions and versions that differ and may be what is being compared."""
    return [*_conditions(new, old, NAMED), *_versions(new, old)]


def are_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two runs (summaries as plain data) differ in no condition, library version or setting that we know of."""
    names = (*MUST_AGREE, *CONFOUND, *NAMED)
    mine, theirs = ({k: v for k, v in run.get("conditions", ()) if k in names} for run in (one, other))
    return mine == theirs and one.get("settings") == other.get("settings")


def _conditions(new: RunSummary, old: RunSummary, names: Sequence[str]) -> list[str]:
    mine, theirs = ({k: v for k, v in run.conditions if k in names} for run in (new, old))
    return differing(mine, theirs)


def _versions(new: RunSummary, old: RunSummary) -> list[str]:
    found = []
    for stack, mine in new.settings.items():
        theirs: Mapping[str, Any] = old.settings.get(stack, {})
        for end in ("responder_versions", "client_versions"):
            now, then = mine.get(end) or {}, theirs.get(end) or {}
            found += [
                f"{stack}: {package} {then.get(package, 'absent')} -> {now.get(package, 'absent')}"
                for package in sorted(now.keys() | then.keys())
                if theirs and now.get(package) != then.get(package)
            ]
    return sorted(set(found))
