"""The values of a trial beside its latencies and rate, from what both ends counted (`findings.trial_values`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from orchestrator.evidence.run_evidence import SHORT_WINDOW_S
from orchestrator.findings.trial_values import FIRST, FIRST_REQUEST, PER
from orchestrator.results.manifest import TrialRecord
from orchestrator.statistics import quantiles as st
from orchestrator.statistics.quantiles import Nanoseconds
from services.python.contract.responder_lines import Stats, WorkerStats


def values(record: TrialRecord, ordered: Nanoseconds, failed: int, first_ms: float | None) -> dict[str, float]:
    """Return all that is known, by name.

    `ordered` are the trial's latencies (ns), `failed` more requests had no right reply, `first_ms` is the first request of
    a connection.
    """
    every = {**_costs(record), **_openings(record), **spreads(ordered, failed, first_ms), FIRST_REQUEST: first_ms}
    return {name: value for name, value in every.items() if value is not None}


def spreads(ordered: Nanoseconds, failed: int = 0, first_ms: float | None = None) -> dict[str, float | None]:
    """Return how far latencies lie apart, by name; None where failed requests or too few of them leave it unknown.

    Any failed request leaves no SD, one among the slowest quarter no IQR, and one among the slowest hundredth no p99.
    """
    median, high, p99 = (st.finite(st.supported_quantile(ordered, share, failed)) for share in (0.5, 0.75, 0.99))
    return {
        # About the minimum, as in `statistics.distribution`.
        "sd": None if failed or ordered.size < st.SUPPORT else float((ordered - ordered[0]).std(ddof=1)) / st.NS_PER_MS,
        "iqr": None if high is None else high - st.quantile(ordered, 0.25, failed) / st.NS_PER_MS,
        "p99_to_p50": p99 / median if p99 is not None and median else None,
        FIRST: first_ms / median if first_ms is not None and median else None,
    }


def _costs(record: TrialRecord) -> dict[str, float | None]:
    """What a trial took: sums over its requesters; of memory the largest host's, all its processes together."""
    ends = [requester.done for requester in record.requesters]
    samples = sum(done.events.delivered if done.events else done.requests for done in ends)
    if not samples:
        return {}
    stats = record.stats if record.stats_warm else None  # a peak that begins with the trial's requests is of no phase
    counted = {
        "responder_cpu": record.responder_measured_cpu_s,
        "requester_cpu": total([done.cpu_s for done in ends]),
        **{
            f"{name}_{way}": total([getattr(done.wire, f"{counter}_{way}", None) for done in ends])
            for name, counter in (("wire_bytes", "bytes"), ("packets", "segments"))
            for way in ("sent", "received")
        },
    }
    each = {name: None if total is None else total * PER / samples for name, total in counted.items()}
    both = {name: total([each[f"{name}_{way}"] for way in ("sent", "received")]) for name in ("wire_bytes", "packets")}
    memory = {"responder_memory": stats.memory_bytes if stats else None, "requester_memory": _largest_host(record)}
    return {**each, **both, **memory}


def _openings(record: TrialRecord) -> dict[str, float | None]:
    """The mean over requesters of the median times of TCP and TLS handshakes, ms, where the client library tells them."""
    openings = [requester.done.opening for requester in record.requesters if requester.done.opening is not None]
    return {
        "connect": _mean_ms([each.connect_s for each in openings]),
        "tls": _mean_ms([each.tls_s for each in openings]),
    }


def _mean_ms(seconds: Sequence[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return 1e3 * sum(known) / len(known) if known else None


N = TypeVar("N", int, float)


def total(counts: Sequence[N | None]) -> N | None:
    """Return the sum; None when some are unknown."""
    known = [value for value in counts if value is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _largest_host(record: TrialRecord) -> int | None:
    """The largest sum of the peaks of a host's processes, bytes; None when some are unknown."""
    hosts: dict[str, int] = {}
    for requester in record.requesters:
        if requester.done.memory_bytes is None:
            return None
        hosts[requester.host] = hosts.get(requester.host, 0) + requester.done.memory_bytes
    return max(hosts.values(), default=None)


# ---- the responder's workers, by their own count


def cpu_share(record: TrialRecord, span_ns: int) -> float | None:
    """Its CPU time over the time in which requests were made: no more than all of it where that was short.

    Of several workers that of the busiest, which is its own limit from one core's worth on; or those of each CPU, where
    there are fewer CPUs than workers and all of them together are busier than that. Whatever each says of itself, the
    busiest used no less than an even share of what all did. What was done outside of that time (two connections of their
    own, and their checks) counts, too: up to some 70 ms. None where it does not say.
    """
    cpu_s, stats = record.responder_cpu_s, record.stats
    if cpu_s is None or span_ns <= 0:
        return None
    if stats and stats.workers and record.stats_before and record.stats_before.workers:
        own = [
            after.cpu_s - before.cpu_s
            for before, after in _pairs(record.stats_before, stats)
            if before.cpu_s is not None and after.cpu_s is not None
        ]
        workers, cpus = len(stats.workers), record.ready.cpus if record.ready is not None else None
        cpu_s = max([*own, cpu_s / min(workers, cpus or workers)])
    share = cpu_s * 1e9 / span_ns
    return min(share, 1.0) if span_ns < SHORT_WINDOW_S * 1e9 else share


def _pairs(before: Stats | None, after: Stats | None) -> tuple[tuple[WorkerStats, WorkerStats], ...]:
    first, last = (stats.workers or [] if stats is not None else [] for stats in (before, after))
    return tuple(zip(first, last, strict=True)) if len(first) == len(last) else ()
