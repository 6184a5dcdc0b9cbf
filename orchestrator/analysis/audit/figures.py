"""Rules that examine one published row by itself, from its summary figures alone.

Each rule is a function (row, file) -> Finding | None; None where it does not apply. A rule that applies and finds
nothing wrong says so ("supported"), so that an honest table comes out clean and visibly examined.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise

from orchestrator.analysis.audit.finding import AuditVerdict, Finding
from orchestrator.analysis.audit.model import AuditFile, PlacementFact, Row

# What a machine type may send, in Mbit/s: the tables of shared-core types in Compute Engine's documentation ("General-
# purpose machine family", maximum egress bandwidth). For f1-micro an independent measurement agrees: 119 to 120 MB/s
# of UDP both ways (OpsDash, "Google Cloud f1-micro", 2017).
MACHINE_CAP_MBIT = {"f1-micro": 1000.0, "g1-small": 1000.0, "e2-micro": 1000.0, "e2-small": 1000.0, "e2-medium": 2000.0}

# Ten segments of 1,460 bytes go out before the first acknowledgement must arrive (RFC 6928).
INITIAL_WINDOW_BYTES = 14_600

# Runs of our own on a loud machine, published as a pooled mean beside a median throughput, came to twice.
EXCESS_OVER_RUNS = 3.0

Rule = Callable[[Row, AuditFile], Finding | None]


def slack(ping_ms: float) -> float:
    """By what share a call may undercut a published ping without being a miracle.

    The ping is a mean over a few packets at another minute. On short paths the first packet (address resolution, flow
    set-up) can take ten times as long as the others, which makes the mean of four three times too large.
    """
    return 0.10 if ping_ms >= 5 else 0.75


def half_digit(value: float) -> float:
    """By how much a published figure may be off: half of its last digit. Zeros at its end are lost in reading."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return 0.5 * 10.0 ** min(int(exponent), 0)


def exceeds(value: float, other: float) -> bool:
    """Whether a figure is above another beyond rounding, which keeps the order of figures with as many digits."""
    coarser, finer = (f(half_digit(value), half_digit(other)) for f in (max, min))
    return value - other > (coarser * (1 + 1e-9) if coarser > finer else 0)


def order(row: Row, _: AuditFile) -> Finding | None:
    """The minimum <= median <= p95 <= p99 <= max, and the mean between min and max."""
    ladder = [(name, row.value(name)) for name in ("min", "median", "p95", "p99", "max")]
    known = [(name, value) for name, value in ladder if value is not None]
    if len(known) < 2:
        return None
    wrong = [f"{a} {x:g} > {b} {y:g}" for (a, x), (b, y) in pairwise(known) if exceeds(x, y)]
    if row.mean and row.min and row.max and (exceeds(row.min, row.mean) or exceeds(row.mean, row.max)):
        wrong.append(f"mean {row.mean:g} outside {row.min:g} to {row.max:g}")
    steps = " <= ".join(f"{name} {value:g}" for name, value in known)
    return _finding(row, "order of percentiles", "impossible" if wrong else "supported", "; ".join(wrong) or steps)


def spread(row: Row, _: AuditFile) -> Finding | None:
    """The SD that extremes force: (extreme - mean) / sqrt(n) at the least, half the range at the most (Popoviciu 1935)."""
    if not (row.sd and row.mean and row.min and row.max and row.samples):
        return None
    least = max(row.max - row.mean, row.mean - row.min) / math.sqrt(row.samples)
    most = (row.max - row.min) / 2 * math.sqrt(row.samples / max(row.samples - 1, 1))
    arithmetic = f"SD {row.sd:g}; an extreme forces at least {least:.3g}, half the range at most {most:.3g}"
    off = half_digit(row.sd) + (half_digit(row.min) + half_digit(row.max)) / 2
    possible = least * 0.98 - off <= row.sd <= most * 1.02 + off
    return _finding(row, "SD within its bounds", "supported" if possible else "impossible", arithmetic)


def below_the_ping(row: Row, file: AuditFile) -> Finding | None:
    """No reply is quicker than the round trip that carries it."""
    place = file.placement(row)
    quickest = row.min or row.centre
    if row.measures == "gap" or place is None or place.ping_ms is None or quickest is None:
        return None
    which = "min" if row.min else "centre"
    arithmetic = f"{which} {quickest:g} ms / ping {place.ping_ms:g} ms = {quickest / place.ping_ms:.3g}"
    centre = row.centre or quickest
    if centre < place.ping_ms * (1 - slack(place.ping_ms)):
        return _finding(row, "below the ping", "impossible", f"typical {centre:g} ms is below ping; {arithmetic}")
    if quickest < place.ping_ms * (1 - slack(place.ping_ms)):
        return _finding(row, "below the ping", "cannot-tell", f"{arithmetic}: the ping's own minimum is not published")
    return _finding(row, "below the ping", "supported", arithmetic)


def round_trips(row: Row, file: AuditFile) -> Finding | None:
    """(centre - the same call's centre on one host) / ping, against what the connection policy implies.

    On one host both ends share its CPUs, so that up to half of that figure may be saved between two hosts.
    """
    place, at_home = file.placement(row), _on_one_host(row, file)
    if row.measures == "gap" or not (place and place.ping_ms and row.centre and at_home and at_home.centre):
        return None
    if place.ping_ms < 1 or at_home is row:
        return None
    trips = (row.centre - at_home.centre) / place.ping_ms
    certain, least, why = implied_round_trips(row)
    arithmetic = (
        f"({row.centre:g} - {at_home.centre:g}) / {place.ping_ms:g} = {trips:.2f} round trips; {why} needs {least}"
    )
    allowed, most = 1 - slack(place.ping_ms), trips + 0.5 * at_home.centre / place.ping_ms
    if most < certain * allowed:
        # One trip too few says that a connection was kept, not that nature erred.
        verdict: AuditVerdict = "impossible" if most < allowed else "contradicted"
        return _finding(row, "round trips", verdict, arithmetic)
    if trips < least * (0.9 if place.ping_ms >= 5 else 0.5):
        why = "less work on two hosts" + (" or a larger initial window" if least > certain else "")
        return _finding(row, "round trips", "cannot-tell", f"{arithmetic}: fewer, which {why} may explain")
    if trips <= least * 1.35 + 0.15:
        return _finding(row, "round trips", "supported", arithmetic)
    return _finding(
        row, "round trips", "cannot-tell", f"{arithmetic}: more than that, which load, queueing or loss may explain"
    )


def implied_round_trips(row: Row) -> tuple[int, int, str]:
    """The fewest round trips for a row's connection policy, those with its payload, and the reason in words.

    A new TCP connection costs one; a payload beyond the initial window costs one for each doubling of it (slow start),
    unless the system is set to begin with a larger one.
    """
    certain, trips, words = 1, 1, ["one request and reply"]
    if row.connection == "per-request":
        certain, trips, words = 2, 2, [*words, "a new TCP connection"]
        window, sent = INITIAL_WINDOW_BYTES, 0
        size = max(row.request_bytes or 0, row.reply_bytes or 0)
        extra = 0
        while (sent := sent + window) < size:
            window, extra = window * 2, extra + 1
        if extra:
            trips, words = trips + extra, [*words, f"{extra} doublings of the window for {size:,} bytes"]
    return certain, trips, " + ".join(words)


def goodput(row: Row, file: AuditFile) -> Finding | None:
    """Bytes per second through one call, of the larger body, against what the link, or the machine, can carry."""
    place = file.placement(row)
    size = max(row.request_bytes or 0, row.reply_bytes or 0)
    caps = _caps(place, file)
    if not size or not caps or row.measures == "gap" or row.centre is None or _is_one_host(place):
        return None
    mbit = size * 8 / row.centre / 1000
    name, cap = min(caps.items(), key=lambda item: item[1])
    arithmetic = f"{size:,} bytes in {row.centre:g} ms = {mbit:,.0f} Mbit/s; {name} carries {cap:,.0f} Mbit/s"
    return _finding(row, "goodput", "impossible" if mbit > cap * 1.05 else "supported", arithmetic)


def _caps(place: PlacementFact | None, file: AuditFile) -> dict[str, float]:
    caps = {}
    if place and place.link_mbit:
        caps["the link"] = place.link_mbit
    machine = file.stated.machine
    if machine in MACHINE_CAP_MBIT:
        caps[f"{'an' if machine[0] in 'aef' else 'a'} {machine}"] = MACHINE_CAP_MBIT[machine]
    return caps


def uniform_ramp(row: Row, _: AuditFile) -> Finding | None:
    """Queue positions recorded as latencies are uniform: mean (min + max) / 2, SD (max - min) / sqrt(12)."""
    if not (row.min and row.max and row.mean and row.sd) or row.max < 10 * row.min:
        return None
    mean, sd = (row.min + row.max) / 2, (row.max - row.min) / math.sqrt(12)
    expected = f"uniform from {row.min:g} to {row.max:g} has mean {mean:.2f} and SD {sd:.2f}"
    arithmetic = f"{expected}; published: {row.mean:g} and {row.sd:g}"
    if abs(row.mean / mean - 1) < 0.03 and abs(row.sd / sd - 1) < 0.03:
        words = f"{arithmetic}: the shape of places in a queue, or of waiting for a timer, not of a call's own time"
        return _finding(row, "uniform ramp", "contradicted", words)
    return _finding(row, "uniform ramp", "supported", f"{arithmetic}: no ramp")


def in_flight(row: Row, file: AuditFile) -> Finding | None:
    """Requests sent in a batch wait for each other: that is no sequential latency."""
    if row.batch is None or file.stated.mode != "sequential":
        return None
    arithmetic = f"stated sequential (1 in flight), sent in batches of {row.batch}"
    if row.mean:
        arithmetic += f"; {row.mean:g} ms / {row.batch} = {row.mean / row.batch:.2f} ms of work a request"
    return _finding(row, "in flight", "contradicted" if row.batch > 1 else "supported", arithmetic)


def littles_law(row: Row, file: AuditFile) -> Finding | None:
    """In a closed loop, concurrency = throughput x mean latency (Little 1961), less the client's own time between calls.

    So latencies can add up to less than the time there was, and never to more. Over several runs a mean of all requests
    and a median of the runs' throughputs are often published side by side, though: there, only a large excess tells.
    """
    concurrency = 1 if file.stated.mode == "sequential" else row.concurrency
    if file.stated.mode in ("open loop", "stream"):
        return None
    if row.measures == "gap" or not (concurrency and row.throughput_per_s):
        return None
    implied = concurrency / row.throughput_per_s * 1000
    arithmetic = f"{concurrency} in flight / {row.throughput_per_s:,g} per s = a mean of {implied:.3g} ms"
    typical, name = (row.mean, "mean") if row.mean else (row.p99, "p99")
    if not typical:
        return None
    arithmetic += f"; published {name} {typical:g} ms"
    if name == "mean" and typical > implied * (1.05 if file.stated.repeats == 1 else EXCESS_OVER_RUNS):
        return _finding(row, "Little's law", "contradicted", f"{arithmetic}: more time than there was")
    if name == "mean" and typical > implied * 1.05:
        words = f"{arithmetic}: more time than there was, which runs put together in two ways may explain"
        return _finding(row, "Little's law", "cannot-tell", words)
    if typical < implied * 0.8:
        words = f"{arithmetic}: the rest of the time is in no latency, which the client's own work may explain"
        return _finding(row, "Little's law", "cannot-tell", words)
    return _finding(row, "Little's law", "supported", arithmetic)


def gap_is_no_latency(row: Row, _: AuditFile) -> Finding | None:
    """The time between two arrivals of a stream follows its rate, whatever the latency."""
    if row.measures != "gap" or not row.p99:
        return None
    arithmetic = f"the p99 of {row.p99:g} ms is of gaps between arrivals"
    if row.offered_per_s and row.concurrency:
        period = 1000 * row.concurrency / row.offered_per_s
        arithmetic += (
            f"; one client is sent an event every {period:g} ms, so that a gap is {row.p99 / period:.2f} periods"
        )
    return _finding(row, "gaps are no latencies", "cannot-tell", f"{arithmetic}: it says nothing of latency")


def delivered(row: Row, _: AuditFile) -> Finding | None:
    """Events that arrived against events that were offered. Loss is no error of a table; its latencies are of the rest."""
    if not (row.offered_per_s and row.delivered_per_s):
        return None
    share = row.delivered_per_s / row.offered_per_s
    arithmetic = f"{row.delivered_per_s:,g} of {row.offered_per_s:,g} per s = {share:.1%}, {1 - share:.1%} missing"
    if share > 1.01:
        return _finding(row, "delivered against offered", "impossible", arithmetic)
    if share < 0.999:
        words = f"{arithmetic}: what is said of the others says nothing of these"
        return _finding(row, "delivered against offered", "cannot-tell", words)
    return _finding(row, "delivered against offered", "supported", arithmetic)


RULES: tuple[Rule, ...] = (
    order,
    spread,
    below_the_ping,
    round_trips,
    goodput,
    uniform_ramp,
    in_flight,
    littles_law,
    gap_is_no_latency,
    delivered,
)


def _on_one_host(row: Row, file: AuditFile) -> Row | None:
    """The same protocol and operation, measured with both ends on one host."""
    for other in file.results:
        same = (other.protocol, other.operation) == (row.protocol, row.operation)
        if same and _is_one_host(file.placement(other)):
            return other
    return None


def _is_one_host(place: PlacementFact | None) -> bool:
    return place is not None and place.ping_ms is not None and place.ping_ms < 0.2


def _finding(row: Row, rule: str, verdict: AuditVerdict, arithmetic: str) -> Finding:
    figures = {k: v for k, v in row.model_dump(exclude_none=True).items() if isinstance(v, int | float)}
    return Finding(
        claim=f"{row.name}: the published figures",
        verdict=verdict,
        rule=rule,
        arithmetic=arithmetic,
        rows=(row.name,),
        evidence=figures,
    )
