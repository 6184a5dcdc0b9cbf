"""mix: each request asks the operation that the seed draws for it, and all of them ask as many as their shares say."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.experiment.plan.mixes import shares
from services.python.load.phases import MIXED, mix_order

_BEYOND_CHANCE = 4.5  # standard deviations: one count in 150,000

Seen = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def observe(samples: Samples) -> Seen | None:
    """Sequence numbers and places of all rows, those of the warm-up and those never sent too; None of no mix."""
    columns = samples.columns
    if not samples.is_mix:
        return None
    return columns["sequence"].astype(np.int64), columns["parent"].astype(np.int64)


def judge(cell: CellEvidence) -> Finding | None:
    """Each requester's record against its seed."""
    if not cell.operation.mix:
        return None
    return worst([_of_part(cell, trial, part, seen) for trial, part, seen in cell.parts(NAME) if seen is not None])


def _of_part(cell: CellEvidence, trial: TrialEvidence, part: Part, seen: Seen) -> Finding:
    numbers, places = seen
    weights = [mixed.weight for mixed in cell.operation.mix]
    drawn = np.asarray(mix_order(weights, part.seed), dtype=np.int64) + 1
    wrong = int((places != drawn[(numbers - 1) % MIXED]).sum())
    counts = [int((places == place).sum()) for place in range(1, len(weights) + 1)]
    evidence = {"trial": trial.record.index, "requests": int(numbers.size), "counts": counts, "not_as_drawn": wrong}
    if wrong:
        return Finding(
            verdict="fail",
            evidence=evidence,
            weight=wrong,
            explanation=f"{words.count(wrong, 'request')} of {numbers.size:,} asked another operation than the seed draws.",
            action="Do not publish this cell: what was measured is not the mix that was planned.",
        )
    off = _furthest(counts, shares(cell.operation), min(int(numbers.size), MIXED))
    if off > _BEYOND_CHANCE:
        return Finding(
            verdict="fail",
            evidence={**evidence, "standard_deviations": off},
            weight=off,
            explanation="The operations were not asked as often as their shares say: "
            + ", ".join(f"{m.label} {n:,} times" for m, n in zip(cell.operation.mix, counts, strict=True))
            + f", {off:.1f} standard deviations from what chance gives.",
            action="Do not publish this cell: what was measured is not the mix that was planned.",
        )
    told = ", ".join(f"{m.label} {n:,}" for m, n in zip(cell.operation.mix, counts, strict=True))
    return Finding(verdict="pass", evidence=evidence, explanation=f"Asked as the seed draws them: {told}.")


def _furthest(counts: Sequence[int], wanted: Sequence[float], independent: int) -> float:
    """How many standard deviations the furthest share is off, of so many draws that are independent of each other."""
    total = sum(counts)
    if not total or not independent:
        return 0.0
    return max(
        abs(count / total - share) / math.sqrt(share * (1 - share) / independent)
        for count, share in zip(counts, wanted, strict=True)
    )


NAME = "mix"
CHECK = Check(name=NAME, severity="fatal", kinds=frozenset({"call"}), observe=observe, judge=judge)
