"""Stalls in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator import quantities
from orchestrator.questions.stalls.find import Stall


def sentence(stalls: Sequence[Stall]) -> str:
    """Return the worst stall and how many cells have another; empty without one."""
    if not stalls:
        return ""
    worst, more = stalls[0], len(stalls) - 1
    others = f"; also in {quantities.count(more, 'more row')}" if more else ""
    return (
        f"{worst.stack_label} waited up to {quantities.ms(worst.longest)} for a reply; had requests gone on at an even pace,"
        f" p99 would be {quantities.ms(worst.even_p99)} ({worst.stalled} of"
        f" {quantities.count(worst.trials, 'repeat')}{others})."
    )
