"""Rules on load: requests in flight, Little's law, arrivals, and events delivered."""

from __future__ import annotations

import math

from orchestrator.audit.assessment import Outcome, Rule
from orchestrator.audit.method import method_of, of_several_runs
from orchestrator.audit.model import AuditFile, Row
from orchestrator.audit.precision import bounds, half_digit, mean_bounds
from orchestrator.quantities import MOST_CHANGE, factor

# Runs of our own on a loud machine, published as a pooled mean beside a median throughput, came to twice.
EXCESS_OVER_RUNS = 3.0
EXCESS_UNSTATED = 1.15

# How long a measurement is taken to be where a publication does not say.
ASSUMED_S = 10.0

IN_FLIGHT = Rule(
    "in flight",
    "none: a batch of one is sequential; rows that vary the batch for one and the same protocol are left alone",
    "all results that are compared were sent in batches of that size, and each latency is a batch's",
)
LITTLE = Rule(
    "Little's law",
    f"5 % in a single run, 15 % where runs are not spoken of, a factor of {EXCESS_OVER_RUNS:g} where several are stated",
    "more requests were in flight than stated (pipelining, batches, several connections), latencies were corrected for "
    "coordinated omission (wrk), or requests waited in an open loop",
)


def in_flight(row: Row, file: AuditFile) -> Outcome | None:
    """Requests sent in a batch wait for each other: that is no sequential latency, and not comparable with one."""
    if row.batch is None or file.stated.mode != "sequential":
        return None
    arithmetic = f"stated sequential (1 in flight), sent in batches of {row.batch}"
    if row.mean:
        arithmetic += f"; {row.mean:g} ms / {row.batch} = {row.mean / row.batch:.2f} ms of work a request"
    if row.batch == 1:
        return "supported", arithmetic
    single = {other.protocol for other in file.results if (other.batch or 1) == 1}
    if single and row.protocol not in single:
        return "contradicted", f"{arithmetic}; other protocols of the table sent one at a time"
    return "undetermined", f"{arithmetic}: comparable with batches of that size only"


def littles_law(row: Row, file: AuditFile) -> Outcome | None:
    """In a closed loop, requests in flight = throughput x mean latency (Little 1961), less the client's own time.

    In flight are concurrency x batch, of each load generator. Latencies can add up to less than the time there was, and
    never to more. Over several runs a mean of all requests and a median of the runs' throughputs are often published
    side by side, though: where several runs are stated, only a large excess tells. Where no mean is published, the
    percentiles force a least one.
    """
    concurrency = row.concurrency or (1 if file.stated.mode == "sequential" else None)
    if file.stated.mode in ("open loop", "stream") or row.measures == "gap":
        return None
    if not (concurrency and row.throughput_per_s):
        return None
    method = method_of(row, file)
    flying = concurrency * (row.batch or 1) * (method.clients or 1)
    implied = flying / row.throughput_per_s * 1000
    longest = flying / max(row.throughput_per_s - half_digit(row.throughput_per_s), 1e-12) * 1000
    mean, p99 = bounds(row, file, "mean"), row.p99
    least = mean.low if mean else mean_bounds(row, file).low
    if not mean and not p99 and not least:
        return None
    arithmetic = f"{flying} in flight / {row.throughput_per_s:,g} per s = a mean of {implied:.3g} ms"
    if row.mean is not None:
        arithmetic += f"; published mean {row.mean:g} ms"
    elif p99:
        arithmetic += f"; published p99 {p99:g} ms"
    if not mean and least > longest:
        arithmetic += f"; its percentiles force a mean of {least:.3g} ms"
    corrected, unknown = method.corrected, method.pipelined and row.batch is None
    excess = 1.05 if file.stated.repeats == 1 else EXCESS_OVER_RUNS if of_several_runs(row, file) else EXCESS_UNSTATED
    if least > longest * excess and not (corrected or unknown):
        return "contradicted", f"{arithmetic}: more time than there was"
    if least > longest * 1.05:
        why = "the correction for coordinated omission" if corrected else "runs put together in two ways"
        why = "several requests at once on a connection" if unknown else why
        return "undetermined", f"{arithmetic}: more time than there was, which {why} may explain"
    typical = row.mean if row.mean is not None else p99
    if typical is not None and typical < implied * 0.8:
        return ("undetermined", f"{arithmetic}: the rest is in no latency, which the client's own work may explain")
    return "supported", arithmetic


def arrival_noise(row: Row, file: AuditFile) -> float:
    """Four standard deviations of the count of events, as a share of it; 0 where arrivals are stated to be constant.

    A Poisson count of n has a standard deviation of sqrt(n).
    """
    method = method_of(row, file)
    if method.arrivals == "constant" or not row.offered_per_s:
        return 0.0
    count = row.samples or file.stated.requests or row.offered_per_s * (method.duration_s or ASSUMED_S)
    return 4 / math.sqrt(max(count, 1.0))


def surplus(share: float) -> str:
    """Return what arrived beyond what was offered, as `0.8% more`; of far more, as `174 times as many`."""
    return f"{factor(share)} times as many" if share - 1 > MOST_CHANGE else f"{share - 1:.1%} more"
