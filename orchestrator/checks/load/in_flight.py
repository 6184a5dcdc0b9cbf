"""in flight: as many requests under way as declared, and no more.

Each requester is held against its own share of the load.
"""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.checks.base import CALLS, CODECS, Check, Finding, fails, passes, warns
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.experiment.model.factors import requesters_of

NAME = "in flight"


def observe(samples: Samples) -> int:
    """The most requests under way at one moment."""
    return samples.most_in_flight


def judge(cell: CellEvidence) -> Iterator[Finding]:
    """The trial with the most, and the one that never got to what was declared."""
    for trial, part, most in cell.parts(NAME):
        whose = ""
        if part.load != cell.cell.load:  # one of several, whose share is not what the experiment declares
            on = f" on {part.host}" if requesters_of(cell.cell.factors) > 1 else ""
            whose = f" in requester process {part.process + 1}{on}"
        yield _peak(cell, trial, part, most, whose=whose)


def _peak(cell: CellEvidence, trial: TrialEvidence, part: Part, most: int, *, whose: str) -> Finding:
    declared = part.load.concurrency
    is_few = most < declared and part.done.requests >= 10 * declared
    evidence = {"trial": trial.record.index, "declared": declared, "most": most}
    if most > declared:
        expected = "one at a time" if declared == 1 else f"at most {declared}"
        return fails(
            f"{most} requests were in flight at once{whose}; the experiment declares {expected}.",
            "Declare that concurrency, or await each reply: latencies now include waiting for each other.",
            evidence,
        )
    if is_few and not cell.is_open_loop and cell.cell.load.think_s <= 0:
        return warns(
            f"No more than {most} requests were ever in flight{whose}, {declared} declared.",
            "Check whether the requester kept up (`offered load`), or lower the concurrency.",
            evidence,
        )
    return passes(f"At most {most} in flight{whose}, {declared} declared.", evidence)


CHECK = Check(name=NAME, severity="fatal", kinds=CALLS | CODECS, observe=observe, judge=judge)
