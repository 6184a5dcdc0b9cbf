"""How far an interval reaches, in words."""

from __future__ import annotations

from orchestrator import quantities


def reach(share: float) -> str:
    """Return how far an interval reaches: `± 4.1 %`, `± 120 %`, and `more than ± 900 %` of all that is wider."""
    if share > quantities.MOST_CHANGE:
        return f"more than ± {quantities.percent(quantities.MOST_CHANGE)}"
    return f"± {quantities.percent(share)}"
