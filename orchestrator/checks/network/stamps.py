"""one stamp per sample: each request has a send time of its own.

Two readings of a nanosecond clock in one program are at least some 20 ns apart, and a request takes far longer to send,
so that equal stamps mean that one reading was used for several requests.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orchestrator.checks.base import CALLS, CODECS, Check, Finding, cannot_tell, passes
from orchestrator.evidence.run_evidence import CellEvidence, Samples

_COARSE_CLOCK_NS = 1_000


def observe(samples: Samples) -> tuple[int, int, int]:
    """Successful requests, how many share a send stamp with an earlier one, and the largest such group."""
    sent = samples.sent_ns[samples.ok]
    shared = sent[1:] == sent[:-1]
    extra = int(shared.sum())
    largest = int(np.unique(sent[1:][shared], return_counts=True)[1].max()) + 1 if extra else 1
    return int(sent.size), extra, largest


def judge(cell: CellEvidence) -> Iterator[Finding]:
    """Every requester's stamps in every trial."""
    for trial, part, (n, extra, largest) in cell.parts(NAME):
        resolution = part.done.clock_resolution_ns or 1.0
        evidence = {"trial": trial.record.index, "requests": n, "sharing": extra, "largest_group": largest}
        if not extra:
            yield passes("own", evidence)
        elif resolution > _COARSE_CLOCK_NS:
            yield cannot_tell("coarse-clock", {**evidence, "clock_resolution_ns": resolution})
        else:
            yield Finding.of("fail" if largest > 2 or extra > 0.001 * n else "warn", "shared", evidence)


NAME = "one stamp per sample"
CHECK = Check(name=NAME, severity="fatal", kinds=CALLS | CODECS, observe=observe, judge=judge)
