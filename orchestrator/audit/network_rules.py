"""Rules on what a distance and a link allow: round trips, and bytes per second."""

from __future__ import annotations

from operator import attrgetter

from orchestrator.audit.assessment import AuditVerdict, Outcome, Rule
from orchestrator.audit.claim_forms import Statistic
from orchestrator.audit.method import method_of
from orchestrator.audit.model import AuditFile, PlacementFact, Row
from orchestrator.audit.precision import Bounds, blanks, bounds, half_digit

# What a machine type may send, in Mbit/s: the tables of shared-core types in Compute Engine's documentation ("General-
# purpose machine family", maximum egress bandwidth). For f1-micro an independent measurement agrees: 119 to 120 MB/s
# of UDP both ways (OpsDash, "Google Cloud f1-micro", 2017).
MACHINE_CAP_MBIT = {"f1-micro": 1000.0, "g1-small": 1000.0, "e2-micro": 1000.0, "e2-small": 1000.0, "e2-medium": 2000.0}

BELOW_PING = Rule(
    "below the ping",
    "10 % of the ping from 5 ms on, 75 % below it, as a mean of few pings may be high by its first packet; rounding",
    "the ping was taken on another path, replies came from a nearer cache, failed calls were counted, or the figure is a "
    "batch's time divided by its size, or the reciprocal of a throughput",
)
DISTANCE = Rule(
    "distance",
    "5 %, as distances are rounded, and the figures' rounding",
    "replies came from a nearer host (a cache, an edge), the way is not fibre (radio and lasers between satellites are up "
    "to 1.468 times as quick), failed calls were counted, or a batch's time was divided by its size",
)
ROUND_TRIPS = Rule(
    "round trips",
    "10 % of a trip from 5 ms on, 75 % below it, and half of the time that the call takes on one host",
    "the call on one host was measured under another load, or the clock left out opening the connection (k6), or "
    "connections were opened ahead of time or with TCP Fast Open",
)
LINK_LOAD = Rule(
    "throughput against the link",
    "5 % above what the link, or the machine's documented cap, carries; larger of the two bodies, one direction",
    "the bodies travelled compressed, several links or hosts shared the load, or the link carries more than stated",
)

# Light in a vacuum, and the group index of single-mode fibre at 1,550 nm (Corning, SMF-28 Ultra, data sheet).
LIGHT_KM_PER_MS = 299.792458
FIBRE_INDEX = 1.468

# What a placement of both ends on one host is called, and the largest ping there.
_ONE_HOST = frozenset({"local", "localhost", "loopback"})
_ONE_HOST_PING_MS = 0.2

_WITHOUT_HANDSHAKE = ("udp", "coap", "dns")
_TYPICAL: tuple[Statistic, ...] = ("max", "p9999", "p999", "p99", "p95", "p90", "p75", "mean", "median")


def slack(ping_ms: float) -> float:
    """By what share a call may undercut a published ping without being a miracle.

    The ping is a mean over a few packets at another minute. On short paths the first packet (address resolution, flow
    set-up) can take ten times as long as the others, which makes the mean of four three times too large.
    """
    return 0.10 if ping_ms >= 5 else 0.75


def below_the_ping(row: Row, file: AuditFile) -> Outcome | None:
    """No reply is faster than the round trip that carries it; nor is the middle of many, or any higher percentile."""
    place = file.placement(row)
    if row.measures == "gap" or place is None or not place.ping_ms:
        return None
    least = (place.ping_ms - half_digit(place.ping_ms)) * (1 - slack(place.ping_ms))
    upper = {n: b for n in _TYPICAL if n not in blanks(row) and (b := bounds(row, file, n))}
    lower = {n: b for n in ("min", "p10", "p25") if (b := bounds(row, file, n))}
    if not upper and not lower:
        return None
    fastest = next(n for n in ("min", "p10", "p25", "median", "mean", *reversed(_TYPICAL)) if n in lower | upper)
    value = row.value(fastest) or 0.0
    arithmetic = f"{fastest} {value:g} ms / ping {place.ping_ms:g} ms = {value / place.ping_ms:.3g}"
    under = [n for n, figure in upper.items() if figure.high < least]
    if under:
        typical = next((n for n in ("median", "mean") if n in under), under[-1])
        words = f"{typical} {row.value(typical):g} ms is below ping; {arithmetic}"
        if row.batch and row.batch > 1 and upper[typical].high * row.batch >= least:
            words = f"{words}; over a batch of {row.batch} that is {(row.value(typical) or 0) * row.batch:.3g} ms"
            return "undetermined", f"{words}: a batch's time, divided"
        if why := _excuse(row, file, "the other end", "may fail at once"):
            return "undetermined", f"{words}: {why}"
        return "impossible", words
    if any(figure.high < least for figure in lower.values()):
        return "undetermined", f"{arithmetic}: the ping's own minimum is not published"
    return "supported", arithmetic


def _excuse(row: Row, file: AuditFile, nearer: str, failed: str) -> str:
    """Why figures may be better than the way to the other end allows, by what the publication says; "" without."""
    method = method_of(row, file)
    if method.replies == "nearer":
        return f"by its description replies come from nearer than {nearer}"
    return f"failed calls are counted, and {failed}" if method.failures == "counted" else ""


def distance(row: Row, file: AuditFile) -> Outcome | None:
    """No round trip, be it a ping or a reply, is faster than light in fibre, there and back; not even the fastest."""
    place = file.placement(row)
    km = row.distance_km or (place.distance_km if place else None)
    if km is None or row.measures == "gap":
        return None
    radio = method_of(row, file).medium == "radio"
    index = 1.0 if radio else FIBRE_INDEX
    least = 2 * km * index / LIGHT_KM_PER_MS
    known = {n: b for n in ("min", *_TYPICAL) if n not in blanks(row) and (b := bounds(row, file, n))}
    words: dict[str, str] = {n: f"{n} {row.value(n):g} ms" for n in known}
    highest: dict[str, float] = {n: b.high * (row.batch or 1) for n, b in known.items()}
    if place and place.ping_ms:
        words["ping"], highest["ping"] = f"ping {place.ping_ms:g} ms", place.ping_ms + half_digit(place.ping_ms)
    if not highest:
        return None
    light = f"{LIGHT_KM_PER_MS / index:.1f} km/ms (light in {'a vacuum' if radio else 'fibre'})"
    arithmetic = f"2 x {km:,g} km at {light} = {least:.3g} ms"
    if under := [name for name in words if highest[name] < least * 0.95]:
        arithmetic = f"{arithmetic}; below it: {', '.join(words[n] for n in under)}"
        if "ping" not in under and (why := _excuse(row, file, "the other end", "may fail at once")):
            return "undetermined", f"{arithmetic}: {why}"
        return "impossible", arithmetic
    fastest = min(highest, key=lambda name: highest[name])
    return "supported", f"{arithmetic}; {words[fastest]}"


def round_trips(row: Row, file: AuditFile) -> Outcome | None:
    """(centre - the same call's centre on one host) / ping, against what the connection policy implies.

    On one host both ends share its CPUs, so that up to half of that figure may be saved between two hosts. Where the
    call was not measured on one host under the same load, all of its time may have been on the way.
    """
    place, centre = file.placement(row), _centre(row, file)
    if row.measures == "gap" or not (place and place.ping_ms and centre and row.centre):
        return None
    if place.ping_ms < 1 or (row.batch or 1) > 1:
        return None
    least = 2 if row.connection == "per-request" else 1
    method = method_of(row, file)
    if method.connecting == "excluded" or (row.protocol or "").lower() in _WITHOUT_HANDSHAKE:
        least = 1
    why = "one request and reply" + (" + a new TCP connection" if least == 2 else "")
    allowed = 1 - slack(place.ping_ms)
    at_home = _on_one_host(row, file)
    home = _centre(at_home, file) if at_home else None
    if at_home is None or home is None or at_home.centre is None:
        most = centre.high / place.ping_ms
        if least == 1 or most >= least * allowed or most < allowed:
            return None
        return (
            "contradicted",
            f"{row.centre:g} / {place.ping_ms:g} = {most:.2f} round trips at most; {why} needs {least}",
        )
    trips = (row.centre - at_home.centre) / place.ping_ms
    arithmetic = (
        f"({row.centre:g} - {at_home.centre:g}) / {place.ping_ms:g} = {trips:.2f} round trips; {why} needs {least}"
    )
    most = (centre.high - 0.5 * home.low) / place.ping_ms
    if most < least * allowed:
        # One trip too few says that a connection was kept, not that nature erred.
        verdict: AuditVerdict = "impossible" if most < allowed else "contradicted"
        return verdict, arithmetic
    if trips < least * (0.9 if place.ping_ms >= 5 else 0.5):
        return "undetermined", f"{arithmetic}: fewer, which less work on two hosts may explain"
    if trips <= least * 1.35 + 0.15:
        return "supported", arithmetic
    return "undetermined", f"{arithmetic}: more than that, which load, queueing or loss may explain"


def _centre(row: Row, file: AuditFile) -> Bounds | None:
    return bounds(row, file, "median") or bounds(row, file, "mean")


def link_load(row: Row, file: AuditFile) -> Outcome | None:
    """Bytes per second of a call, or of all together, of the larger body, against what the link, or the machine, carries."""
    size = max(row.request_bytes or 0, row.reply_bytes or 0)
    caps = _caps(file.placement(row), file)
    if not size or not caps:
        return None
    method = method_of(row, file)
    shared = max(method.links or 1, method.clients or 1)
    loads = []  # in words, in Mbit/s: as published, and at the least on each link
    typical = next((n for n in ("median", "mean", *reversed(_TYPICAL)) if row.value(n)), None)
    possible = bounds(row, file, typical) if typical else None
    if typical and possible and row.measures != "gap" and (row.batch or 1) == 1:
        value = row.value(typical) or 0.0
        loads.append((f"{size:,} bytes in {value:g} ms", size * 8 / value / 1000, size * 8 / possible.high / 1000))
    if rate := row.throughput_per_s or row.delivered_per_s:
        least = size * 8 * (rate - half_digit(rate)) / 1e6
        loads.append((f"{size:,} bytes x {rate:,g} per s", size * 8 * rate / 1e6, least / shared))
    if not loads:
        return None
    words, mbit, surely = max(loads, key=lambda load: load[2])
    name, cap = min(caps.items(), key=lambda item: item[1])
    arithmetic = f"{words} = {mbit:,.0f} Mbit/s; {name} carries {cap:,.0f} Mbit/s"
    if surely > cap * 1.05:
        if method.compressed:
            return "undetermined", f"{arithmetic}: by its description bodies travel compressed, or not at all"
        if why := _excuse(row, file, "the link's other end", "carry no body"):
            return "undetermined", f"{arithmetic}: {why}"
        return "impossible", arithmetic
    if shared > 1 and mbit > cap * 1.05:
        return "undetermined", f"{arithmetic}: several links or hosts share the load"
    return "supported", arithmetic


def _caps(place: PlacementFact | None, file: AuditFile) -> dict[str, float]:
    """What bounds the bytes per second at a placement; a machine's cap binds only what leaves the machine."""
    caps = {}
    if place and place.link_mbit:
        caps["the link"] = place.link_mbit
    machine = file.stated.machine
    if machine in MACHINE_CAP_MBIT and place is not None and not _is_one_host(place):
        caps[f"{'an' if machine[0] in 'aef' else 'a'} {machine}"] = MACHINE_CAP_MBIT[machine]
    return caps


# What the same call under the same load has in common.
_LOAD = attrgetter("protocol", "operation", "concurrency", "batch", "request_bytes", "reply_bytes", "measures")


def _on_one_host(row: Row, file: AuditFile) -> Row | None:
    """The same call under the same load, measured with both ends on one host."""
    alike = (other for other in file.results if other is not row and _LOAD(other) == _LOAD(row))
    return next((other for other in alike if _is_one_host(file.placement(other))), None)


def _is_one_host(place: PlacementFact | None) -> bool:
    if place is None or place.ping_ms is None:
        return place is not None and place.name in _ONE_HOST
    return place.ping_ms < _ONE_HOST_PING_MS
