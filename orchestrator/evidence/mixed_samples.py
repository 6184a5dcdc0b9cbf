"""The operations of a mix, each by itself: what a cell's samples say of them, all trials together. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from orchestrator.evidence.run_evidence import COLUMNS, Samples, named
from orchestrator.experiment.plan.payloads import mix_shares
from orchestrator.experiment.plan.plan import Operation
from orchestrator.findings.summary import MixedSummary
from orchestrator.statistics import intervals
from orchestrator.statistics import quantiles as st
from orchestrator.statistics.quantiles import Nanoseconds

COLUMNS_OF_MIXES = (*COLUMNS, "parent")
"""What is read of a mix's samples."""


class OperationsOfMix:
    """Takes in each trial of a cell, and says what came of each operation."""

    def __init__(self, operation: Operation) -> None:
        count = len(operation.mix)
        self._operation = operation
        self._latencies: list[list[Nanoseconds]] = [[] for _ in range(count)]
        self._failed: list[list[int]] = [[] for _ in range(count)]
        self._errors: list[Counter[str]] = [Counter() for _ in range(count)]
        self._bodies: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        self._not_sent = [0] * count
        self._window_s = 0.0

    def add(self, parts: Sequence[Samples], window_s: float | None) -> None:
        """The samples of all requesters of a trial, and how long their window was."""
        self._window_s += window_s or 0.0
        for place in range(len(self._operation.mix)):
            latencies, failed = [], 0
            for samples in parts:
                is_it = samples.places == place + 1
                right = is_it[samples.ok]
                latencies.append(samples.latency_ns[right])
                errors = named(samples.status[is_it & samples.failed])
                self._errors[place].update(errors)
                failed += sum(errors.values())
                sent, received = samples.bytes_sent[right], samples.bytes_received[right]
                if right.any() and sent.min() >= 0 and received.min() >= 0:
                    self._bodies[place].append((int(sent.sum()), int(received.sum())))
                unsent = samples.columns["parent"][samples.never_sent]
                self._not_sent[place] += int((unsent == place + 1).sum())
            self._latencies[place].append(np.sort(np.concatenate(latencies)) if latencies else np.empty(0, np.int64))
            self._failed[place].append(failed)

    def summary(self, limit_ns: float) -> tuple[MixedSummary, ...]:
        """Each operation, in the order of the mix; `limit_ns` is the time-out."""
        due = [
            sum(map(len, self._latencies[n])) + sum(self._failed[n]) + self._not_sent[n]
            for n in range(len(self._failed))
        ]
        return tuple(
            self._of(place, share, due[place] / sum(due) if sum(due) else None, limit_ns)
            for place, share in enumerate(mix_shares(self._operation))
        )

    def _of(self, place: int, share: float, drawn: float | None, limit_ns: float) -> MixedSummary:
        trials, failed = self._latencies[place], self._failed[place]
        ok, errors = sum(map(len, trials)), sum(failed)
        medians = [st.quantile(o, 0.5, f) for o, f in zip(trials, failed, strict=True) if o.size + f]
        is_known = bool(medians) and all(0 < median < math.inf for median in medians)
        bodies, pooled = self._bodies[place], st.of_trials(trials, failed, limit_ns)
        return MixedSummary(
            label=self._operation.mix[place].label,
            share=share,
            drawn=drawn,
            requests=ok + errors,
            errors=dict(self._errors[place]),
            not_sent=self._not_sent[place],
            distribution=pooled and replace(pooled, curve=()),
            median_interval=intervals.of_trials([m / st.NS_PER_MS for m in medians]).interval() if is_known else None,
            throughput_per_s=ok / self._window_s if self._window_s else None,
            body_bytes=(sum(s for s, _ in bodies) / ok, sum(r for _, r in bodies) / ok) if ok and bodies else None,
        )
