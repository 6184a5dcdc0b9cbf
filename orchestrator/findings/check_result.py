"""What a check found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

CheckVerdict = Literal["pass", "not applicable", "cannot tell", "warn", "fail"]


@dataclass(frozen=True, kw_only=True)
class Overload:
    """A rate above what was carried, per second of the whole cell; `delivered_per_s` None: not counted."""

    planned_per_s: float
    delivered_per_s: float | None


@dataclass(frozen=True, kw_only=True)
class Point:
    """One thing that a check found: its kind, which `wording.checks` has the words of, and values beside the evidence."""

    kind: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """A named test of the run's validity. `cell` is None for a check of the whole run.

    `points`: what was found, in the order in which it is worded. `overload`: a failure with no other cause than a rate
    that is too high, which is a finding about the stack.
    """

    name: str
    verdict: CheckVerdict
    severity: Literal["fatal", "serious", "note"]
    cell: str | None
    evidence: dict[str, Any]
    points: tuple[Point, ...]
    overload: Overload | None = None


WORST_FIRST: tuple[CheckVerdict, ...] = ("fail", "warn", "cannot tell", "pass", "not applicable")


def by_check(results: Iterable[CheckResult]) -> dict[str, CheckVerdict]:
    """Each check's worst verdict, in the order in which the checks came."""
    worst: dict[str, CheckVerdict] = {}
    for result in results:
        worst[result.name] = min(worst.get(result.name, result.verdict), result.verdict, key=WORST_FIRST.index)
    return worst


def counts(results: Iterable[CheckResult]) -> dict[CheckVerdict, int]:
    """How many checks got each verdict as their worst, every verdict named."""
    counted = Counter(by_check(results).values())
    return {verdict: counted[verdict] for verdict in WORST_FIRST}
