"""What both kinds of load loop share: what they are given, and how a trial drives them.

`sync_load.BlockingLoops` drives clients whose calls block a thread, `async_load.AwaitingLoops` those that are awaited on
uvloop. Rules of both:

* One send stamp per sample, taken immediately before the client's call, and one when it returned; making the request,
  recording and closing stand outside. Under `per-request`, opening the connection stands inside.
* What stands outside the window of one request stands in those of the others when several are in flight: there, replies
  are verified after the phase (`recorder`). Making a request, storing its row and closing its connection cannot wait;
  how long verifying and recording took all workers is counted (`Tally.entering_ns`).
* Pauses of a closed loop, from a reply to the worker's being ready again, are added up, so that throughput can be told
  without them. With think time a worker rests before each request, and the row's intended stamp says when that was over.
* When a phase is over nothing more is sent, and what is in flight is awaited: to throw it away would throw away the slow
  ones first. What an open loop had due and could not send in time is entered as not sent, which is no error.
* A connection that failed under `reuse`, or whose end a reply announced (`client.Connection`: no error), is dialled anew
  outside the window of the next request. The clients of `tcp`, `websocket` and `socketio`, and `raw`, connect there; the
  HTTP libraries (`pycurl`, `requests`, `httpx`, `aiohttp`) and gRPC's connect at the first call, in that request's window.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from services.python.contract.limits import Policy
from services.python.contract.lines import Load
from services.python.contract.strict import Part, part
from services.python.load.client import Request
from services.python.load.phases import NS, Phase, Rests
from services.python.load.recorder import GaveUp, Recorder
from services.python.probes.clock import Clock

NO_CONNECTION = -1

# After these the connection cannot be trusted with another request.
BREAKING = frozenset({"refused", "closed", "timeout", "undecodable", "cancelled", "exhausted"})


Kept = TypeVar("Kept")


class Lane(Generic[Kept]):
    """One worker: its connection under `reuse`, how long it paused between its requests, and what it did there itself."""

    def __init__(self) -> None:
        self.connection: Kept | None = None
        self.number = NO_CONNECTION
        self.pause_ns = 0  # since the last reply
        self.paused_ns = 0  # before every request but the first
        self.entering_ns = 0  # verifying and recording, under `per-request`
        self.dropping_ns = 0  # under `reuse`, closing connections that broke: of its pauses the rest is entering


@part
class Work(Part):
    """What the loops of a trial need besides a dialer."""

    make: Callable[[int, Callable[[], int]], Request]
    recorder: Recorder
    clock: Clock
    policy: Policy
    concurrency: int
    before_close: Callable[[], None]


class Waits(Protocol):
    """How time passes between phases; connections stay alive."""

    def wait(self, seconds: float) -> None:
        """So long."""

    def wait_for(self, hear: Callable[[], str]) -> str:
        """What `hear` returns, which blocks until then."""


class Loops(Waits, Protocol):
    """How a trial drives its load, whatever the client's style."""

    def open(self) -> None:
        """Under `reuse`, open as many connections as requests may be in flight; CallFailed when that fails."""

    def closed_loop(self, phase: Phase, rests: Rests | None = None) -> None:
        """Keep as many requests in flight as `concurrency` says, until the phase is over. GaveUp.

        With `rests` each worker rests before each of its requests: think time. It begins when the worker is ready for the
        next request, so that nothing that a clock left out hides in it, and is no pause.
        """

    def open_loop(self, phase: Phase, due: array[int], close_ns: int | None) -> None:
        """Send each request when it is due (ns from the phase's beginning), until `close_ns`. GaveUp."""

    def close(self, grace_s: float = 0) -> None:
        """Close the connections. GaveUp when one that was kept held replies that nobody asked for.

        `grace_s`: how long such a reply is waited for.
        """

    @property
    def lag_ms(self) -> float | None:
        """Worst lag of the event loop since the last phase began; None without an event loop."""


def close_after(load: Load, begin_ns: int) -> int | None:
    """When the window of an open loop closes; None when only the number of requests ends it."""
    return None if load.duration_s is None else begin_ns + int(load.duration_s * NS)


def count_pauses(work: Work, lanes: Sequence[Lane[Any]], *, is_closed_loop: bool) -> None:
    """Enter what workers did between requests in the phase that is over; the next phase counts anew.

    How long a worker of a closed loop paused, on average, and how long all together were busy verifying and recording.
    """
    paused_ns = sum(lane.paused_ns for lane in lanes)
    if work.policy == "reuse":  # the pause after the last reply, too: it holds what that took to enter
        entering_ns = sum(lane.paused_ns + lane.pause_ns - lane.dropping_ns for lane in lanes)
    else:
        entering_ns = sum(lane.entering_ns for lane in lanes)
    work.recorder.paused(paused_ns=paused_ns // len(lanes) if is_closed_loop else None, entering_ns=entering_ns)
    for lane in lanes:
        lane.pause_ns = lane.paused_ns = lane.entering_ns = lane.dropping_ns = 0


def cancel_rest(work: Work, phase: Phase, due: array[int], now_ns: int) -> None:
    """Enter what was due and never sent, as such; its latency would have been longer than `received - intended`."""
    for index in phase.take_rest():
        work.recorder.not_sent(phase.first_sequence + index, phase.begin_ns + due[index], now_ns)


_REQUESTS = 10
_LEAST_S, _MOST_S = 0.005, 0.1


def grace_s(span_s: float, requests: int, concurrency: int) -> float:
    """How long what is still under way has to arrive: behind one reply too many, that to the last request comes last.

    Ten times what a connection took for a request of the measured phase, from 5 to 100 ms: with one reply too many, a
    request seems to take half of its time or more.
    """
    return min(max(_REQUESTS * span_s * concurrency / max(requests, 1), _LEAST_S), _MOST_S)


def refuse(found: Sequence[bool]) -> None:
    """GaveUp where a connection held any; `found` says it of each."""
    if any(found):
        raise GaveUp(
            "wrong-reply",
            f"{sum(found)} of {len(found)} connections held replies that nobody asked for: "
            "latencies may be of earlier requests",
        )
