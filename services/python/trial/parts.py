"""What a trial's names stand for, loaded; what is refused of it; and the check of both ends before anything is measured.

A task is one operation so many times in a row, or the operations that one is made of (the knob `fetch`). The knob
`fields` says whether a reader needs all of a reply.
"""

from __future__ import annotations

import gc
import importlib
import time
from array import array
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from services.python.contract import knobs
from services.python.contract.counters import Clocks
from services.python.contract.lines import Target, Trial
from services.python.contract.offers import Client, Protocol, find_protocol
from services.python.contract.requester_lines import END, TURN, Start, Warm, may_measure_from
from services.python.contract.strict import Line, Part, part
from services.python.load import sync_load as blocking
from services.python.load.client import CallFailed, CallSpec, Reply, Request
from services.python.load.loop import Loops, Waits, Work
from services.python.load.mix import AwaitingMix, BlockingMix, make_mixed, verify_mixed
from services.python.load.phases import NS, SLOWEST_RATE, measured, mix_order, place_in_mix
from services.python.load.task import AwaitingTasks, BlockingTasks, Piece, Pieces, make_pieces, make_task, wrong_reply
from services.python.load.tls import ClientTls, client_tls
from services.python.operations import OPERATIONS, Operation, pieces_of
from services.python.operations.base import Make, Narrowed
from services.python.operations.call import certificate_of
from services.python.operations.files import read_schema
from services.python.probes import sockets
from services.python.probes.clock import Clock, resolution_ns
from services.python.probes.versions import versions

Print = Callable[[Line], None]
Ask = Callable[[Any, Request], tuple[Reply, tuple[int, int]]]
Dial = Callable[[str, Request], Any]
Verify = Callable[[Request, Reply], str | None]
Hear = Callable[[], str]  # blocks until stdin has a line that lets the trial go on, and returns it

_LONGEST_NAME = 200  # characters of an identity


class CannotTry(Exception):
    """The trial cannot be made. `kind`: a status of the contract, or `trial` when it asks for what there is not."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@part
class Mix(Part):
    """The operations of a mix in its order, what makes the requests of each, and which of them each request asks."""

    operations: tuple[Operation, ...]
    makes: tuple[Make, ...]
    drawn: array[int]

    def make(self) -> Make:
        return make_mixed(self.makes, self.drawn)

    def verify(self) -> Callable[[Request, Reply], str | None]:
        return verify_mixed([o.verify for o in self.operations], [o.name for o in self.operations])

    def examples(self) -> Iterator[tuple[Operation, Request]]:
        for operation, make in zip(self.operations, self.makes, strict=True):
            yield operation, make(1, time.time_ns)

    def ask_each(self, ask: Ask, dialer: Dial) -> Iterator[tuple[str, str | None, tuple[int, int]]]:
        """Each operation asked once: its name, why its reply is wrong, both bodies' sizes. CallFailed."""
        for operation, example in self.examples():
            reply, sizes = ask(dialer(operation.name, example), example)
            yield operation.name, operation.verify(example, reply), sizes

    def parent_of(self, sequence: int) -> int:
        """The place in the mix, from 1, of the operation that a request asks."""
        return 1 + place_in_mix(self.drawn, sequence)

    def rows(self, *, are_kept: bool) -> dict[str, Any]:
        return {"parent_of": self.parent_of, "each_has": len(self.operations) if are_kept else 0}

    def dialer(self, dialer: Dial, style: str, *, are_kept: bool) -> Any:
        dialers = [dialer(operation.name, example) for operation, example in self.examples()]
        return (BlockingMix if style == "sync" else AwaitingMix)(dialers, are_kept=are_kept)


def mix_of(trial: Trial, protocol: Protocol, client: Client) -> Mix | None:
    """The mix of a trial, None where it asks one operation; ValueError for one that cannot be asked."""
    if not trial.mix:
        return None
    if trial.calls > 1 or trial.schema is not None or client.kind != "call":
        raise ValueError("mix: each request is one call, without a schema of its own")
    operations = []
    for mixed in trial.mix:
        operation = OPERATIONS.get(mixed.operation)
        if operation is None or mixed.operation not in protocol.operations:
            raise ValueError(f"mix: {protocol.name} does not carry {mixed.operation}")
        if operation.kind != "call":
            raise ValueError(f"mix: {operation.name} is no call")
        if reason := client.refuses.get(operation.name):
            raise ValueError(f"{client.name} cannot do {operation.name}: {reason}")
        operations.append(operation)
    first = trial.mix[0]
    if (first.operation, first.payload) != (trial.operation, trial.payload):
        raise ValueError("mix: `operation` and `payload` are not those of its first")
    return Mix(
        operations=tuple(operations),
        makes=tuple(o.requests(m.payload, trial.seed) for o, m in zip(operations, trial.mix, strict=True)),
        drawn=mix_order([mixed.weight for mixed in trial.mix], trial.seed),
    )


@part
class Parts(Part):
    """What a trial's names stand for, loaded."""

    target: Target | None  # None: nobody is asked
    protocol: Protocol
    client: Client
    operation: Operation
    make: Make
    verify: Callable[[Request, Reply], str | None]
    dialer: Callable[[str, Request], Any]  # of an operation and an example request
    ask: Ask
    loops: Callable[[Any, Work], Loops]
    event_loop: Any = None  # of an awaiting client
    tls: ClientTls | None = None  # None: connections are plain
    mix: Mix | None = None  # in place of the operation, where requests ask several

    def who(self) -> dict[str, Any]:
        """The fields of `Done` that name the client, and what its handshakes came to."""
        return {
            "tls": None if self.tls is None else self.tls.negotiated(),
            "client": self.client.name,
            "versions": versions(self.client.packages),
            "settings": {**self.protocol.settings, **self.client.settings},
            "clock_resolution_ns": resolution_ns(),
        }


def load_parts(trial: Trial) -> Parts:
    """Import what the trial needs and nothing else; CannotTry for what there is not."""
    protocol, client, operation = _named(trial)
    try:
        refuse_impossible(trial, operation)
        sockets.refuse_if_impossible(trial.knobs)
        if reason := client.refuses.get(operation.name) or client.refuses.get(operation.kind):
            raise ValueError(f"{client.name} cannot do {operation.name}: {reason}")
        make = operation.requests(trial.payload, trial.seed)
        mix = mix_of(trial, protocol, client)
        schema = read_schema(trial.schema)
        tls = client_tls(trial, certificate_of(trial.payload) if trial.payload.kind == "call" else ())
        module = importlib.import_module(client.module)
        ask, loops, event_loop = _style(client)
        verify = verifier(trial, operation)
        if client.kind == "codec":
            from services.python.codecs import alone

            make, verify = alone.exchanges(operation, make), alone.verify
            if operation.kind == "codec":
                from services.python.codecs.evolution import Outcomes

                verify = Outcomes()
        elif operation.kind == "codec":
            raise ValueError(f"{operation.name} is coded alone, and {client.name} asks: name a client of kind codec")
    except ValueError as error:
        raise CannotTry("trial", str(error)) from error
    except sockets.CannotSet as error:
        raise CannotTry("host", str(error)) from error
    except ImportError as error:
        raise CannotTry("trial", f"{client.name}: {error}; install the project's `services` extra here") from error

    return Parts(
        target=trial.target,
        protocol=protocol,
        client=client,
        operation=operation,
        make=make,
        verify=verify,
        dialer=_dialers(trial, client, operation, module, schema, tls),
        ask=ask,
        loops=loops,
        event_loop=event_loop,
        tls=tls,
        mix=mix,
    )


def _named(trial: Trial) -> tuple[Protocol, Client, Operation]:
    try:
        protocol = find_protocol(trial.protocol)
        client = protocol.client(trial.client)
        operation = OPERATIONS[trial.operation]
    except KeyError as error:
        raise CannotTry("trial", f"no such protocol, client or operation: {error}; see `orch services`") from error
    if operation.name not in protocol.operations:
        raise CannotTry("trial", f"{protocol.name} does not carry {operation.name}")
    has_schema, has_tls = trial.schema is not None, trial.tls is not None
    refusal = protocol.refusal_of(trial.knobs, client, has_schema=has_schema, has_tls=has_tls)
    if reason := refusal or refusal_of_target(trial, client):
        raise CannotTry("trial", reason)
    return protocol, client, operation


def _dialers(
    trial: Trial, client: Client, operation: Operation, module: Any, schema: bytes | None, tls: ClientTls | None
) -> Callable[[str, Request], Any]:
    target = trial.target

    def dialer(name: str, example: Request) -> Any:
        call = CallSpec(
            host="" if target is None else target.host,
            port=0 if target is None else target.port,
            operation=name,
            timeout_s=trial.timeout_s,
            example=example,
            knobs=trial.knobs,
            schema=schema,
            kind="call" if name == "identity" else operation.kind,
            tls=tls,
        )
        return module.dialer(call, client)

    return dialer


def _style(client: Client) -> tuple[Ask, Callable[[Any, Work], Loops], Any]:
    """How a client is asked, what makes its load, and the event loop that an awaiting one runs on."""
    if client.style == "sync":
        return blocking.ask, blocking.BlockingLoops, None
    import asyncio

    import uvloop

    from services.python.load import async_load as awaiting

    loop = uvloop.new_event_loop()
    asyncio.set_event_loop(loop)
    return partial(awaiting.ask, loop), partial(awaiting.AwaitingLoops, loop), loop


def verifier(trial: Trial, operation: Operation) -> Verify:
    """What verifies the replies of an operation; ValueError for `fields` where every field is needed."""
    if operation.verified is not None:
        return operation.verified()
    if trial.knobs.get(knobs.FIELDS, knobs.ALL_FIELDS) == knobs.ALL_FIELDS:
        return operation.verify
    return Narrowed(operation)


def check(trial: Trial, parts: Parts, example: Request) -> tuple[Any, ...]:
    """Ask who answers, then the operation once: who it was (None for an anonymous target or none), both bodies' sizes.

    Of a mix each operation is asked once, and the sizes of all follow one another.

    CannotTry unless both replies are right.
    """
    try:
        met = None if parts.target is None or parts.target.anonymous else _who_answers(parts, parts.target)
        if parts.mix is None and parts.operation.follow is not None and trial.calls > 1:
            outcomes = [(trial.operation, *_ask_task(trial, parts, example))]
        elif parts.mix is None:
            reply, sizes = _ask_operation(trial, parts)(parts.dialer(trial.operation, example), example)
            outcomes = [(trial.operation, parts.verify(example, reply), sizes)]
        else:
            outcomes = [*parts.mix.ask_each(parts.ask, parts.dialer)]
    except CallFailed as failure:
        raise CannotTry(failure.status, f"before measuring: {failure}") from failure
    for name, reason, _ in outcomes:
        if reason is not None:
            raise CannotTry("wrong-reply", f"{name}: {reason}")
    if parts.tls is not None and parts.tls.resumes and not parts.tls.has_resumed:
        raise CannotTry("refused", "tls: the second connection of the check resumed no session of the first")
    return met, *(sizes for _, _, sizes in outcomes)


def _ask_task(trial: Trial, parts: Parts, example: Request) -> tuple[str | None, tuple[int, int]]:
    """A task whose requests follow its replies: why a reply is wrong, and the sizes of a call's bodies on average."""
    dialer = parts.dialer(trial.operation, example)
    request, reply, (sent, received) = ask_task(parts, dialer, make_task(parts.make, trial.calls)(1, time.time_ns))
    return wrong_reply(parts.verify, request, reply), (sent // trial.calls, received // trial.calls)


def ask_task(parts: Parts, dialer: Any, request: Request) -> tuple[Request, Reply, tuple[int, int]]:
    """Ask a task's calls once: their requests, completed, their replies, and the sums of both bodies' sizes. CallFailed."""
    tasks = BlockingTasks if parts.client.style == "sync" else AwaitingTasks
    dialer = tasks(dialer, parts.verify, time.monotonic_ns, parts.operation.follow)
    return request, *parts.ask(dialer, request)


def _who_answers(parts: Parts, target: Target) -> str:
    """What the responder calls itself; CannotTry when that is another than it should be, or no name that a file can hold."""
    who, _ = parts.ask(parts.dialer("identity", {}), {})
    met = who.get("identity")
    where = f"{target.host}:{target.port}"
    if target.identity is not None and met != target.identity:
        told = f"it says {repr(met)[:_LONGEST_NAME]}, not {target.identity!r}"
        raise CannotTry("wrong-reply", f"another responder answers at {where}: {told}")
    if (
        not isinstance(met, str)
        or not 0 < len(met) <= _LONGEST_NAME
        or any("\ud800" <= char <= "\udfff" for char in met)
    ):
        raise CannotTry(
            "wrong-reply",
            f"what answers at {where} does not say who it is: its identity is {repr(met)[:_LONGEST_NAME]}, "
            f"not a text of 1 to {_LONGEST_NAME} characters",
        )
    return met


def _ask_operation(trial: Trial, parts: Parts) -> Ask:
    if parts.operation.kind != "stream":
        return parts.ask
    from services.python.load.stream_load import ask_event

    return partial(ask_event, parts.event_loop, trial.timeout_s)


def start(print_line: Print, clock: Clock) -> Clocks:
    """Say that the trial starts. The garbage collector must not run into a sample: what stands now stands to the end."""
    gc.collect()
    gc.freeze()
    gc.disable()
    anchor = clock.anchor()
    print_line(Start(anchor=anchor))
    return anchor


def hold_back(trial: Trial, warmed: int, loops: Waits, print_line: Print, clock: Clock, hear: Hear) -> str:
    """Wait for the line that the trial is held for, and until the moments that both give; the line, empty where not held.

    `warmed` is how many requests the warm-up had.
    """
    begin_ns, word = trial.start_at_unix_ns or 0, ""
    if trial.hold:
        print_line(Warm(requests=warmed))
    if trial.turn_warm_up is not None:
        while (word := loops.wait_for(hear)) not in (TURN, END):
            pass
    elif trial.hold:
        while (moment_ns := may_measure_from(word := loops.wait_for(hear))) is None:
            pass
        begin_ns = max(begin_ns, moment_ns)
    if begin_ns:
        loops.wait(max(0.0, (begin_ns - clock.wall_ns()) / NS))
    return word


def over_fetched_bytes(verify: Verify, dialer: Any) -> float | None:
    """Bytes that nobody needs in a reply, or in those of a task, on average; None where everything is needed."""
    every = [piece.verify for piece in getattr(dialer, "pieces", ())] or [verify]
    fetched = [getattr(each, "over_fetched_bytes", None) for each in every]
    return None if None in fetched else sum(bytes_ or 0.0 for bytes_ in fetched)


def is_at_once(trial: Trial) -> bool:
    """Whether a task's calls are all made without waiting for one another."""
    return trial.knobs.get(knobs.FETCH, knobs.WHOLE) == knobs.AT_ONCE


def make_of(trial: Trial, parts: Parts) -> Make:
    """Makes what the load loop is to ask: single requests, or those of a task."""
    if trial.calls == 1:
        return parts.make
    if trial.knobs.get(knobs.FETCH, knobs.WHOLE) == knobs.WHOLE:
        return make_task(parts.make, trial.calls)
    return make_pieces(parts.operation, parts.make)


def tasks_of(trial: Trial, parts: Parts, example: Request, dialer: Any, clock: Callable[[], int]) -> Any:
    """What opens connections that make tasks; `dialer` is that of the operation itself."""
    fetch = trial.knobs.get(knobs.FETCH, knobs.WHOLE)
    if fetch == knobs.WHOLE:
        tasks = BlockingTasks if parts.client.style == "sync" else AwaitingTasks
        return tasks(dialer, parts.verify, clock, parts.operation.follow)
    requests = zip(parts.operation.made_of, pieces_of(parts.operation, example), strict=True)
    return Pieces(
        pieces=[
            Piece(name=name, dialer=parts.dialer(name, request), verify=verifier(trial, OPERATIONS[name]))
            for name, request in requests
        ],
        clock=clock,
        at_once=is_at_once(trial),
        on_one=fetch == knobs.IN_A_ROW or trial.knobs.get(knobs.HTTP) == knobs.HTTP_2,
    )


def refusal_of_target(trial: Trial, client: Client) -> str | None:
    """Why a client cannot be used with this target, or without one; None when it can."""
    if client.kind == "call":
        return "it names no target, and there is nobody to ask without one" if trial.target is None else None
    load = trial.load
    given = {
        "a target": trial.target is not None,
        f"connection: {trial.connection}": trial.connection != "reuse",
        ", ".join(trial.knobs): bool(trial.knobs),
        "a schema": trial.schema is not None,
        "tls": trial.tls is not None,
        f"a concurrency of {load.concurrency}": load.concurrency != 1,
        "a rate": load.rate_per_s is not None,
        "think time": load.think_s > 0,
        f"calls: {trial.calls}": trial.calls != 1,
        "turns": trial.turn_warm_up is not None,
    }
    if (what := next((what for what, is_given in given.items() if is_given), None)) is None:
        return None
    return f"{client.name} encodes and decodes one message after the other, and asks nobody: {what} does not apply"


def refuse_impossible(trial: Trial, operation: Operation) -> None:
    """ValueError for a load that cannot be offered, or would never end."""
    for is_given, why in _impossible(trial, operation):
        if is_given:
            raise ValueError(why)
    measured(trial.load)


def _impossible(trial: Trial, operation: Operation) -> Iterator[tuple[bool, str]]:
    load, pieces, rate = trial.load, operation.made_of, trial.load.rate_per_s
    if operation.kind == "stream" and load.requests != 0:
        yield load.duration_s is None, "load: give duration_s, which is how long each subscription lasts"
        has_either = load.requests is not None or rate is not None
        yield has_either, "load: requests and rate_per_s say nothing of a stream, whose operation has a rate of its own"
        yield load.think_s > 0, "load: a stream has no think time: its clients wait for events, and ask once"
        has_several = trial.connection != "reuse"
        yield has_several, "connection: a subscription has one connection for as long as it lasts (reuse)"
    if trial.turn_warm_up is not None:
        yield not trial.hold, "turn_warm_up: hold: a trial in turns is held until its first one"
        yield operation.kind != "call", f"turn_warm_up: {operation.name} is a {operation.kind}, and no call"
        yield rate is not None, "turn_warm_up: rate_per_s: an open loop has one schedule, and no turns"
        yield load.think_s > 0, "turn_warm_up: think_s: users who rest have no turns"
    if (fetch := trial.knobs.get(knobs.FETCH, knobs.WHOLE)) != knobs.WHOLE:
        name, made = f"{knobs.FETCH}: {fetch}: {operation.name}", ", ".join(pieces)
        yield not pieces, f"{name} is one call, and made of no others"
        yield trial.calls != len(pieces), f"{name} is made of {made}, and not of {trial.calls} calls"
        is_shared = knobs.CONNECTIONS in trial.knobs
        yield (
            is_shared,
            f"{knobs.FETCH}: {fetch}: the calls of a task have connections of their own, and share no others",
        )
    yield load.concurrency < 1, f"load: a concurrency of at least 1, not {load.concurrency}"
    if rate is not None:
        slowest = f"load: an open loop needs a rate above 0, at least {SLOWEST_RATE} a second, not {rate}"
        yield rate < SLOWEST_RATE, slowest
        yield load.think_s > 0, "load: an open loop has a schedule and no think time; give rate_per_s or think_s"
