"""in flight: as many requests under way as declared, and no more.

Each requester is held against its own share of the load.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.checks.base import CALLS, CODECS, Check, Finding, fails, passes, point, warns
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.experiment.model.factors import requesters_of

NAME = "in flight"


def observe(samples: Samples) -> int:
    """The most requests under way at one moment."""
    return samples.most_in_flight


def judge(cell: CellEvidence) -> Iterator[Finding]:
    """The trial with the most, and the one that never got to what was declared."""
    for trial, part, most in cell.parts(NAME):
        whose: dict[str, Any] = {}
        if part.load != cell.cell.load:  # one of several, whose share is not what the experiment declares
            host = part.host if requesters_of(cell.cell.factors) > 1 else None
            whose = {"process": part.process + 1, "host": host}
        yield _peak(cell, trial, part, most, whose)


def _peak(cell: CellEvidence, trial: TrialEvidence, part: Part, most: int, whose: dict[str, Any]) -> Finding:
    declared = part.load.concurrency
    is_few = most < declared and part.done.requests >= 10 * declared
    evidence = {"trial": trial.record.index, "declared": declared, "most": most}
    if most > declared:
        declares = point("declares-one" if declared == 1 else "declares-several")
        return fails([point("all-at-once", **whose), declares], evidence)
    if is_few and not cell.is_open_loop and cell.cell.load.think_s <= 0:
        return warns("never-as-declared", evidence, **whose)
    return passes("as-declared", evidence, **whose)


CHECK = Check(name=NAME, severity="fatal", kinds=CALLS | CODECS, observe=observe, judge=judge)
