"""noise: what else the hosts did while a trial ran. A noisy machine is a warning: its numbers are valid, but spread.

What a machine type intends (throttling by its quota, steal on a shared core) is a condition of the run, and no noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from orchestrator.checks.base import CALLS, CODECS, STREAMS, Check, Finding, cannot_tell, passes, point, warns, worst
from orchestrator.evidence.host_noise import LIMITS, Noise, noises
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence
from orchestrator.experiment.plan.cells import ask_postgresql


def judge(cell: CellEvidence) -> Finding | None:
    """The loudest trial, at either end."""
    seen = [(trial, noise.beyond(cell.limit)) for trial in cell.trials for noise in noises(cell, trial)]
    loudest = worst(_finding(trial, noise) for trial, noise in seen)
    if loudest is None:
        return None
    is_told_apart = not (cell.is_one_machine and ask_postgresql([cell.cell]))  # from a database's server, not counted
    if loudest.verdict == "pass" and (cell.is_external or not is_told_apart):
        loudest = cannot_tell(f"unknown-{'service' if cell.is_external else 'database'}", loudest.evidence)
    return replace(loudest, evidence={**loudest.evidence, "in_a_third": _in_a_third(seen)})


def _in_a_third(seen: Sequence[tuple[TrialEvidence, Noise]]) -> dict[str, float]:
    """By kind, the share that a third of the trials reach or exceed: one loud trial is no loud machine."""
    shares = {}
    for kind in LIMITS:
        by_trial: dict[int, float] = {}
        for trial, noise in seen:
            by_trial[trial.record.index] = max(by_trial.get(trial.record.index, 0.0), getattr(noise, kind) or 0.0)
        shares[kind] = sorted(by_trial.values(), reverse=True)[ceil(len(by_trial) / 3) - 1]
    return shares


def _finding(trial: TrialEvidence, noise: Noise) -> Finding:
    evidence = {"trial": trial.record.index, **noise.__dict__}
    loud = {kind: share / most for kind, most in LIMITS.items() if (share := getattr(noise, kind) or 0.0) > most}
    if loud:
        return warns([point("loud"), *map(point, loud)], evidence, weight=max(loud.values()))
    if all(getattr(noise, kind) is None for kind in LIMITS):
        return cannot_tell("no-counters-there", evidence)
    return passes("quiet", evidence)


CHECK = Check(
    name="noise", severity="note", kinds=CALLS | CODECS | STREAMS, judge=judge, otherwise=cannot_tell("no-counters")
)
