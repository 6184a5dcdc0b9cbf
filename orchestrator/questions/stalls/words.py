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
    others = f"; {quantities.count(more, 'more cell')}" if more else ""
    return (
        f"{worst.stack_label} waited up to {quantities.ms(worst.longest)} for a reply; at an even pace p99 would be"
        f" {quantities.ms(worst.even_p99)}, not {quantities.ms(worst.p99)} ({worst.stalled} of"
        f" {quantities.count(worst.trials, 'trial')}{others})."
    )
