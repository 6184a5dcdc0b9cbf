"""Numbers and loads as people read them; what summary, checks and comparisons say is put together from these."""

from __future__ import annotations

from orchestrator.experiment.plan import Cell, Load


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


def times(ratio: float) -> str:
    """A ratio of latencies as a difference in words: 0.8 is `20 % faster`, 1.05 `5.0 % slower`, 3 `3.00 times as slow`."""
    if ratio >= 2:
        return f"{ratio:.2f} times as slow"
    if ratio <= 0.5:
        return f"{1 / ratio:.2f} times as fast"
    return f"{percent(abs(ratio - 1))} {'slower' if ratio > 1 else 'faster'}"


def place(cell: Cell) -> str:
    """Where a finding belongs when no cell is named beside it."""
    return f"cell {cell.id}"
