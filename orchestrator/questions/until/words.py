"""How a run that measures until its intervals are narrow enough came to its end, in words."""

from __future__ import annotations

from orchestrator.analysis import words
from orchestrator.questions.until.find import Stopped


def reach(share: float) -> str:
    """How far an interval reaches, as people read it: `± 4.1 %`, `± 120 %`, and `more than ± 900 %` of all that is wider."""
    if share > words.MOST_CHANGE:
        return f"more than ± {words.percent(words.MOST_CHANGE)}"
    return f"± {words.percent(share)}"


def sentence(stopped: Stopped) -> str:
    """Return after how many blocks a run ended, and why, as a clause."""
    wanted, counted = f"± {words.percent(stopped.within)}", words.count(len(stopped.widths), "interval")
    if stopped.widest is not None:
        is_at = f"the widest interval is {reach(stopped.widest)}"
    else:
        is_at = f"{sum(width.reaches is None for width in stopped.widths)} of {counted} cannot be computed"
    if stopped.narrow == len(stopped.widths):
        why = f"each interval is as narrow as wanted ({wanted}), {is_at}"
    elif stopped.blocks >= stopped.at_most:
        why = f"the limit; {stopped.narrow} of {counted} reached {wanted}, {is_at}"
    else:
        why = f"cut before it was over; wanted was {wanted}, {is_at}"
    return f"{stopped.blocks} of at most {words.count(stopped.at_most, 'block')}: {why}"
