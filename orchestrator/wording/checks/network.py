"""Words of the checks in `orchestrator/checks/network`."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.quantities import NOT_OURS
from orchestrator.wording.checks.vocabulary import Words

_STEP = "The clock advances in steps of {step_ns:ns}, {share:percent4} of the median"
_CLOCKS: Mapping[str, Words] = {
    "another-clock": (
        "Timestamps lie outside the clock anchors that the requester reported: they are another clock's.",
        "Take every timestamp from the monotonic clock; a CPU-time clock, for example, stops while waiting.",
    ),
    "backwards": (
        "{backwards:count reply was|replies were} received before the request was sent.",
        "Time requests with one monotonic clock (CLOCK_MONOTONIC), not with the wall clock.",
    ),
    "coarse": (_STEP, "Use a clock with nanosecond resolution, or measure operations that take longer."),
    "fine": _STEP,
}
_EXTRA = (
    "{extra:count extra connection} in {among:count request} ({share:percent}), beyond the declared"
    " {declared:count connection} kept open."
)
_POOL = "Turn off the client's connection pool, or declare `connection: reuse`."
_CONNECTIONS: Mapping[str, Words] = {
    "extra": (
        _EXTRA,
        "Something closes connections: let the responder keep them (HTTP/1.1), or measure `connection: per-request`.",
    ),
    "extra-at-events": (
        _EXTRA,
        "Each call leaves its stream at `events`, which ends the connection, and opens the next one: compare it with"
        " `connection: per-request`, or leave `events` out.",
    ),
    "fewer-by-responder": (
        "{carried_by:count connection} by the requester's count and {of_the_check} of the check, and the responder saw"
        " {peers:count peer}: the library used fewer.",
        "Find out whether the client's library puts several channels, or requests in flight, on one connection.",
    ),
    "kept": "{requests:count request} over {carried_by:count kept connection}; the responder saw {peers:,} peers.",
    "one-for-each": "{requests:count request}, a connection for each; the responder saw {peers:,} peers.",
    "pooled": ("{requests:count request} used {fewest:count connection}: not one for each.", _POOL),
    "pooled-by-both-counts": (
        "{requests:count request} used {fewest:count connection}, the responder saw {peers:count peer}: not one for each.",
        _POOL,
    ),
    "shared": (
        "{requests:count request} used {used:count connection} of the {declared:,} declared.",
        "Find out whether the client shares connections among its requests in flight.",
    ),
}
_FASTEST = "the fastest {work} took {quickest_ns:ns}, the {bound} {least_ns:ns}"
_WARNED = "See the run's warnings for the reason."
_FLOOR: Mapping[str, Words] = {
    "above": f"Above the floor: {_FASTEST}",
    "at-floor": f"At the floor, not above it: {_FASTEST}, which may be mostly the time to wake a CPU.",
    "at-uncertain-floor": f"At the floor, not above it: {_FASTEST}, which is less certain than that.",
    "below": (
        f"Below the {{bound}}, which is not a lower bound here: {_FASTEST}",
        "Compare this cell with the ping, not with the tcp floor.",
    ),
    "close": (
        f"Close to the floor: {_FASTEST}, a difference within the uncertainty of that baseline.",
        "Measure on Linux, where the socket's own round trip is a better bound.",
    ),
    "impossible": (
        f"Impossible: {_FASTEST}, with an uncertainty of no more than {{uncertain_ns:ns}}.",
        "Do not publish this cell. Find out where the timer stops and who answers (raw timings are in samples/), then"
        " measure again.",
    ),
    "narrow-window": "no larger exchange had grown its connection's window, so TCP itself may have limited it",
    "new-connection": "TCP estimates its sending rate for each new connection",
    "no-bound": ("No ping, socket round trip or tcp floor was measured with this cell.", _WARNED),
    "no-bound-of-own-service": (
        "No socket round trip was measured with this cell, and who answers a ping to the address of a service that is not"
        " ours is not known.",
        _WARNED,
    ),
    "not-pinned": "the two ends are not pinned, so the exchange may have had to wake a CPU",
    "over-quic": "it is TCP's, and QUIC has windows of its own, which let through more at first",
    "several-in-flight": "with several requests in flight no CPU has to be woken, unlike for the exchange",
}
_OVER_LINK = "{goodput_mbit_per_s:,.1f} Mbit/s of bodies over a link of {limit_mbit_per_s:,.0f} Mbit/s"
_GOODPUT: Mapping[str, Words] = {
    "impossible": (
        f"Impossible: {_OVER_LINK}.",
        "Check whether the timer stops too early or bodies are miscounted: see `floor` and `codec size`.",
    ),
    "link-is-the-limit": (
        f"{_OVER_LINK}: the link is the limit, not the stack.",
        "Compare stacks by bytes per request here, or lower the load.",
    ),
    "unknown-capacity": (
        "{goodput_mbit_per_s:,.1f} Mbit/s of bodies; the link's capacity is unknown.",
        "Give the placement a `rate` to enable this check.",
    ),
    "within": _OVER_LINK,
}
_AGAIN = "{again:,} of {packets:,} packets ({share:percent2}) were sent again"
_LOST_PACKETS: Mapping[str, Words] = {
    "few": _AGAIN,
    "many": (
        f"{_AGAIN}, in {{called}} of {{requests:count request}}.",
        "Find out what drops or delays packets on the way; one that is missed by a time-out costs its request 200 ms.",
    ),
    "not-counted": (
        "Neither the connections nor the hosts count the packets sent again for this cell alone.",
        "Measure on Linux, which counts them, or look for requests that take 200 ms longer than the median.",
    ),
    "one-way": (
        f"{_AGAIN} by the requester; of the way back nothing is known: {NOT_OURS}.",
        "Use a responder that orch starts to count both ways.",
    ),
    "over-quic": (
        "HTTP/3 is carried by QUIC, whose packets the ends' own library sends again: no kernel counts them, and what it"
        " counts of TCP is of others.",
        "Look for requests that take far longer than the median.",
    ),
}
_TRIPS = "The distance accounts for {round_trips:.2f} round trips of {rtt_ms:ms}"
_IMPLIED = f"{_TRIPS}; `{{policy}}` implies {{expected:span}}."
_ROUND_TRIPS: Mapping[str, Words] = {
    "as-implied": _IMPLIED,
    "impossible": (
        f"{_TRIPS}; `{{policy}}` needs at least {{expected:span}}.",
        "Check whether connections were reused where they should be new, and whether the right host answered.",
    ),
    "mix": "The requests of a mix carry bodies of several sizes, which take different numbers of round trips.",
    "more-than-implied": (
        _IMPLIED,
        "Look for an extra handshake, Nagle's algorithm with delayed acknowledgements, or a full queue.",
    ),
    "no-ping": (
        "No ping was measured between the two ends, so round trips cannot be counted.",
        "See the run's warnings for the reason, and use the tcp floor as the baseline.",
    ),
    "not-on-one-host": (
        f"{_TRIPS}, including the hosts' own work: this stack was not measured on one host.",
        "Add the placement `local` to tell the network's share from the hosts'.",
    ),
    "own-service": f"{_TRIPS}, its own work included: orch does not measure a service of your own on one host as well, and"
    " who answers a ping to its address may be another.",
    "short-distance": (
        "The round trip of {rtt_ms:ms} is below {least_ms:g} ms: the hosts' own work outweighs it.",
        "Add a placement over a longer distance.",
    ),
    "spread": (
        "On one host, requests took from {one_host_least_ms:ms} to over {one_host_median_ms:ms}: too much spread.",
        "Plan more requests per trial and more `repeats`.",
    ),
}
WORDS: Mapping[str, Mapping[str, Words]] = {
    "clocks": _CLOCKS,
    "connections": _CONNECTIONS,
    "floor": _FLOOR,
    "goodput": _GOODPUT,
    "lost packets": _LOST_PACKETS,
    "round-trips": _ROUND_TRIPS,
}
