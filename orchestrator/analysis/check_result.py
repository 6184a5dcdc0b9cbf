"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

CheckVerdict = Literal["pass", "not applicable", "cannot tell", "warn", "fail"]


@dataclass(frozen=True, kw_only=True)
class Overload:
    """A rate above what was carried, per second of the whole cell; `delivered_per_s` None: not counted."""

    planned_per_s: float
    delivered_per_s: float | None


@dataclass(frozen=True, kw_only=True)
class Overloaded:
    """A cell whose planned rate was not carried, and that no other check invalidates."""

    cell: str
    stack_label: str
    unit: str  # `events/s`
    overload: Overload


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
