"""What else ran on the machine during a run, by the counters that the check `noise` read."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.analysis.check_result import CheckResult
from orchestrator.analysis.summary import RunSummary
from orchestrator.results.manifest import is_shared

SHARED = "shared"
"""Another measurement ran at the same time."""

LIMITS: Mapping[str, float] = {
    "steal": 0.05,  # CPUs that the hypervisor took
    "foreign": 0.25,  # CPUs that other programs used
    "throttled": 0.05,  # share of the time that a CPU quota stopped it
    "pressure": 0.20,  # share of the time that something waited for a CPU
    "inside": 0.25,  # share of a host's quota that other programs in it used
}
"""From where on a counter may be why blocks differ."""


@dataclass(frozen=True)
class Disturbance:
    """A counter above its limit, by its name, and the most that it was: CPUs, or a share of the time."""

    kind: str
    most: float = 0.0


def disturbances(
    checks: Sequence[CheckResult], compared: Container[str | None], *, is_shared: bool = False
) -> tuple[Disturbance, ...]:
    """Return what was loud in a third of the trials of a compared cell: a single trial makes no interval wide."""
    seen = [check.evidence for check in checks if check.name == "noise" and check.cell in compared]
    loud = [Disturbance(SHARED)] if is_shared else []
    for kind, limit in LIMITS.items():
        often = [evidence for evidence in seen if evidence.get("in_a_third", {}).get(kind, 0.0) > limit]
        most = max((evidence.get(kind) or 0.0 for evidence in often), default=0.0)
        loud += [Disturbance(kind, most)] if most > limit else []
    return tuple(loud)


def of_run(summary: RunSummary, compared: Container[str | None]) -> tuple[Disturbance, ...]:
    """Return the disturbances of the compared cells of a run."""
    return disturbances(summary.checks, compared, is_shared=is_shared(summary.warnings))
