"""Numbers and loads as people read them; what summary, checks and comparisons say is put together from these."""

from __future__ import annotations

from services.harness.contract import Load


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
    """A load in words, e.g. `1,000 requests, 1 in flight` or `500/s (poisson) for 10 s`."""
    ends = []
    if load.requests is not None:
        ends.append(f"{load.requests:,} requests")
    if load.duration_s is not None:
        ends.append(f"{load.duration_s:g} s")
    until = " or ".join(ends)
    if load.rate_per_s is not None:
        return f"{load.rate_per_s:g}/s ({load.arrivals}) for {until}"
    return f"{until}, {load.concurrency:,} in flight"


def difference(share: float) -> str:
    """A relative difference as `3.0 %`, from twofold on as `a factor of 2.5`."""
    return percent(share) if share < 1 else f"a factor of {1 + share:.1f}"


def margin(share: float) -> str:
    """A margin somebody chose, as they would write it: 0.05 `5 %`, 0.025 `2.5 %`."""
    return f"{share * 100:.3g} %"


def below(share: float) -> str:
    """A limit of a relative difference: `below 3.0 %`, from twofold on `of less than 2.5 times`."""
    return f"below {percent(share)}" if share < 1 else f"of less than {1 + share:.1f} times"


def times(ratio: float) -> str:
    """A ratio of latencies in words that cannot be read two ways: 0.8 `takes 20 % less time`, 3 `3.00 times as long`."""
    if ratio >= 2:
        return f"takes {ratio:.2f} times as long"
    return f"takes {percent(abs(ratio - 1))} {'more' if ratio > 1 else 'less'} time"
