"""The floor between two ends: ping, and a raw TCP exchange of the same bytes. Taken around and within every block.

The exchange of cells in turns takes turns with them.

A floor on a kept connection must not be limited by TCP itself. How fast a body beyond the initial window travels depends
on the connection's past: on a congestion window that grew, on a receive window that was tuned, and under BBR on a
bandwidth that is estimated while the connection starts and never again when requests do not fill the path. Two
connections with the same bodies settle at different speeds: over 120 ms, 300 kB each way took a plain exchange 248 ms
and gRPC 205 ms. So such a floor begins with one exchange eight times as large, after which it took 140 ms.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import PurePosixPath
from typing import Any, Literal

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan.plan import Cell
from orchestrator.hosts.base import Pair, ping
from orchestrator.measure.run_context import RunContext
from orchestrator.measure.target import Ask
from orchestrator.measure.trial import TrialRun
from orchestrator.measure.turns import Member
from orchestrator.results.manifest import BaselineRecord
from services.python.contract.limits import Policy
from services.python.contract.lines import Load, Payload, Warmup
from services.python.contract.ping_lines import Ping, PingDone

EVERY_S = 60.0
PING_BYTES = 56
_FIRST_PINGS = 3
_FEWEST_PINGS = 20
_MOST_PINGS = 500
_LEAST_OF_A_TURN, _WARM_UP_OF_A_TURN = 10, 10  # requests
_PINGING_S = 1.0
_PING_TIMEOUT_S = 60.0

Moment = Literal["before", "during", "after"]


@dataclass(kw_only=True)
class FloorMember(Member):
    """A floor that takes turns with the cells above it; `samples`: where its record goes."""

    floor: Floor
    samples: str


class Baselines:
    """Takes the floors of one placement in one block; knows the distance once it has pinged."""

    def __init__(self, context: RunContext, placement: str, cells: list[Cell], *, block: int, attempt: int) -> None:
        self._context = context
        self._placement = placement
        self._block = block
        self._attempt = attempt
        running = [context.stacks[cell.stack].running for cell in cells]
        launched = [cell for cell, given in zip(cells, running, strict=True) if given is None]
        self._floors = floors(launched, context.sizes)
        # One machine answers all stacks of a placement; where orch starts none of them, it is the one that was given.
        self._given = None if launched else next((given.host for given in running if given is not None), None)
        self._is_wanted = any(cell.kind != "codec" for cell in cells)  # under a codec alone there is no network
        self.in_turns: frozenset[str] = frozenset()  # cells whose floors take turns with them
        self._taken = 0
        self._rtt_s = 0.0
        self._last_s = float("-inf")

    @property
    def are_due(self) -> bool:
        """Whether the last look is a minute old."""
        return self._is_wanted and self._context.clock.monotonic_s() - self._last_s >= EVERY_S

    def take(self, moment: Moment) -> None:
        """Ping, then exchange as many bytes as the cells do; what cannot be had becomes a warning of the run.

        Nothing where none of the cells has a network under it.
        """
        if not self._is_wanted:
            return
        ends = self._ends
        self._ping(ends, moment)
        for floor in self._floors:
            if not self.in_turns.issuperset(floor.cells):
                self._context.interrupts.checkpoint()
                self._exchange(ends, floor, moment)
        self._last_s = self._context.clock.monotonic_s()

    def _ping(self, pair: Pair, moment: Moment) -> None:
        placement, host = self._placement, pair.requesters[0]
        if placement in self._context.without_ping:
            return
        samples, record = self._samples("ping", moment), host.workspace / "ping.timings"
        started_wall_ns = self._context.clock.wall_ns()
        try:
            if placement not in self._context.pings:
                self._context.pings[placement] = pings_for(self._ask_ping(pair, record, _FIRST_PINGS))
            done = self._ask_ping(pair, record, self._context.pings[placement])
            self._context.bring(host, record, samples)
        except (TimeoutError, ValueError, TypeError, OSError) as error:
            self._context.refuse_to_go_on_without_hosts()
            self._context.without_ping.add(placement)
            left = "the floor is tcp alone" if self._floors else "the floor is what TCP itself says of its connections"
            answers = pair.responder.name if self._given is None else "the service"
            self._context.warn(f"no ping from {host.name} to {answers}; {left}", str(error))
            return
        self._rtt_s = (done.min_ms or 0.0) / 1e3
        self._note(
            kind="ping",
            moment=moment,
            requester=host.name,
            method=done.method,
            samples=samples,
            started_wall_ns=started_wall_ns,
            send_bytes=PING_BYTES,
            receive_bytes=PING_BYTES,
            done=done,
        )

    def _ask_ping(self, pair: Pair, record: PurePosixPath, count: int) -> PingDone:
        """Ping, and its `done` line; ValueError says why there is none, TimeoutError that none came."""
        # Back to back: on one machine a pause of 10 ms lets the CPU's caches go cold, and the ping is slower than tcp.
        address = self._given or pair.responder.address
        request = Ping(address=address, record=str(record), count=count, interval_s=0.0, size=PING_BYTES)
        with self._context.interrupts.waiting():
            done = ping(pair.requesters[0], request, cpus=pair.requester_cpus, patience_s=_PING_TIMEOUT_S)
        if not done.received:
            raise ValueError("no echo was answered")
        return done

    @property
    def _ends(self) -> Pair:
        pair = self._context.hosts.pair(self._placement)
        return Pair((pair.requesters[0],), pair.responder, pair.requester_cpus, pair.responder_cpus)

    def members(self, cells: Collection[str], rounds: int) -> list[FloorMember]:
        """The floors of cells that take turns in so many rounds, as members of their group."""
        turns = min(rounds, REQUESTS // _LEAST_OF_A_TURN)
        requests = max(_LEAST_OF_A_TURN, ceil(REQUESTS / turns))
        members = []
        for floor in self._floors:
            beside = tuple(cell for cell in floor.cells if cell in cells)
            if not beside:
                continue
            samples, ask = self._samples("tcp", "during"), self._ask(floor)
            load = replace(ask.load, requests=requests)
            trial_run = self._context.bench().prepare(
                replace(ask, load=load, turn_warm_up=_WARM_UP_OF_A_TURN), self._ends, PurePosixPath(samples).stem
            )
            floor = replace(floor, cells=beside)
            members.append(FloorMember(trial=trial_run, turns_in_block=turns, floor=floor, samples=samples))
        return members

    def keep(self, member: FloorMember, outcome: TrialRun) -> None:
        """Keep what a floor in turns measured."""
        self._keep(member.floor, "during", member.samples, outcome)

    def _exchange(self, pair: Pair, floor: Floor, moment: Moment) -> None:
        samples = self._samples("tcp", moment)
        outcome = self._context.bench().make(self._ask(floor), pair, PurePosixPath(samples).stem)
        self._keep(floor, moment, samples, outcome)

    def _keep(self, floor: Floor, moment: Moment, samples: str, outcome: TrialRun) -> None:
        warning = f"no tcp floor for placement {self._placement}"
        if outcome.failure is not None:
            self._context.refuse_to_go_on_without_hosts()
            words = f"{outcome.failure.message}\n\n{outcome.failure.last_words}"
            self._context.folder.log(f"{PurePosixPath(samples).stem}.txt", words)
            self._context.warn(warning, outcome.failure.message)
            return
        part = outcome.parts[0]
        try:
            self._context.bring(part.host, part.record, samples)
        except (FileNotFoundError, ValueError) as error:
            self._context.warn(warning, str(error))
            return
        self._note(
            kind="tcp",
            moment=moment,
            requester=part.host.name,
            method="tcp",
            samples=samples,
            started_wall_ns=outcome.started_wall_ns,
            policy=floor.policy,
            send_bytes=floor.send_bytes,
            receive_bytes=floor.receive_bytes,
            cells=floor.cells,
            done=part.done,
        )

    def _ask(self, floor: Floor) -> Ask:
        tcp = protocols()["tcp"]
        load, warmup = floor_load(floor, self._rtt_s)
        return Ask(
            protocol=tcp.name,
            responder=tcp.responder().name,
            client=tcp.default_client(1).name,
            operation="exchange",
            payload=Payload(
                kind="exchange", size=floor.send_bytes, reply_size=floor.receive_bytes, opening=floor.opening
            ),
            connection=floor.policy,
            load=load,
            warmup=warmup,
            seed=self._context.plan.seed,
        )

    def _samples(self, kind: str, moment: Moment) -> str:
        self._taken += 1
        name = f"b{self._block:03}-a{self._attempt}-{self._placement}-{self._taken:03}-{moment}"
        return f"baselines/{kind}/{name}.parquet"

    def _note(self, **fields: Any) -> None:
        record = BaselineRecord(placement=self._placement, block=self._block, **fields)
        event = {"event": "baseline", "attempt": self._attempt, "baseline": asdict(record)}
        self._context.folder.append(event)


def pings_for(first: PingDone) -> int:
    """How many pings a look takes: a second's worth, after a first few told how and how far.

    >>> by = {"sent": 3, "received": 3, "avg_ms": 10.0}
    >>> pings_for(PingDone(method="icmp-raw", min_ms=0.01, **by)), pings_for(PingDone(method="icmp-raw", min_ms=10.0, **by))
    (500, 100)
    """
    rtt_s = (first.min_ms or 0.0) / 1e3
    if rtt_s <= 0:
        return _FEWEST_PINGS
    return max(_FEWEST_PINGS, min(_MOST_PINGS, int(_PINGING_S / rtt_s)))


SMALL_BYTES = 1_400  # fits one segment of Ethernet's 1,500 bytes, so its exact size hardly matters
REQUESTS = 200
WARMUP_REQUESTS = 50
AT_MOST_S = 2.0
INITIAL_WINDOW_BYTES = 10 * 1448  # RFC 6928, with the usual segment of an Ethernet path
_SAME = 0.01
_OPENING = 8
_LARGEST_OPENING = 32 * 2**20  # beyond, twice as large has to do
_OPENING_AT_MOST_S = 30.0  # 1.58 MB, eight times, both ways, over 7 Mbit/s
_LEAST_ROUND_TRIPS = 40
_LONGEST_S = 8.0
_WARMUP_WITH_OPENING = 4  # the first, the larger one, and two for the window to settle after it

Sizes = Mapping[tuple[str, ...], Sequence[tuple[int, int]]]
"""Body bytes, sent and received, of each operation of a cell, by `Cell.exchange`."""


@dataclass(frozen=True, kw_only=True)
class Floor:
    """A raw TCP exchange of so many body bytes each way, and the cells that it is the floor of."""

    policy: Policy
    send_bytes: int
    receive_bytes: int
    cells: tuple[str, ...]

    @property
    def opening(self) -> int:
        """How many times as large the exchange is that opens TCP's window; 1 where there is no window to open."""
        largest = max(self.send_bytes, self.receive_bytes)
        if self.policy != "reuse" or largest <= INITIAL_WINDOW_BYTES:
            return 1
        return max(_OPENING // 4, min(_OPENING, _LARGEST_OPENING // largest))


def floors(cells: Iterable[Cell], sizes: Sizes) -> list[Floor]:
    """The floors of one placement's cells: each operation of a mix has one.

    Cells of one policy share a floor, of the largest of them, where their sizes make no difference to it: bodies that
    fit one segment, or are within 1 % of each other (1.58 MB with and without a protocol's own four bytes). A cell
    whose sizes are not known has none: its stack failed the smoke test. Nor does a stream, which is timed one way, or a
    codec alone, which uses no network.
    """
    known = [
        (cell, size)
        for cell in cells
        if cell.exchange in sizes and cell.kind in ("call", "task")
        for size in sizes[cell.exchange]
    ]
    classes: list[list[tuple[Cell, tuple[int, int]]]] = []
    for cell, size in sorted(known, key=lambda item: (item[0].connection, item[1], item[0].id)):
        for members in classes:
            first, first_size = members[0]
            if first.connection == cell.connection and all(map(_alike, first_size, size)):
                members.append((cell, size))
                break
        else:
            classes.append([(cell, size)])
    return [
        Floor(
            policy=members[0][0].connection,
            send_bytes=max(send for _, (send, _) in members),
            receive_bytes=max(receive for _, (_, receive) in members),
            cells=tuple(dict.fromkeys(cell.id for cell, _ in members)),
        )
        for members in classes
    ]


def _alike(first: int, second: int) -> bool:
    larger = max(first, second)
    return larger <= SMALL_BYTES or larger - min(first, second) <= larger * _SAME


def floor_load(floor: Floor, rtt_s: float) -> tuple[Load, Warmup]:
    """A short look at the floor: 200 requests in at most 2 s, longer only where the distance asks for it.

    Where a larger exchange opens the window, warm-up is not cut short before that.
    """
    at_most_s = min(_LONGEST_S, max(AT_MOST_S, _LEAST_ROUND_TRIPS * rtt_s))
    load = Load(concurrency=1, requests=REQUESTS, duration_s=at_most_s)
    if floor.opening > 1:
        fit = int(at_most_s / 4 / rtt_s) if rtt_s > 0 else WARMUP_REQUESTS
        requests = max(_WARMUP_WITH_OPENING, min(WARMUP_REQUESTS, fit))
        return load, Warmup(requests=requests, at_least_s=0.0, at_most_s=_OPENING_AT_MOST_S)
    return load, Warmup(requests=WARMUP_REQUESTS, at_least_s=0.0, at_most_s=at_most_s / 4)
