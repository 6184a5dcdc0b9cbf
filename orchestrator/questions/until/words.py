"""How far an interval reaches, in words."""

from __future__ import annotations

from orchestrator.analysis import words


def reach(share: float) -> str:
    """Return how far an interval reaches: `± 4.1 %`, `± 120 %`, and `more than ± 900 %` of all that is wider."""
    if share > words.MOST_CHANGE:
        return f"more than ± {words.percent(words.MOST_CHANGE)}"
    return f"± {words.percent(share)}"
