"""What a check found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

CheckVerdict = Literal["pass", "not applicable", "cannot tell", "warn", "fail"]


@dataclass(frozen=True, kw_only=True)
class Overload:
    """A rate above what was carried, per second of the whole cell; `delivered_per_s` None: not counted."""

    planned_per_s: float
    delivered_per_s: float | None


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """A named test of the run's validity. `cell` is None for a check of the whole run.

    `overload`: a failure with no other cause than a rate that is too high, which is a finding about the stack.
    """

    name: str
    verdict: CheckVerdict
    severity: Literal["fatal", "serious", "note"]
    cell: str | None
    evidence: dict[str, Any]
    explanation: str
    action: str
    overload: Overload | None = None


SCHEMA_VERSION = 1

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


def checks_document(results: Iterable[CheckResult]) -> dict[str, Any]:
    """What `orch runs check --json` prints and `checks.json` holds."""
    results = tuple(results)
    return {
        "schema_version": SCHEMA_VERSION,
        "counts": counts(results),
        "checks": [asdict(result) for result in results],
    }
