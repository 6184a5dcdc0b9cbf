"""One trial, from the check of both ends to its `done` line."""

from __future__ import annotations

import gc
import time
from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from services.python.contract.knobs import TCP_WINDOW
from services.python.contract.limits import SATURATED
from services.python.contract.lines import Trial
from services.python.contract.requester_lines import Bodies, Checked, Done, Progress
from services.python.load.client import CallFailed, Request
from services.python.load.loop import Loops, Work, close_after, grace_s
from services.python.load.phases import MEASURED, NS, WARM_UP, Extent, Phase, Rests, arrivals, measured, rests, warm_up
from services.python.load.record import Record
from services.python.load.recorder import GaveUp, Recorder, Tally
from services.python.load.unverified import FOR_ONE_BYTES, LEAST_BYTES, bound_memory, room_for_replies
from services.python.probes import sockets
from services.python.probes.clock import Clock
from services.python.probes.tcpinfo import WireMeter
from services.python.trial.parts import (
    CannotTry,
    Hear,
    Parts,
    Print,
    check,
    hold_back,
    is_at_once,
    load_parts,
    make_of,
    over_fetched_bytes,
    start,
    tasks_of,
)
from services.python.trial.turns import Turns, Window, looked_at

_ROW_KINDS = {"call": "request", "codec": "codec"}  # of samples, by their client's kind
_PARTS_OF_A_CODEC = 2  # encoding and decoding
_ROWS_PER_S = 20_000  # more than a Python client asks; the record grows should it not suffice
_IN_TURNS_S = 5.0  # of requests, in all turns
_ALL_BUSY = 0.9  # of the time of all connections, in which requests were under way


def make_trial(trial: Trial, print_line: Print, clock: Clock, hear: Hear = lambda: "measure") -> None:
    """Check both ends, warm up, measure, and print what came of it.

    `hear` has the lines that a trial waits for which holds back its measured phase.
    CannotTry when it cannot begin, GaveUp when nothing succeeds any more, OSError when the record finds no space.
    """
    parts = load_parts(trial)
    if parts.target is not None and parts.target.identity is None:  # nobody knows who answers, and with how much
        bound_memory()
    example = parts.make(1, clock.wall_ns)
    met, body_bytes, *others = check(trial, parts, example)
    told = [Bodies(sent=sent, received=received) for sent, received in (body_bytes, *others)] if parts.mix else []
    print_line(Checked(body_bytes_sent=body_bytes[0], body_bytes_received=body_bytes[1], mix=told))
    if trial.load.requests == 0:
        print_line(Done(rows=0, warmup_requests=0, requests=0, errors={}, identity=met, **parts.who()))
        return
    if parts.operation.kind == "stream":
        from services.python.trial import streams

        with _record(trial, streams.expected_rows(trial, parts)) as record:
            print_line(streams.measure_streams(trial, parts, record, print_line, clock, met, hear))
        return
    with _record(trial, expected_rows(trial)) as record:
        print_line(_measure(trial, parts, example, record, print_line, clock, met, hear))


def expected_rows(trial: Trial) -> int:
    """How many rows to make room for beforehand."""
    load = trial.load
    each = 1 if trial.calls == 1 else 1 + trial.calls  # a task and its parts
    each = 1 + _PARTS_OF_A_CODEC if trial.target is None else each
    warm = max(trial.warmup.requests, int(trial.warmup.at_least_s * _ROWS_PER_S))
    if trial.turn_warm_up is not None:
        return each * (warm + int(_IN_TURNS_S * _ROWS_PER_S * 1.1))
    if load.duration_s is None:
        return each * (warm + (load.requests or 0))
    by_time = int(load.duration_s * (load.rate_per_s or _ROWS_PER_S) * 1.1)
    return each * (warm + (by_time if load.requests is None else min(by_time, load.requests)))


def _record(trial: Trial, expected_rows: int) -> Record:
    """CannotTry for a path that no file can have; OSError when there is no space."""
    try:
        return Record(trial.record, expected_rows)
    except ValueError as error:
        raise CannotTry("host", f"the requester's host: record: {error}") from error


def _measure(
    trial: Trial,
    parts: Parts,
    example: Request,
    record: Record,
    print_line: Print,
    clock: Clock,
    met: str | None,
    hear: Hear,
) -> Done:
    """Both phases on the same connections, with the responder that said it is `met`; None for one that cannot say."""
    recorder = _recorder(trial, parts, record, print_line)
    wire = _meter(trial, parts, recorder)
    dialer, loops = _loops(trial, parts, example, recorder, wire, clock)
    due = None if trial.load.rate_per_s is None else arrivals(trial.load, trial.seed)  # before connections wait for it
    resting = rests(trial.load, trial.seed)
    anchor = start(print_line, clock)
    warm = _warm_up(trial, loops, recorder, clock)
    warmed = warm.next_sequence - 1
    word = hold_back(trial, warmed, loops, print_line, clock, hear)
    measure = partial(_in_one_phase, trial, due, resting, loops, recorder, wire, clock, warm.next_sequence)
    if trial.turn_warm_up is not None:
        turns = Turns(trial=trial, loops=loops, recorder=recorder, wire=wire, clock=clock, sequence=warm.next_sequence)
        measure = partial(turns.run, word, hear, print_line)
    measured_phase = _measured_phase(trial, recorder, measure, warmed)
    _on_sockets(sockets.refuse_differing, trial)
    who = parts.who()
    if trial.target is not None:  # of connections that are gone, what new ones have
        who["settings"] |= sockets.in_force(sockets.congestion_of(trial.target.port) or sockets.congestion_of_new())
        who["settings"] |= sockets.windows_told(trial.knobs, trial.target.port)
    tally = recorder.tally
    loops.close(grace_s(tally.span_s, tally.rows, trial.load.concurrency))
    gc.enable()
    return Done(
        rows=record.rows,
        identity=met,
        anchor=anchor,
        anchor_end=clock.anchor(),
        outcomes=dict(getattr(parts.verify, "outcomes", {})),
        over_fetched_bytes=over_fetched_bytes(parts.verify, dialer),
        **measured_phase,
        **who,
    )


def _recorder(trial: Trial, parts: Parts, record: Record, print_line: Print) -> Recorder:
    mix = parts.mix
    kind = "task" if trial.calls > 1 else _ROW_KINDS[parts.client.kind] if mix is None else "mixed"
    return Recorder(
        record,
        parts.verify if mix is None else mix.verify(),
        timeout_s=trial.timeout_s * trial.calls,
        progress=lambda told: print_line(Progress(**told)),
        most_kept_bytes=_most_kept_bytes(trial),
        kind=kind,
        **({} if mix is None else mix.rows(are_kept=trial.connection == "reuse")),
    )


def _most_kept_bytes(trial: Trial) -> int:
    """What replies that wait to be verified may take: in turns less, as other requesters wait beside; 0 of a codec."""
    if trial.target is None:
        return 0
    if trial.turn_warm_up is None:
        return room_for_replies()
    return LEAST_BYTES if trial.load.concurrency > 1 else FOR_ONE_BYTES


def _meter(trial: Trial, parts: Parts, recorder: Recorder) -> WireMeter:
    if parts.target is None:
        return WireMeter(None)
    overlap = trial.connection == "per-request" and (trial.load.concurrency > 1 or is_at_once(trial))
    return WireMeter(parts.target.host, parts.target.port, overlap=overlap, opened=lambda: recorder.connections)


def _loops(
    trial: Trial, parts: Parts, example: Request, recorder: Recorder, wire: WireMeter, clock: Clock
) -> tuple[Any, Loops]:
    mix = parts.mix
    dialer = parts.dialer(trial.operation, example)
    if mix is not None:
        dialer = mix.dialer(parts.dialer, parts.client.style, are_kept=trial.connection == "reuse")
    if trial.calls > 1:
        dialer = tasks_of(trial, parts, example, dialer, clock.monotonic_ns)
    work = Work(
        make=make_of(trial, parts) if mix is None else mix.make(),
        recorder=recorder,
        clock=clock,
        policy=trial.connection,
        concurrency=trial.load.concurrency,
        before_close=wire.before_close,
    )
    return dialer, parts.loops(dialer, work)


def _on_sockets(act: Callable[[Mapping[str, str], int], None], trial: Trial) -> None:
    """Set or look at the connections of a trial that asks for options of sockets; CannotTry where they cannot be so."""
    if trial.target is not None and trial.knobs:
        try:
            act(trial.knobs, trial.target.port)
        except sockets.CannotSet as error:
            raise CannotTry("host", str(error)) from error


@contextmanager
def _settled(recorder: Recorder) -> Iterator[None]:
    """Settle after a phase, however it ended; what ended it is what is said, not what settling finds besides."""
    try:
        yield
    except BaseException:
        with suppress(GaveUp, OSError):
            recorder.settle()
        raise
    recorder.settle()


def _warm_up(trial: Trial, loops: Loops, recorder: Recorder, clock: Clock) -> Phase:
    """Warm up, and set the connections; TCP takes back nothing that it offered, so a window is set before most of it."""
    try:
        loops.open()
    except CallFailed as failure:
        raise CannotTry(failure.status, f"opening {trial.load.concurrency} connections: {failure}") from failure
    first = [Extent(requests=trial.load.concurrency)] if TCP_WINDOW in trial.knobs else []
    begin, sequence = clock.monotonic_ns, 1
    for extent in (*first, warm_up(trial.warmup)):
        phase = Phase(number=WARM_UP, begin_ns=begin(), first_sequence=sequence, extent=extent, most=None)
        recorder.begin(phase)
        with _settled(recorder):
            loops.closed_loop(phase)
        _on_sockets(sockets.set_connections, trial)
        sequence = phase.next_sequence
    return phase


def _in_one_phase(
    trial: Trial,
    due: array[int] | None,
    resting: Rests | None,
    loops: Loops,
    recorder: Recorder,
    wire: WireMeter,
    clock: Clock,
    first_sequence: int,
) -> Window:
    """All requests in one go, between two looks at the sockets and this process's CPU time.

    `due`: when the requests of an open loop are; None in a closed one. `resting`: think time of a closed one, if any.
    """
    load = trial.load
    extent, most = (measured(load), load.requests) if due is None else (Extent(), len(due))
    wire.begin()
    cpu_before_s = time.process_time()
    phase = Phase(
        number=MEASURED, begin_ns=clock.monotonic_ns(), first_sequence=first_sequence, extent=extent, most=most
    )
    recorder.begin(phase)
    if due is None:
        loops.closed_loop(phase, resting)
    else:
        loops.open_loop(phase, due, close_after(load, phase.begin_ns))
    cpu_s = time.process_time() - cpu_before_s
    wire.end()
    return Window(
        begin_ns=phase.begin_ns, cpu_s=cpu_s, wire=wire.wire(), min_rtt_us=wire.min_rtt_us(), lag_ms=loops.lag_ms
    )


def _measured_phase(trial: Trial, recorder: Recorder, measure: Callable[[], Window], warmed: int) -> dict[str, Any]:
    """The measured phase between two looks at the host, after `warmed` requests: fields of `Done`."""
    with _settled(recorder):
        window, looks = looked_at(measure)
    span_s = recorder.tally.span_s
    return {
        **_tallied(recorder.tally),
        "warmup_requests": warmed + window.turn_warmup_requests,
        "not_sent_reason": not_sent_reason(recorder.tally, trial.load.concurrency, window.cpu_s),
        "cpu_share": window.cpu_s / span_s if span_s else None,
        **looks,
    }


def _tallied(tally: Tally) -> dict[str, Any]:
    return {
        "requests": tally.rows,
        "not_sent": tally.not_sent,
        "verified": tally.verified,
        "verified_in_flight": tally.verified_in_flight,
        "verified_by_bytes": tally.verified_by_bytes,
        "measured_s": tally.span_s,
        "paused_s": tally.paused_ns / NS,
        "entering_s": tally.entering_ns / NS,
        "errors": dict(tally.errors),
        "error_examples": tally.error_examples,
        "body_bytes_sent": tally.body_bytes_sent,
        "body_bytes_received": tally.body_bytes_received,
        "connections_opened": tally.connections_opened,
    }


def not_sent_reason(tally: Tally, concurrency: int, cpu_s: float) -> str | None:
    """All connections waited for replies, or the requester was behind; None where all were sent."""
    if not tally.not_sent:
        return None
    available_s = tally.span_s * concurrency
    waited = tally.busy_ns / NS >= _ALL_BUSY * available_s and cpu_s <= SATURATED * tally.span_s
    return "connections-busy" if waited else "requester-behind"
