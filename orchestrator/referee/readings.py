"""What a load generator says it measured, and what of that can be held against something else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.strict_json import parse_json

_LEAST_OF_WINDOW, _MOST_OF_WINDOW = 0.9, 1.5
_SLACK_S = 1.0
_SLACK = 0.05  # of Little's law, for latencies that are read from a histogram


class Unreadable(ValueError):
    """What a load generator printed is not its report, or cannot be true; the message says why, as a clause."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Requests that ended with a right status, in how many seconds, and the median of their latencies in nanoseconds.

    `p99_ns`: the latency that 99 % of them do not exceed, by nearest rank; a run's journal does not keep it.
    """

    requests: int
    window_s: float
    median_ns: float
    p99_ns: float = field(default=math.nan, compare=False)

    @property
    def rate_per_s(self) -> float:
        """Requests a second."""
        return self.requests / self.window_s


def require_possible(figures: Figures, *, in_flight: int, window_s: float, elapsed_s: float) -> Figures:
    """The same figures; Unreadable where they cannot be those of such a load.

    `window_s`: what the program was told, `elapsed_s`: how long its process lived, by the clock of the one who started it.
    """
    if figures.requests < 1:
        raise Unreadable("it made no request")
    if not (math.isfinite(figures.window_s) and math.isfinite(figures.median_ns) and figures.median_ns > 0):
        raise Unreadable(f"a median of {figures.median_ns:g} ns in {figures.window_s:g} s cannot be")
    least_s, most_s = _LEAST_OF_WINDOW * window_s, min(_MOST_OF_WINDOW * window_s + _SLACK_S, elapsed_s)
    if not least_s <= figures.window_s <= most_s:
        raise Unreadable(
            f"it says that it asked for {figures.window_s:.3f} s; it was told {window_s:g} s and ran for {elapsed_s:.3f} s"
        )
    # Half of the requests take at least the median, and no more of them than `in_flight` at a time.
    if figures.requests // 2 * figures.median_ns > in_flight * figures.window_s * 1e9 * (1 + _SLACK):
        raise Unreadable(
            f"half of {figures.requests} requests of at least {figures.median_ns / 1e3:.0f} us do not fit into"
            f" {figures.window_s:.3f} s with {in_flight} in flight"
        )
    return figures


def require_answered(figures: Figures, answered: int, in_flight: int) -> None:
    """Unreadable where the responder answered another number of requests meanwhile.

    What was in flight as the window closed is answered, and not counted by every program.
    """
    if not figures.requests <= answered <= figures.requests + in_flight:
        raise Unreadable(f"it counts {figures.requests} requests, the responder answered {answered}")


def document(text: str) -> Mapping[str, Any]:
    """A JSON report; Unreadable when it is none."""
    try:
        found = parse_json(text.encode())
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"its report is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise Unreadable("its report is not a JSON object")
    return found


def number(values: Any, name: str) -> float:
    """A number of a report; Unreadable where there is none."""
    value = values.get(name) if isinstance(values, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable(f"its report has no number `{name}`")
    return float(value)


def counts(values: Any, name: str) -> dict[str, int]:
    """How often each of something was seen, of a report; Unreadable where that is not there."""
    found = values.get(name) if isinstance(values, dict) else None
    if not isinstance(found, dict) or not all(type(count) is int and count >= 0 for count in found.values()):
        raise Unreadable(f"its report has no counts `{name}`")
    return dict(found)
