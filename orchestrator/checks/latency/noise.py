"""noise: what else the hosts did while a trial ran. A noisy machine is a warning: its numbers are valid, but spread.

What a machine type intends (throttling by its quota, steal on a shared core) is a condition of the run, and no noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from orchestrator import quantities
from orchestrator.checks.base import CALLS, CODECS, STREAMS, Check, Finding, cannot_tell, passes, warns, worst
from orchestrator.evidence.host_noise import FOREIGN, INSIDE, PRESSURE, STEAL, THROTTLED, Noise, noises
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence
from orchestrator.experiment.plan.cells import ask_postgresql

KINDS = ("steal", "throttled", "pressure", "foreign", "inside")


def judge(cell: CellEvidence) -> Finding | None:
    """The loudest trial, at either end."""
    seen = [(trial, noise.beyond(cell.limit)) for trial in cell.trials for noise in noises(cell, trial)]
    loudest = worst(_finding(trial, noise) for trial, noise in seen)
    if loudest is None:
        return None
    if loudest.verdict == "pass" and (cell.is_external or _has_a_database_beside(cell)):
        loudest = _of_one_end(cell, loudest)
    return replace(loudest, evidence={**loudest.evidence, "in_a_third": _in_a_third(seen)})


def _in_a_third(seen: Sequence[tuple[TrialEvidence, Noise]]) -> dict[str, float]:
    """By kind, the share that a third of the trials reach or exceed: one loud trial is no loud machine."""
    shares = {}
    for kind in KINDS:
        by_trial: dict[int, float] = {}
        for trial, noise in seen:
            by_trial[trial.record.index] = max(by_trial.get(trial.record.index, 0.0), getattr(noise, kind) or 0.0)
        shares[kind] = sorted(by_trial.values(), reverse=True)[ceil(len(by_trial) / 3) - 1]
    return shares


def _has_a_database_beside(cell: CellEvidence) -> bool:
    """Whether a database's server, whose work is not counted by itself, is on the requester's machine."""
    return cell.is_one_machine and ask_postgresql([cell.cell])


def _of_one_end(cell: CellEvidence, quiet: Finding) -> Finding:
    """What a quiet requester's host says where the responder's work or the database's is not known."""
    if not cell.is_external:
        return replace(
            quiet,
            verdict="cannot tell",
            explanation="Little CPU time was stolen or throttled; what others used is not told from what the database's"
            " server did while it was asked.",
            action="See for yourself that nothing else runs here, or give the database a host of its own.",
        )
    return replace(
        quiet,
        verdict="cannot tell",
        explanation=f"The requester's host was quiet; what disturbed the responder is not known: {quantities.NOT_OURS}.",
        action="See for yourself that nothing else runs where it answers.",
    )


def _finding(trial: TrialEvidence, noise: Noise) -> Finding:
    evidence = {"trial": trial.record.index, **noise.__dict__}
    loud = [
        (share / limit, text.format(quantities.percent(share)))
        for share, limit, text in (
            (noise.steal, STEAL, "the hypervisor took {} of a core away"),
            (noise.throttled, THROTTLED, "the CPU quota stopped it for {} of the time"),
            (noise.pressure, PRESSURE, "something waited for a CPU that others used for {} of the time"),
            (noise.foreign, FOREIGN, "other processes used {} of a core"),
            (noise.inside, INSIDE, "other processes in the host used {} of what it may use"),
        )
        if share is not None and share > limit
    ]
    if loud:
        return warns(
            f"On {noise.where}, during {trial.called}: {'; '.join(text for _, text in loud)}.",
            "Trust differences within a block, not absolute numbers, or repeat on a quiet machine.",
            evidence,
            weight=max(excess for excess, _ in loud),
        )
    if all(getattr(noise, kind) is None for kind in KINDS):
        return cannot_tell(
            f"{noise.where[:1].upper()}{noise.where[1:]} counts neither steal, throttling nor pressure.",
            "Measure on Linux, which does, or make sure that nothing else runs.",
            evidence,
        )
    return passes("The hosts were quiet.", evidence)


CHECK = Check(
    name="noise",
    severity="note",
    kinds=CALLS | CODECS | STREAMS,
    judge=judge,
    otherwise=cannot_tell(
        "The hosts have no counters for steal, throttling or pressure.",
        "Measure on Linux, which has them, or make sure that nothing else runs.",
    ),
)
