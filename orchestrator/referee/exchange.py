"""What a load generator sends, which are the requests that our own requester put on the wire, and what it reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import PurePosixPath

import numpy as np

_LEAST_OF_WINDOW, _MOST_OF_WINDOW = 0.9, 1.5
_SLACK_S = 1.0
_SLACK = 0.05  # of Little's law, for latencies that are read from a histogram


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Recorded requests of one cell: all alike but for their bodies.

    `bodies`: in the order of first sight; they are sent in turn. `path`: of HTTP the path, of gRPC the method
    (`package.Service/Method`). `fields`: header fields of HTTP but for those that every program sets by itself.
    """

    path: str
    bodies: tuple[bytes, ...]
    fields: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Where requests are sent, how many at a time, on how many connections, for how many seconds.

    `authority`: the PEM file of the authority that signed the responder's certificate; None of plain connections.
    `folder`: where the program's input lies; `proto`: the file with the messages of gRPC.
    """

    host: str
    port: int
    in_flight: int
    connections: int
    window_s: int
    folder: PurePosixPath
    keeps: bool = True  # connections
    authority: str | None = None
    proto: PurePosixPath | None = None
    timeout_s: float = 30.0


class Unreadable(ValueError):
    """What a load generator printed is not its report, or cannot be true; the message is the reason, as a clause."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Requests that ended with a right status, in how many seconds, and the median of their latencies in nanoseconds.

    `p99_ns`: the latency that 99 % of them do not exceed, by nearest rank; a run's journal does not keep it.
    """

    requests: int
    window_s: float
    median_ns: float
    p99_ns: float = field(default=math.nan, compare=False)


def of_latencies(latencies_ns: Iterable[float], window_s: float) -> Figures:
    """Return the figures of these latencies; ValueError without any."""
    ordered = np.sort(np.fromiter(latencies_ns, dtype=np.float64))
    if not ordered.size or ordered[0] <= 0:
        raise Unreadable("a latency is not above zero, or there is none")
    p99_ns = float(ordered[math.ceil(0.99 * ordered.size) - 1])
    return Figures(requests=ordered.size, window_s=window_s, median_ns=float(np.median(ordered)), p99_ns=p99_ns)


def reader(read: Callable[[str, int], Figures]) -> Callable[[str, int], Figures]:
    """Return a reader of reports that is Unreadable for whatever is not such a report."""

    @wraps(read)
    def reading(text: str, in_flight: int) -> Figures:
        try:
            return read(text, in_flight)
        except Unreadable:
            raise
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise Unreadable(f"it printed no report that can be read ({type(error).__name__})") from error

    return reading


def require_succeeded(statuses: dict[str, int], errors: dict[str, int], right: str) -> int:
    """Return the number of requests; Unreadable where one has an error, or a status that does not begin with `right`."""
    failures = {name: count for name, count in statuses.items() if not name.startswith(right)} | errors
    if any(failures.values()):
        raise Unreadable(f"requests failed: {failures}")
    return sum(statuses.values())


def require_possible(figures: Figures, *, in_flight: int, window_s: float, elapsed_s: float) -> Figures:
    """Return the figures; Unreadable where they cannot be those of such a load.

    `window_s`: the wanted length, `elapsed_s`: how long its process lived, by our clock.
    """
    if figures.requests < 1 or not (math.isfinite(figures.median_ns) and figures.median_ns > 0):
        raise Unreadable(f"{figures.requests} requests with a median of {figures.median_ns:g} ns cannot be")
    least_s, most_s = _LEAST_OF_WINDOW * window_s, min(_MOST_OF_WINDOW * window_s + _SLACK_S, elapsed_s)
    if not least_s <= figures.window_s <= most_s:
        raise Unreadable(
            f"its window is {figures.window_s:.3f} s, where {window_s:g} s were wanted and it ran for {elapsed_s:.3f} s"
        )
    # Half of the requests take at least the median, and no more of them than `in_flight` at a time.
    if figures.requests // 2 * figures.median_ns > in_flight * figures.window_s * 1e9 * (1 + _SLACK):
        raise Unreadable(
            f"half of {figures.requests} requests of at least {figures.median_ns / 1e3:.0f} us do not fit into"
            f" {figures.window_s:.3f} s with {in_flight} in flight"
        )
    return figures


def require_answered(figures: Figures, answered: int, in_flight: int) -> None:
    """Unreadable where the responder answered another number of requests meanwhile.

    What was in flight as the window closed is answered, and not counted by every program.
    """
    if not figures.requests <= answered <= figures.requests + in_flight:
        raise Unreadable(f"it counts {figures.requests} requests, the responder answered {answered}")
