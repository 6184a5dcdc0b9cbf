"""round-trips: what the distance adds must be as many round trips as the connection policy implies.

(median - the same stack's median on one host) / RTT. A reused connection needs one round trip for each call (a
task makes several), a new one those that open it first, TLS 1.3 one more (RFC 8446) unless QUIC has it in its own (RFC
9001); a body beyond the initial congestion window of ten segments (RFC 6928) may need more, unless the window has grown
already, and one beyond a window that the cell sets a round trip for each, so that is a range. Time on the wire is taken
off where the link's rate is known.

Too few round trips are impossible only where they are too few even after the fastest reply on one host: the median of
a few requests there may hold a stall.
"""

from __future__ import annotations

from math import ceil, log2

from orchestrator.checks.base import CALLS, Check, Finding, cannot_tell, fails, not_applicable, passes, warns
from orchestrator.evidence.run_evidence import CellEvidence, round_trips_to_open
from orchestrator.experiment.plan.cells import rounds_beyond_first

LEAST_RTT_MS = 1.0
_SEGMENT_BYTES = 1448
_INITIAL_WINDOW = 10  # segments, unless the link was asked for another
_LARGEST_ENCODED = 4 / 3  # of content: base64


def slow_start_rounds(body_bytes: float, initial_window: int | None = None) -> int:
    """Round trips beyond the first that a body needs when the window starts at ten segments, or so many, and doubles."""
    window = (initial_window or _INITIAL_WINDOW) * _SEGMENT_BYTES
    return ceil(log2(body_bytes / window)) if body_bytes > window else 0


def judge(cell: CellEvidence) -> Finding | None:
    """One verdict per cell between two hosts."""
    if cell.placement.kind == "local" or cell.replies is None or cell.is_open_loop or cell.cell.load.concurrency > 1:
        return None  # with several in flight a median also includes the time spent waiting for the others
    if cell.operation.mix:
        return not_applicable("mix")
    rtts = [reading.median_ns / 1e6 for t in cell.trials for reading in t.readings_of("ping") if reading.median_ns]
    if not rtts:
        return cannot_tell("no-ping")
    rtt = sorted(rtts)[len(rtts) // 2]
    if rtt < LEAST_RTT_MS:
        return cannot_tell("short-distance", {"rtt_ms": rtt}, least_ms=LEAST_RTT_MS)
    return _count(cell, rtt)


def _count(cell: CellEvidence, rtt_ms: float) -> Finding:
    assert cell.replies is not None  # noqa: S101 - narrows the type
    assert cell.replies.median is not None  # noqa: S101
    here = cell.one_host.median if cell.one_host else None
    least = cell.one_host.minimum if cell.one_host else 0.0
    rate = cell.placement.link.rate_mbit
    bodies = (cell.operation.request_bytes + cell.operation.reply_bytes) * cell.operation.calls
    wire_ms = bodies * 8 / (rate * 1000) if rate else 0.0  # of all calls at the link's rate, where that is known
    trips = (cell.replies.median - (here or 0.0) - wire_ms) / rtt_ms
    calls = cell.cell.in_a_row
    opening = round_trips_to_open(cell.stack) + cell.cell.handshakes
    low = calls + (opening if cell.cell.connection == "per-request" else 0)
    rounds = sum(_rounds(cell, body) for body in (cell.operation.request_bytes, cell.operation.reply_bytes))
    high = low + calls * rounds
    slack = 0.3 + 0.5 * (here or 0.0) / rtt_ms
    evidence = {
        "median_ms": cell.replies.median,
        "one_host_median_ms": here,
        "one_host_least_ms": least,
        "wire_ms": wire_ms,
        "rtt_ms": rtt_ms,
        "round_trips": round(trips, 2),
        "expected": [low, high],
        "slack": round(slack, 2),
    }
    policy = cell.cell.connection
    most_trips = (cell.replies.median - least - wire_ms) / rtt_ms
    if cell.is_external:
        return cannot_tell("own-service", evidence)
    if most_trips < low - 0.3 - 0.5 * least / rtt_ms:
        return fails("impossible", evidence, policy=policy)
    if here is None:
        return cannot_tell("not-on-one-host", evidence)
    if trips < low - slack:
        return cannot_tell("spread", evidence)
    if trips > high + 0.5 + slack:
        return warns("more-than-implied", evidence, weight=trips - high, policy=policy)
    return passes("as-implied", evidence, policy=policy)


def _rounds(cell: CellEvidence, body_bytes: float) -> int:
    """Round trips beyond the first that a body may need: of a congestion window that grows, or of a window that is set."""
    initial = None if cell.cell.is_over_quic else cell.placement.link.initial_window  # which is TCP's
    growing = slow_start_rounds(body_bytes, initial)
    return max(growing, rounds_beyond_first(cell.cell.factors, body_bytes * _LARGEST_ENCODED))


CHECK = Check(name="round-trips", severity="serious", kinds=CALLS, judge=judge)
