"""Whether two runs were made under the same conditions: what forbids comparing, what forbids a verdict, what is named.

`evidence.conditions` says what a run was made under. Another CPU is another experiment. Another CPU governor may be
the whole difference without anybody having meant it. Another kernel or library version may be just what somebody wants
to compare: it is named beside the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from orchestrator import quantities
from orchestrator.between_runs.matching import differing
from orchestrator.findings.condition import ConditionKind
from orchestrator.findings.summary import RunSummary

Kinds: TypeAlias = tuple[ConditionKind, ...]

MUST_AGREE: Kinds = ("Provider", "CPU", "CPUs", "Machine type", "Machine", "CPU pinning")
CONFOUND: Kinds = ("CPU governor", "Virtualisation", "Clock source", "Memory")
NAMED: Kinds = ("Kernel", "System", "Python", "orch")
_ANY: Kinds = (*MUST_AGREE, *CONFOUND, *NAMED, "Services", "Programs in")

# What the check `noise` counts, and by how much more of a core or of the time makes two runs unlike one another.
DISTURBANCES = {
    "foreign": ("other processes used a CPU", 0.5),
    "steal": ("the hypervisor took a CPU away", 0.05),
    "throttled": ("the CPU quota stopped it", 0.05),
    "pressure": ("something waited for a CPU that others used", 0.20),  # p99 follows it more than the median does
}

# Of the time, something waited for others' CPU in the worst trial: beyond this the scheduler is what is measured.
OVERLOADED = 0.75


Made = Any
"""A run, as far as it says how it was made, by `conditions` and `settings`: a summary, or what the history keeps of one."""


def obstacles(new: Made, old: Made) -> list[str]:
    """Why the two cannot be compared at all."""
    return _conditions(new, old, MUST_AGREE)


def confounders(new: Made, old: Made) -> list[str]:
    """Conditions that differ and that nobody compares on purpose."""
    return _conditions(new, old, CONFOUND)


def changes(new: Made, old: Made) -> list[str]:
    """Conditions and versions that differ and may be what is being compared."""
    code = [f"the code of both ends differs ({text})" for text in _conditions(new, old, ("Services",))]
    programs = [f"what was built differs ({text})" for text in _conditions(new, old, ("Programs in",))]
    return [*code, *programs, *_conditions(new, old, NAMED), *_versions(new, old), *_unknown(new, old)]


def noises(new: tuple[RunSummary, str], old: tuple[RunSummary, str]) -> list[str]:
    """Where one cell (a run and its cell's id) was disturbed beyond use, or much more than the other, in its worst trial.

    The floor is measured beside a trial, not during it: what ran only during trials shows here and not there.
    """
    mine, theirs = noise_of(*new), noise_of(*old)
    overloaded = [
        f"in {run.run.id} the machine was overloaded: something waited for a CPU that others used for "
        f"{quantities.percent(waited)} of a trial"
        for run, noise in ((new[0], mine), (old[0], theirs))
        if (waited := noise.get("pressure", 0.0)) > OVERLOADED
    ]
    return overloaded + [
        f"conditions differ: {text}, {quantities.percent(mine[key])} against {quantities.percent(theirs[key])}, at worst"
        for key, (text, limit) in DISTURBANCES.items()
        if key in mine and key in theirs and abs(mine[key] - theirs[key]) > limit
    ]


def noise_of(run: RunSummary, cell: str) -> dict[str, float]:
    """By how much each of `DISTURBANCES` disturbed a cell in its worst trial, as far as that was counted."""
    evidence = [check.evidence for check in run.checks if check.name == "noise" and check.cell == cell]
    return {key: float(e[key]) for e in evidence for key in DISTURBANCES if e.get(key) is not None}


def are_alike(first: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two runs (summaries as plain data) differ in no condition, library version or setting that we know of.

    Runs with a responder that orch did not start are never alike: what it was is not known.
    """
    if any("answered_by" in settings for settings in (first.get("settings") or {}).values()):
        return False
    mine, theirs = ([each for each in run.get("conditions", ()) if each["kind"] in _ANY] for run in (first, other))
    return mine == theirs and first.get("settings") == other.get("settings")


def _conditions(new: Made, old: Made, kinds: Kinds) -> list[str]:
    mine, theirs = ({each.title: each.value for each in run.conditions if each.kind in kinds} for run in (new, old))
    return differing(mine, theirs)


def _unknown(new: Made, old: Made) -> list[str]:
    """What answered and was not started by orch, in either run: nobody here knows whether it was the same."""
    given = (
        run.settings[stack] for run in (new, old) for stack in run.settings if "answered_by" in run.settings[stack]
    )
    services = dict.fromkeys(str(settings["answered_by"]) for settings in given)
    return [f"what answered was not started by orch, and may have changed ({'; '.join(services)})"] if services else []


def _versions(new: Made, old: Made) -> list[str]:
    changes = []
    for stack, mine in new.settings.items():
        theirs: Mapping[str, Any] = old.settings.get(stack, {})
        for end in ("responder_versions", "client_versions"):
            now, then = mine.get(end) or {}, theirs.get(end) or {}
            changes += [
                f"{stack}: {package} {then.get(package, 'absent')} -> {now.get(package, 'absent')}"
                for package in sorted(now.keys() | then.keys())
                if now and then and now.get(package) != then.get(package)
            ]
    return sorted(set(changes))
