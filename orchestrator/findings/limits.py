"""Which end of a cell fills its core, and so limits how much is answered."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import mean
from typing import Literal

from orchestrator.findings.summary import TrialSummary
from services.python.contract.limits import SATURATED

SHORT_WINDOW_S = 0.5  # below it the responder's work outside of the window counts for too much of its CPU time

Limit = Literal["responder", "requester", "both", "neither", "unknown"]


def mean_of(shares: Iterable[float | None]) -> float | None:
    """Over trials; None unless every trial knows."""
    every = [*shares]
    known = [share for share in every if share is not None]
    return mean(known) if known and len(known) == len(every) else None


def responder_cpu(trial: TrialSummary) -> float | None:
    """How busy the responder's core was.

    Unknown of a short window (`responder's core`).
    """
    window_s = trial.responder_window_s
    return None if window_s is not None and window_s < SHORT_WINDOW_S else trial.responder_cpu_share


def limiting_end(responder_cpu: float | None, requester_cpu: float | None) -> Limit:
    """Return which process fills its core and so limits; unknown where one share is unknown and the other one is low."""
    is_responder, is_requester = ((share or 0.0) >= SATURATED for share in (responder_cpu, requester_cpu))
    if is_responder or is_requester:
        return "both" if is_responder and is_requester else "responder" if is_responder else "requester"
    return "unknown" if responder_cpu is None or requester_cpu is None else "neither"
