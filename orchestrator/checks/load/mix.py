"""mix: each request asks the operation that the seed draws for it, in that order.

A number is given when a worker takes it. So of those below the highest that was sent no more can be unsent than other
workers are there; more were put off, as by a requester that asks each operation's requests together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator import quantities
from orchestrator.checks.base import Check, Finding, fails, passes, worst
from orchestrator.evidence.run_evidence import NOT_SENT, CellEvidence, Part, Samples, TrialEvidence
from services.python.load.phases import MIXED, mix_order

_NOT_PLANNED = "Do not publish this cell: what was measured is not the mix that was planned."


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Sequence numbers and places of all rows, those of the warm-up and those never sent too.

    Of the measured ones how many numbers were passed over at one moment at most, and how many others may hold one.
    """

    numbers: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    passed_over: int
    others: int


def observe(samples: Samples) -> Seen | None:
    """None of no mix."""
    columns = samples.columns
    if not samples.is_mix:
        return None
    sent = (columns["phase"] == 1) & (columns["status"] != NOT_SENT)
    numbers = columns["sequence"][sent]
    in_order = numbers[np.lexsort((numbers, columns["sent_ns"][sent]))]
    highest = np.maximum.accumulate(np.searchsorted(np.sort(numbers), in_order))
    return Seen(
        numbers=columns["sequence"].astype(np.int64),
        places=columns["parent"].astype(np.int64),
        passed_over=int((highest - np.arange(numbers.size)).max(initial=0)),
        others=samples.in_flight - 1,
    )


def judge(cell: CellEvidence) -> Finding | None:
    """Each requester's record against its seed."""
    return worst(_of_part(cell, *part) for part in cell.parts(NAME)) if cell.operation.mix else None


def _of_part(cell: CellEvidence, trial: TrialEvidence, part: Part, seen: Seen) -> Finding:
    numbers, places = seen.numbers, seen.places
    weights = [mixed.weight for mixed in cell.operation.mix]
    drawn = np.asarray(mix_order(weights, part.seed), dtype=np.int64) + 1
    wrong = int((places != drawn[(numbers - 1) % MIXED]).sum())
    counts = [int((places == place).sum()) for place in range(1, len(weights) + 1)]
    evidence = {"trial": trial.record.index, "requests": int(numbers.size), "counts": counts, "not_as_drawn": wrong}
    if wrong:
        return fails(
            f"{quantities.count(wrong, 'request')} of {numbers.size:,} asked another operation than the seed draws.",
            _NOT_PLANNED,
            evidence,
            weight=wrong,
        )
    if seen.passed_over > seen.others:
        return fails(
            f"{quantities.count(seen.passed_over, 'request')} waited at once while later ones were sent, and"
            f" {quantities.count(seen.others, 'other worker')} can hold back one each: they were not sent in the order "
            "drawn.",
            _NOT_PLANNED,
            {**evidence, "passed_over": seen.passed_over, "others": seen.others},
            weight=seen.passed_over,
        )
    times = [f"{m.label} {n:,}" for m, n in zip(cell.operation.mix, counts, strict=True)]
    return passes(f"Asked as the seed draws them: {', '.join(times)}.", evidence)


NAME = "mix"
CHECK = Check(name=NAME, severity="fatal", kinds=frozenset({"call"}), observe=observe, judge=judge)
