"""One trial of streams, from its warm-up to its `done` line; `run` has checked both ends before."""

from __future__ import annotations

import gc
import time
from typing import Any

from services.python.contract.lines import Trial
from services.python.contract.requester_lines import Done, EventsReceived, Progress
from services.python.contract.streams import read_interval_ns
from services.python.load.client import CallFailed, Request
from services.python.load.phases import MEASURED, WARM_UP
from services.python.load.record import Record
from services.python.load.recorder import GaveUp
from services.python.load.stream_load import AwaitingStreams
from services.python.load.stream_recorder import StreamRecorder, StreamTally, Subscription, TooMany
from services.python.load.unverified import room_for_replies
from services.python.probes.clock import Clock
from services.python.probes.tcpinfo import WireMeter
from services.python.trial.parts import Hear, Parts, Print, hold_back, start
from services.python.trial.turns import Window, looked_at


def subscriptions(trial: Trial, parts: Parts) -> tuple[Request, Request]:
    """What each client asks for in the warm-up and in the measured phase."""
    stream, warmup = parts.operation.stream, trial.warmup
    assert stream is not None  # noqa: S101 - an operation of kind stream has one
    warm_s = min(warmup.at_least_s, warmup.at_most_s)
    asked = (stream.subscription(trial.payload, trial.seed, s) for s in (warm_s, trial.load.duration_s or 0.0))
    warm, measured = asked
    return warm, measured


def expected_rows(trial: Trial, parts: Parts) -> int:
    """How many rows there will be when every event comes once."""
    return sum(trial.load.concurrency * (request["count"] + 1) for request in subscriptions(trial, parts))


def measure_streams(
    trial: Trial, parts: Parts, record: Record, print_line: Print, clock: Clock, met: str | None, hear: Hear
) -> Done:
    """Both phases on the same connections, with the responder that said it is `met`. GaveUp when every stream broke."""
    stream = parts.operation.stream
    assert stream is not None  # noqa: S101 - an operation of kind stream has one
    recorder = StreamRecorder(
        record, stream.verify, progress=lambda told: print_line(Progress(**told)), most_kept_bytes=room_for_replies()
    )
    assert trial.target is not None  # noqa: S101 - whoever is subscribed to stands somewhere
    wire = WireMeter(trial.target.host, trial.target.port, overlap=False, opened=lambda: recorder.connections)
    warm, measured = subscriptions(trial, parts)
    streams = AwaitingStreams(
        parts.event_loop,
        parts.dialer(trial.operation, warm),
        recorder,
        clock,
        clients=trial.load.concurrency,
        timeout_s=trial.timeout_s,
        before_close=wire.before_close,
    )
    anchor = start(print_line, clock)
    warmed = _phase(WARM_UP, warm, 1, streams, recorder, clock)
    hold_back(trial, len(warmed), streams, print_line, clock, hear)
    _open(streams, trial)  # those that broke in the warm-up
    made: list[Subscription] = []

    def measure() -> Window:
        wire.begin()
        cpu_before_s, begin_ns = time.process_time(), clock.monotonic_ns()
        recorder.begin(MEASURED, begin_ns)
        made.extend(_run(streams, measured, len(warmed) + 1, reading_ns=read_interval_ns(trial.knobs)))
        cpu_s = time.process_time() - cpu_before_s
        wire.end()
        return Window(begin_ns=begin_ns, cpu_s=cpu_s, wire=wire.wire(), min_rtt_us=wire.min_rtt_us(), lag_ms=None)

    window, looks = looked_at(measure)
    recorder.settle(made)
    _refuse_if_all_broke(made)
    streams.close()
    gc.enable()
    tally = recorder.tally
    return Done(
        rows=record.rows,
        warmup_requests=len(warmed),
        identity=met,
        anchor=anchor,
        anchor_end=clock.anchor(),
        cpu_share=window.cpu_s / tally.span_s if tally.span_s else None,
        **looks,
        **_tallied(tally),
        **parts.who(),
    )


def _phase(
    number: int, request: Request, first: int, streams: AwaitingStreams, recorder: StreamRecorder, clock: Clock
) -> list[Subscription]:
    """A phase whose subscriptions are looked at as soon as it is over. GaveUp when no connection opens, or all broke."""
    try:
        streams.open()
    except CallFailed as failure:
        raise GaveUp(failure.status, f"opening connections: {failure}") from failure
    recorder.begin(number, clock.monotonic_ns())
    made = _run(streams, request, first)
    recorder.settle(made)
    _refuse_if_all_broke(made)
    return made


def _run(streams: AwaitingStreams, request: Request, first: int, *, reading_ns: int = 0) -> list[Subscription]:
    try:
        return streams.run(request, first, reading_ns=reading_ns)
    except TooMany as error:
        raise GaveUp("protocol", str(error)) from error


def _open(streams: AwaitingStreams, trial: Trial) -> None:
    try:
        streams.open()
    except CallFailed as failure:
        raise GaveUp(failure.status, f"opening {trial.load.concurrency} connections: {failure}") from failure


def _refuse_if_all_broke(made: list[Subscription]) -> None:
    failures = [subscription.failure for subscription in made if subscription.failure is not None]
    if failures and len(failures) == len(made) and all(failure.status != "timeout" for failure in failures):
        raise GaveUp(failures[0].status, f"every stream ended before it was over: {failures[0]}")


def _tallied(tally: StreamTally) -> dict[str, Any]:
    return {
        "requests": tally.subscriptions,
        "verified": tally.delivered + tally.duplicated,
        "verified_in_flight": tally.verified_in_flight,
        "events": EventsReceived(
            offered=tally.offered,
            delivered=tally.delivered,
            dropped=tally.offered - tally.delivered,
            duplicated=tally.duplicated,
            reordered=tally.reordered,
            wrong=tally.wrong,
        ),
        "measured_s": tally.span_s,
        "errors": dict(tally.errors),
        "error_examples": tally.error_examples,
        "body_bytes_sent": tally.body_bytes_sent,
        "body_bytes_received": tally.body_bytes_received,
        "connections_opened": tally.connections_opened,
    }
