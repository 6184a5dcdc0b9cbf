"""What one of several requester hosts did, in a cell and in a trial."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RequesterHost:
    """One host of a cell that several ask, over its trials: by its own clock alone.

    `requests`: measured ones in all, of which `share` is this host's part of the cell's; `throughput_per_s`, `median` and
    `p99` (ms): in the middle of its trials, None where none has it; `cpu_share`: its busiest process's, the most in a trial.
    """

    host: str
    processes: int
    requests: int
    share: float
    throughput_per_s: float | None
    median: float | None
    p99: float | None
    cpu_share: float | None


@dataclass(frozen=True, kw_only=True)
class OfTrial:
    """What a host did in one trial; milliseconds, infinite where the percentile falls among failed requests."""

    host: str
    processes: int
    requests: int
    throughput_per_s: float | None
    median: float | None
    p99: float | None
    cpu_share: float | None
