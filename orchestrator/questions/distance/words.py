"""What passes in a round trip, against the window that was set, in words."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.questions.distance.windows import Side, WindowFit

_SIDES: Mapping[Side, str] = {
    "no window": "no window is set",
    "few blocks": "cannot tell: too few blocks for an interval",
    "unknown": "cannot tell: the interval is too wide",
    "more": "more than the window passes",
    "less": "less than the window passes",
    "as": "as the window has it",
}


def window(fit: WindowFit) -> str:
    """Return how what passes lies to the window that was set."""
    return _SIDES[fit.side] + ("; no more passes where no window is set" if fit.side == "as" and fit.is_free else "")
