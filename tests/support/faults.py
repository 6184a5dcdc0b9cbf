"""A harness that lies: the real trial loop, record, client and responder, with one part replaced by a broken one.

`a_real_run` makes a run of one cell of `tcp` through `trial.run`, on the loopback, and gives it as a
`MemoryRun`. Each `Fault` replaces what the requester would load in that place, and nothing else.
"""

from __future__ import annotations

import gc
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import services.python.protocols.tcp.requester as tcp
from orchestrator.experiment.plan import plan as p
from orchestrator.record_layout import COLUMNS
from orchestrator.results.convert import read_record
from orchestrator.results.manifest import BaselineRecord, Manifest, RequesterRecord, TrialRecord
from services.python.contract.counters import Clocks
from services.python.contract.lines import Load, Payload, Trial, Warmup
from services.python.contract.requester_lines import Done
from services.python.contract.responder_lines import Ready, Stats
from services.python.contract.strict import decode
from services.python.load.recorder import Recorder
from services.python.probes.clock import Clock
from services.python.protocols.tcp.frames import HEADER, FrameReader
from services.python.trial import run as attempt
from tests.support.ends import Program, made_here, responder, trial_of
from tests.support.quota import throttled
from tests.support.relay import relay
from tests.support.runs import MemoryRun, a_plan

BLOCKS = 3


@dataclass(frozen=True)
class Fault:
    """What is replaced by what. `declared` is what the plan says of the load, where that is the lie.

    `way` lies between the ends (options of `support.relay`), `quota` holds the responder's CPU, `responder` is its module.
    """

    recorder: type[Recorder] | None = None
    dialer: Callable[..., Any] | None = None
    check: Callable[..., Any] | None = None
    clock: Callable[[], Clock] = Clock
    declared: dict[str, Any] = field(default_factory=dict)
    way: dict[str, float] = field(default_factory=dict)
    quota: bool = False
    responder: str = "services.python.programs.respond"

    def committed(self) -> ExitStack:
        """The fault is in the harness until the stack is closed."""
        stack = ExitStack()
        for owner, name, broken in (
            (attempt, "Recorder", self.recorder),
            (attempt, "check", self.check),
            (tcp, "dialer", self.dialer),
        ):
            if broken is not None:
                stack.enter_context(mock.patch.object(owner, name, broken))
        return stack


HONEST = Fault()


@dataclass
class _LazyReply:
    request: bytes
    reader: FrameReader

    @cached_property
    def frame(self) -> tuple[int, bytes]:
        frame = self.reader.read()
        assert frame is not None
        return frame


class _LazyConnection:
    """Its `call` returns when the request was handed to the kernel; the reply is read when its body is looked at."""

    def __init__(self, connection: tcp.SocketConnection) -> None:
        self._connection = connection

    def call(self, request: Any) -> _LazyReply:
        body = self._connection._encode(request)
        tcp.send_frame(self._connection._sock, self._connection._code, body)
        self._reply = _LazyReply(body, self._connection._reader)
        return self._reply

    @property
    def body(self) -> bytes:
        return self._reply.frame[1]

    def value(self, reply: _LazyReply) -> Any:
        return tcp.decoded(self._connection._code, *reply.frame)

    def sizes(self, _request: Any, reply: _LazyReply) -> tuple[int, int]:
        return len(reply.request), len(reply.frame[1])

    def close(self) -> None:
        self._connection.close()


class _Dialer:
    """A dialer that gives what `wrap` makes of an honest dialer."""

    def __init__(self, call: Any, wrap: Callable[[tcp.SocketDialer], Any]) -> None:
        self._honest, self._wrap = tcp.SocketDialer(call), wrap

    def dial(self) -> Any:
        return self._wrap(self._honest)


def timer_stopped_at_enqueue(call: Any, _client: Any) -> Any:
    return _Dialer(call, lambda honest: _LazyConnection(honest.dial()))


class _PooledDialer(tcp.SocketDialer):
    """Keeps its one connection open, whatever it is told."""

    def __init__(self, call: Any) -> None:
        super().__init__(call)
        self._kept: Any = None

    def dial(self) -> Any:
        if self._kept is None:
            self._kept = super().dial()
            self._kept.close = lambda: None
        return self._kept


def connections_kept_in_a_pool(call: Any, _client: Any) -> Any:
    return _PooledDialer(call)


class _Reconnecting(tcp.SocketConnection):
    """Opens its socket anew for every call."""

    def __init__(self, dialer: tcp.SocketDialer) -> None:
        self._dialer = dialer
        self._take(dialer.dial())

    def _take(self, fresh: tcp.SocketConnection) -> None:
        super().__init__(fresh._sock, fresh._code, fresh._encode)

    def call(self, request: Any) -> Any:
        self.close()
        self._take(self._dialer.dial())
        return super().call(request)


def a_new_connection_for_every_call(call: Any, _client: Any) -> Any:
    return _Dialer(call, _Reconnecting)


class _SometimesInTwoWrites(tcp.SocketConnection):
    """Sends every tenth request in two writes with Nagle's algorithm on: the second waits for a delayed acknowledgement."""

    _number = 0

    def call(self, request: Any) -> Any:
        self._number += 1
        if self._number % 10 or self._number < 50:  # a new connection is acknowledged at once
            return super().call(request)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        body = self._encode(request)
        header = HEADER.pack(len(body), self._code)
        self._sock.sendall(header)
        self._sock.sendall(body)
        frame = self._reader.read()
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return tcp.decoded(self._code, *frame), len(body), len(frame[1])


class _Inflated(tcp.SocketConnection):
    """Says that its bodies were a hundred times as large."""

    def sizes(self, request: Any, reply: Any) -> tuple[int, int]:
        sent, received = super().sizes(request, reply)
        return sent * 100, received * 100


def _dials(broken: type[tcp.SocketConnection]) -> Callable[..., Any]:
    def wrap(honest: tcp.SocketDialer) -> Any:
        connection = honest.dial()
        return broken(connection._sock, connection._code, connection._encode)

    return lambda call, _client: _Dialer(call, wrap)


some_requests_in_two_writes = _dials(_SometimesInTwoWrites)
sizes_made_up = _dials(_Inflated)


def anyone_will_do(trial: Trial, parts: Any, example: Any) -> tuple[str, tuple[int, int]]:
    """A check that does not compare who answers."""
    who, _ = parts.ask(parts.dialer("identity", {}), {})
    _, sizes = parts.ask(parts.dialer(trial.operation, example), example)
    return who["identity"], sizes


def cpu_clock() -> Clock:
    """CPU time of this process, which stands still while it waits; anchors are honest."""
    return _OtherClock(monotonic_ns=time.process_time_ns)


class _OtherClock(Clock):
    def anchor(self) -> Clocks:
        return Clock().anchor()


def millisecond_clock() -> Clock:
    return Clock(monotonic_ns=lambda: time.monotonic_ns() // 1_000_000 * 1_000_000)


def a_real_run(
    folder: Path,
    fault: Fault = HONEST,
    *,
    requests: int = 400,
    concurrency: int = 1,
    rate_per_s: float | None = None,
    duration_s: float | None = None,
    connection: str = "reuse",
    operation: str = "add",
    ready_identity: str | None = None,
    placement: p.Placement | None = None,
) -> MemoryRun:
    """One cell, three trials, each with an honest `tcp` look at the floor beside it.

    Where there is something between the two ends, a look at it through one kept connection stands for the ping.
    `ready_identity` is what the run expects of the responder, where another one answers.
    """
    load = Load(concurrency=concurrency, requests=requests, rate_per_s=rate_per_s, duration_s=duration_s)
    payload = {"kind": "bytes", "size": 4_000} if operation == "echo" else {"kind": "none"}
    size = payload.get("size", 8)
    declared = p.Load(**{**load.__dict__, **fault.declared})
    plan = a_plan(
        stacks=("tcp",),
        clients=("socket",),
        blocks=BLOCKS,
        load=declared,
        warmup=50,
        connection=connection,
        placements=[placement] if placement else None,
        operation=p.Operation(
            id=operation, name=operation, label=operation, payload=payload, request_bytes=size, reply_bytes=size
        ),
    )
    run = MemoryRun(stored=_empty(plan))
    trials, readings = [], []
    for planned in plan.trials:
        with responder("tcp", module=fault.responder) as (end, ready), _pinned_apart(end), ExitStack() as stack:
            port = stack.enter_context(relay(ready["port"], **fault.way)) if fault.way else ready["port"]
            base = trial_of(
                "tcp",
                "socket",
                port,
                folder / f"{planned.index}.timings",
                operation=operation,
                payload=Payload(**payload),
                connection=connection,
                warmup=Warmup(requests=50, at_least_s=0.0),
            )
            reading = replace(base, load=Load(requests=100))
            readings.append(_look(run, reading, planned, plan.cells[0]))
            if fault.way:
                readings.append(_look(run, replace(reading, connection="reuse"), planned, plan.cells[0], kind="ping"))
            before = _stats(end)
            if fault.quota:
                stack.enter_context(throttled(end.process.pid))
            with fault.committed():
                done = _made(replace(base, load=load, seed=planned.seed), fault.clock())
            path = f"samples/{planned.index}.parquet"
            run.files[path] = _columns(Path(base.record))
            trials.append(
                TrialRecord(
                    index=planned.index,
                    block=planned.block,
                    cell=planned.cell,
                    attempt=0,
                    outcome="ok",
                    started_wall_ns=time.time_ns(),
                    ended_wall_ns=time.time_ns(),
                    overhead_s=0.0,
                    ready=decode(Ready, {**ready, "identity": ready_identity or ready["identity"]}),
                    stats=_stats(end),
                    stats_before=before,
                    requesters=(RequesterRecord(host="local", done=done, samples=path),),
                )
            )
    run.stored = replace(run.stored, trials=tuple(trials), baselines=tuple(readings))
    return run


@contextmanager
def _pinned_apart(end: Program) -> Iterator[None]:
    """Keep this process and the responder on a CPU each, as the orchestrator does."""
    mine = os.sched_getaffinity(0)
    for task in Path(f"/proc/{end.process.pid}/task").iterdir():  # threads started later inherit it
        os.sched_setaffinity(int(task.name), {min(mine)})
    os.sched_setaffinity(0, {max(mine)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, mine)


def _stats(end: Program) -> Stats:
    return decode(Stats, end.stats())


def _made(trial: Trial, clock: Clock) -> Done:
    """The `done` line of a trial made in this process."""
    try:
        return made_here(trial, clock)[-1]
    finally:
        gc.enable()
        gc.unfreeze()


def _columns(record: Path) -> dict[str, Any]:
    rows = read_record(record)
    return {name: rows[:, place].copy() for place, name in enumerate(COLUMNS)}


def _look(
    run: MemoryRun, trial: Trial, planned: p.PlannedTrial, cell: p.Cell, kind: Literal["tcp", "ping"] = "tcp"
) -> BaselineRecord:
    done = _made(trial, Clock())
    path = f"baselines/{kind}/{planned.block}.parquet"
    run.files[path] = _columns(Path(trial.record))
    return BaselineRecord(
        kind=kind,
        placement=cell.placement,
        block=planned.block,
        moment="before",
        requester="local",
        method="tcp",
        samples=path,
        started_wall_ns=time.time_ns(),
        policy=trial.connection,
        cells=(cell.id,) if kind == "tcp" else (),
        done=done,
    )


def _empty(plan: p.Plan) -> Manifest:
    return Manifest(
        run_id="real",
        plan_id=plan.id,
        plan=plan,
        orch_version="0",
        state="complete",
        started_at="2024-01-01T00:00:00Z",
        ended_at=None,
        fleet={"requester_cpus": "1"},
        hosts={},
        trials=(),
        baselines=(),
        files={},
    )
