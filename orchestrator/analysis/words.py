"""Numbers and loads as people read them; what summary, checks and comparisons say is put together from these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.experiment.units import format_rate
from services.harness.contract import Load

_MOST_DECIMALS = 12  # of a bound beside 1


def percent(share: float, digits: int = 1) -> str:
    """0.034 as `3.4 %`; whole numbers from ten per cent on."""
    return f"{share * 100:.{0 if abs(share) >= 0.1 else digits}f} %"


def ms(value: float) -> str:
    """Milliseconds with three significant digits, in the unit that reads best."""
    if abs(value) >= 1000:
        return f"{value / 1000:.3g} s"
    return f"{value:.3g} ms" if abs(value) >= 1 else f"{value * 1000:.3g} µs"


def ns(value: float) -> str:
    """Nanoseconds likewise."""
    return ms(value / 1e6) if abs(value) >= 1000 else f"{value:.0f} ns"


def of_load(load: Load) -> str:
    """A load in words, e.g. `1,000 requests, 1 in flight` or `500/s (poisson) for 10 s, at most 250 in flight`."""
    ends = []
    if load.requests is not None:
        ends.append(f"{load.requests:,} requests")
    if load.duration_s is not None:
        ends.append(f"{load.duration_s:g} s")
    until = " or ".join(ends)
    if load.rate_per_s is not None:
        return f"{format_rate(load.rate_per_s)} ({load.arrivals}) for {until}, at most {load.concurrency:,} in flight"
    return f"{until}, {load.concurrency:,} in flight"


def not_sent(done: Mapping[str, Any]) -> str:
    """Why a requester did not send all that was due in an open loop, from its `done` line; nothing where it sent all."""
    if not done.get("not_sent"):
        return ""
    busy = "all connections were busy"
    return busy if done.get("not_sent_reason") == "connections-busy" else "the requester could not keep up"


RATIOS_AND_MEDIANS = (
    "The ratio is the geometric mean over blocks of each block's own ratio: that of the two medians beside it, where both"
    " have a trial in every block."
)
INTERVALS = (
    "Median and percentiles are geometric means of the trials' (of all requests pooled where a trial has too few, or too"
    " many failed); the 95 % interval is that of the median, from the same trials."
)
THROUGHPUT = (
    "Req/s is right replies over the measured windows, less the requester's own pauses in closed loops (verifying,"
    " recording, closing)."
)

# Of whatever number of requests in flight: each keeps a connection of its own where the client opens several.
POLICIES = {"reuse": "connections kept open", "per-request": "a new connection per request"}


def rate(per_s: float) -> str:
    """Events per second, with a decimal only where there is one: `4,000`, `12.5`."""
    return f"{per_s:,.1f}".removesuffix(".0")


def factor(value: float, decimals: int = 2) -> str:
    """A ratio with at least two significant digits, so that a small one is never shown as zero: `12.84`, `0.0038`."""
    return f"{value:.{decimals}f}" if value >= 0.1 else f"{value:.2g}"


def bounds(interval: Sequence[float], decimals: int = 2) -> tuple[str, str]:
    """Both bounds of a ratio's interval; one that excludes 1 is never rounded to 1: `0.93`, `0.997`."""
    low, high = interval
    return _not_one(low, decimals), _not_one(high, decimals)


def _not_one(bound: float, decimals: int) -> str:
    text = factor(bound, decimals)
    while float(text) == 1 and bound != 1 and decimals < _MOST_DECIMALS:
        decimals += 1
        text = factor(bound, decimals)
    return text


def limit(beyond_ms: float | None, timeout_ms: float | None) -> str:
    """What a percentile that falls among requests without a right reply lies beyond: the longer of time-out and reply."""
    if beyond_ms is None:
        beyond_ms = timeout_ms
    if beyond_ms is None:
        return "every reply"
    if timeout_ms is None or beyond_ms <= timeout_ms:
        return f"the {ms(beyond_ms)} time-out"
    return f"the slowest reply, {ms(beyond_ms)} (the time-out is {ms(timeout_ms)})"


def of_trial(block: int, index: int) -> str:
    """A trial as tables and manifest name it: `block 3 (trial 20)`; `block` counts from zero here."""
    return f"block {block + 1} (trial {index})"


def no_reply(failed: int, requests: int) -> str:
    """How much failed: `0.9 % of requests got no right reply`; a share too small for that as a count."""
    share = failed / requests if requests else 1.0
    if failed == requests:
        return "no request got a right reply"
    if share < 0.0005:
        return f"{count(failed, 'request')} of {requests:,} got no right reply"
    return f"{'less than 100 %' if share > 0.995 else percent(share)} of requests got no right reply"


def count(number: int, one: str, several: str = "") -> str:
    """`1 request`, `2 requests`; `several` where the plural is not made by an s."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)


def difference(share: float) -> str:
    """A relative difference as `3.0 %`, from twofold on as `a factor of 2.5`."""
    return percent(share) if share < 1 else f"a factor of {1 + share:.1f}"


def margin(share: float) -> str:
    """A margin somebody chose, as they would write it: 0.05 `5 %`, 0.025 `2.5 %`."""
    return f"{share * 100:.3g} %"


def times(ratio: float) -> str:
    """A ratio of latencies in words that cannot be read two ways: 0.8 `takes 20 % less time`, 3 `3.00 times as long`."""
    if ratio >= 2:
        return f"takes {ratio:.2f} times as long"
    return f"takes {percent(abs(ratio - 1))} {'more' if ratio > 1 else 'less'} time"
