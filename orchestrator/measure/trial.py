"""One trial: a fresh responder, fresh requesters, and waiting. The process contract is `protos/process.md`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import PurePosixPath

from orchestrator.catalogue.read import protocols
from orchestrator.clock import Clock
from orchestrator.contract_lines import any_of
from orchestrator.experiment.plan.cells import CONNECTIONS, number_among_all, seed_of, share, share_of_knobs
from orchestrator.hosts.base import ContractBroken, Host, Pair, Process
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.own.started import Started
from orchestrator.measure.target import (
    READY_S,
    Ask,
    Deadline,
    Given,
    Launched,
    Target,
    TrialFailed,
)
from orchestrator.results.manifest import Failure, Heard, RequesterRecord
from services.python.contract.limits import RESUMED, SESSION
from services.python.contract.lines import EXHAUSTED_REMEDY, Trial
from services.python.contract.lines import Target as Address
from services.python.contract.requester_lines import (
    REQUESTER_LINES,
    Checked,
    Done,
    Failed,
    Negotiated,
    Progress,
    Turn,
    Warm,
)
from services.python.contract.responder_lines import Stats
from services.python.contract.strict import Line

_LEAD_S = 0.05  # from the word to the moment: until the last requester of a host has read it


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one requester gave: its record on its own host, its `checked` line, and what the manifest says of it."""

    host: Host
    record: PurePosixPath
    checked: Checked | None
    requester: RequesterRecord

    @property
    def done(self) -> Done:
        """Its last line."""
        return self.requester.done


@dataclass(kw_only=True)
class Bench:
    """What a trial is made with."""

    clock: Clock
    interrupts: Interrupts
    on_progress: OnProgress | None = None
    beside_cpu_s: Callable[[], float | None] = lambda: None  # `Fleet.beside_cpu_s`

    def make(self, ask: Ask, pair: Pair, name: str, *, target: Target | None = None) -> TrialRun:
        """Make one trial; its records are called `<name>-r<n>.timings` in the requesters' workspaces.

        Several requesters begin to measure together, when all are warm; `target` answers in place of whom the ask names.
        Whatever goes wrong with a process becomes its failure; HostLost and Interrupted go on to the caller, and
        no process is left in any case.
        """
        return self.prepare(ask, pair, name, target=target).run()

    def prepare(self, ask: Ask, pair: Pair, name: str, *, target: Target | None = None) -> TrialRun:
        """A trial of which nothing is done yet; arguments as `make`."""
        target = target or target_of(ask, pair, self.interrupts)
        return TrialRun(bench=self, ask=ask, pair=pair, name=name, target=target)


def target_of(ask: Ask, pair: Pair, interrupts: Interrupts) -> Target:
    """Who is to answer the trial."""
    if ask.kind == "codec":
        return Target()  # a codec alone has no responder
    if ask.external is not None and ask.external.start is not None:
        kept = ask.load.concurrency if ask.connection == "reuse" and CONNECTIONS not in ask.knobs else 0
        return Started(
            start_as=ask.external.start, pair=pair, interrupts=interrupts, folder=ask.folder, connections=kept
        )
    if ask.external is not None:
        return Given(host=ask.external.given, port=ask.external.port)
    return Launched(ask=ask, pair=pair, interrupts=interrupts)


class _Abandoned(TrialFailed):
    """A requester that waited for another one, of which the trial died."""


@dataclass(frozen=True, kw_only=True)
class Requester:
    """One requester process under way. `number`: among all of the trial, `place`: among those of its host, from 0."""

    number: int
    place: int
    host: Host
    cpus: str | None
    process: Process
    called: str
    ask: Ask  # with its own share of the load
    times: dict[str, int] = field(default_factory=dict)  # when its lines passed here, as `Heard` has them


@dataclass(kw_only=True)
class TrialRun:
    """A trial under way, and how it went once it is over: it counts where `failure` is None."""

    bench: Bench
    ask: Ask
    pair: Pair
    name: str
    target: Target
    address: Address | None = None
    stats_before: Stats | None = None
    stats_warm: Stats | None = None
    stats: Stats | None = None
    parts: tuple[Part, ...] = ()
    beside_from_s: float | None = None  # what the measurement had used beside its hosts when requests began to count
    beside_cpu_s: float | None = None
    requesters: list[Requester] = field(default_factory=list)
    processes: ExitStack = field(default_factory=ExitStack)
    failure: Failure | None = None
    started_wall_ns: int = 0
    ended_wall_ns: int = 0

    def run(self) -> TrialRun:
        """All of the trial, whose requests are measured in one phase."""
        with self.processes:
            self.attempt(self.start)
            self.attempt(self.await_ready)
            self.attempt(self._measure)
        return self.over()

    def attempt(self, step: Callable[[], None]) -> None:
        """Make a step, unless one before has failed; what fails ends all processes of the trial."""
        if self.failure is not None:
            return
        try:
            step()
        except TrialFailed as error:
            cause = self.target.cause(error)
            self.processes.close()  # only the dead have said their last words
            self.failure = Failure(
                stage=cause.stage, kind=cause.kind, message=cause.message, last_words=self._last_words()
            )

    def await_ready(self) -> None:
        """Wait until the responder can be asked. TrialFailed."""
        self.address = self.target.await_ready()
        self.stats_before = self.target.stats("start")

    def _measure(self) -> None:
        self._ask()
        self._refuse_if_not_secured()
        self.stats = self.target.stats("measure")
        self._refuse_if_nothing_succeeded()

    def finish(self, answers: Sequence[tuple[Checked | None, Done]]) -> None:
        """Take in what the requesters of a trial in turns said. TrialFailed where that makes it count for nothing."""
        self._take(answers)
        self._refuse_if_not_secured()
        self._refuse_if_nothing_succeeded()

    def over(self) -> TrialRun:
        """The trial, now that it is over."""
        self.ended_wall_ns = self.bench.clock.wall_ns()
        return self

    def start(self) -> None:
        """Start all ends at once, so that their imports overlap. Requesters wait for the trial on their stdin."""
        self.started_wall_ns = self.bench.clock.wall_ns()
        language = protocols()[self.ask.protocol].client(self.ask.client).language
        self.processes.callback(self.target.end)
        self.target.start()
        every = product(enumerate(self.pair.requesters), range(self.ask.processes))
        for number, ((at, host), place) in enumerate(every):
            cpus = self.pair.cpus_of(place)
            process = host.start(language.argv("request", host), cpus=cpus)
            self.processes.callback(process.end)
            self.requesters.append(
                Requester(
                    number=number,
                    place=place,
                    host=host,
                    cpus=cpus,
                    process=process,
                    called=self._called(host, place),
                    ask=_share(self.ask, at, place, number),
                )
            )

    def _called(self, host: Host, place: int) -> str:
        """A requester in words; with several, which of them."""
        if self.ask.processes > 1:
            return f"requester process {place + 1} of {self.ask.processes} on {host.name}"
        return "the requester" if len(self.pair.requesters) == 1 else f"the requester on {host.name}"

    def _ask(self) -> None:
        """Hand every requester its trial, and wait until all are done."""
        self.hand_over()
        self.beside_from_s = self.bench.beside_cpu_s()
        answers = self._listen_to_all()
        if self.beside_from_s is not None and (now_s := self.bench.beside_cpu_s()) is not None:
            self.beside_cpu_s = now_s - self.beside_from_s
        self._take(answers)

    def _record(self, requester: Requester) -> PurePosixPath:
        return requester.host.workspace / f"{self.name}-r{requester.number}.timings"

    def hand_over(self) -> None:
        """Tell every requester its trial. TrialFailed."""
        for requester in self.requesters:
            line = trial_line(requester.ask, requester.host, self.address, self._record(requester), hold=self._holds)
            self.tell(requester, line.to_json(), "check")

    def tell(self, requester: Requester, line: str, stage: str) -> None:
        """Write a line to a requester. TrialFailed."""
        try:
            requester.process.send(line)
        except BrokenPipeError:
            raise TrialFailed(stage, "requester-died", f"{requester.called} died") from None

    def _take(self, answers: Sequence[tuple[Checked | None, Done]]) -> None:
        self.parts = tuple(
            Part(
                host=requester.host,
                record=self._record(requester),
                checked=checked,
                requester=RequesterRecord(
                    host=requester.host.name,
                    done=done,
                    samples=None,
                    process=requester.place,
                    cpus=requester.cpus,
                    heard=Heard(**requester.times) if self._has_hosts and len(requester.times) == 3 else None,
                ),
            )
            for requester, (checked, done) in zip(self.requesters, answers, strict=True)
        )

    @property
    def _holds(self) -> bool:
        """Whether requesters are to wait between warm-up and measured phase."""
        is_held = self.target.counts or len(self.requesters) > 1 or self.ask.turn_warm_up is not None
        return is_held and self.ask.load.requests != 0

    @property
    def _has_hosts(self) -> bool:
        """Whether several hosts ask, whose clocks nobody compares."""
        return len(self.pair.requesters) > 1

    def _listen_to_all(self) -> list[tuple[Checked | None, Done]]:
        are_warm = threading.Barrier(len(self.requesters), self._let_measure)
        if len(self.requesters) == 1:
            with self.bench.interrupts.waiting():
                return [self._listen(self.requesters[0], self.bench.on_progress, are_warm)]
        with ThreadPoolExecutor(max_workers=len(self.requesters)) as pool:
            progress = [self.bench.on_progress, *[None] * (len(self.requesters) - 1)]  # as far as the first one is
            listeners = [
                pool.submit(self._listen, requester, heard, are_warm)
                for requester, heard in zip(self.requesters, progress, strict=True)
            ]
            try:
                with self.bench.interrupts.waiting():
                    wait(listeners, return_when=FIRST_EXCEPTION)  # one that died ends the trial, whoever still asks
                    for listener in listeners:
                        if listener.done() and (error := listener.exception()) is not None:
                            raise error
                    return [listener.result() for listener in listeners]
            except BaseException as error:
                are_warm.abort()
                for requester in self.requesters:  # the pool waits for its threads: let their reads end
                    requester.process.end()
                if isinstance(error, _Abandoned):  # what another one died of is what is said
                    for listener in listeners:
                        cause = listener.exception()
                        if cause is not None and not isinstance(cause, _Abandoned):
                            raise cause from None
                raise

    def _let_measure(self) -> None:
        """What the responder has done so far, now that every requester has warmed up and none measures; then all begin.

        Several on one host begin at one moment, by its wall clock. Several hosts, whose clocks may differ by hours, begin as
        each is told, one right after the other.
        """
        self.stats_warm = self.target.stats("warm-up")
        self.beside_from_s = self.bench.beside_cpu_s()
        word = "measure"
        if len(self.requesters) > 1 and not self._has_hosts:
            word = f"measure {self.bench.clock.wall_ns() + int(_LEAD_S * 1e9)}"
        for requester in self.requesters:
            requester.times["told_ns"] = self._now_ns()
            self.tell(requester, word, "warm-up")

    def _listen(
        self, requester: Requester, on_progress: OnProgress | None, are_warm: threading.Barrier
    ) -> tuple[Checked | None, Done]:
        """Read a requester's lines until `done`: its `checked` line, and its `done` line."""
        try:
            return self._heard(requester, on_progress, are_warm)
        except threading.BrokenBarrierError:
            raise _Abandoned("warm-up", "hung", "another requester of the trial did not get warm") from None
        except BaseException:
            are_warm.abort()
            raise

    def _heard(
        self, requester: Requester, on_progress: OnProgress | None, are_warm: threading.Barrier
    ) -> tuple[Checked | None, Done]:
        checked: Checked | None = None
        is_warm = not self._holds
        deadline = Deadline(ask=requester.ask, ready_s=READY_S, since_s=self.bench.clock.monotonic_s())
        while True:
            stage, line = deadline.stage, self.next_line(requester, deadline)
            match line:
                case Turn():
                    raise TrialFailed(stage, "protocol", "the requester printed `turn` and was not to take turns")
                case Done() | Progress(phase="measured") if not is_warm:
                    raise TrialFailed(stage, "protocol", "the requester measured before it was told to")
                case Warm() if is_warm:  # or else it would choose from when on the responder's CPU time counts
                    raise TrialFailed(stage, "protocol", "the requester printed `warm` and was not to wait")
                case Checked():
                    checked = line
                case Progress() if on_progress is not None:
                    on_progress(line)
                case Warm():
                    is_warm = True
                    requester.times["warm_ns"] = self._now_ns()
                    are_warm.wait()
                case Done():
                    requester.times["done_ns"] = self._now_ns()
                    return checked, line

    def next_line(self, requester: Requester, deadline: Deadline) -> Line:
        """The next line of a requester, in time. TrialFailed, for one that says so, too."""
        try:
            text = requester.process.read(deadline.next_line_s)
        except TimeoutError:
            raise TrialFailed(
                deadline.stage, "hung", f"no word from {requester.called} in {deadline.next_line_s:g} s"
            ) from None
        except ContractBroken as error:
            raise TrialFailed(deadline.stage, "protocol", f"{requester.called} was ended: {error}") from None
        if text is None:
            raise TrialFailed(deadline.stage, "requester-died", f"{requester.called} died")
        try:
            line: Line = any_of(REQUESTER_LINES, text, "requester")
        except ValueError as error:
            raise TrialFailed(deadline.stage, "protocol", str(error)) from error
        now_s = self.bench.clock.monotonic_s()
        if isinstance(line, Failed):
            remedy = f". Remedy: {EXHAUSTED_REMEDY}" if line.kind == "exhausted" else ""
            raise TrialFailed(deadline.stage, line.kind, f"{requester.called} gave up: {line.message}{remedy}")
        if isinstance(line, Done):
            return line
        is_in_time = deadline.heard(line, now_s)
        if not is_in_time:
            raise TrialFailed(
                deadline.stage, "hung", f"not done after {deadline.at_most_s:g} s, though its load ends sooner"
            )
        if deadline.hears_too_much(now_s):
            raise TrialFailed(deadline.stage, "protocol", f"{requester.called} prints many lines a second, not one")
        return line

    def _now_ns(self) -> int:
        """By the monotonic clock here, which all requesters' lines have in common."""
        return round(self.bench.clock.monotonic_s() * 1e9)

    def _refuse_if_nothing_succeeded(self) -> None:
        for part in self.parts:
            errors = part.done.errors
            if part.done.events is not None and part.done.events.delivered:
                continue  # a stream that was not over in time has brought events all the same
            if 0 < part.done.requests <= sum(errors.values()):
                kind = max(errors, key=lambda k: errors[k])
                example = part.done.error_examples.get(kind, kind)
                raise TrialFailed("measure", kind, f"not one request succeeded: {example}")

    def _refuse_if_not_secured(self) -> None:
        """TrialFailed where connections were not as the cell has them, as far as the requester's library tells."""
        for requester, part in zip(self.requesters, self.parts, strict=True):
            if reason := unlike_told(part.done.tls, requester.ask):
                raise TrialFailed("measure", "tls", reason)

    def _last_words(self) -> str:
        words = [("responder", self.target.last_words())]
        words += [
            (requester.called.removeprefix("the "), requester.process.last_words()) for requester in self.requesters
        ]
        return "\n".join(f"{who}: {text}" for who, text in words if text)


def trial_line(ask: Ask, host: Host, target: Address | None, record: PurePosixPath, *, hold: bool = False) -> Trial:
    """Return the line that starts a trial of a requester on a host: what it calls, and where."""
    return Trial(
        target=target,
        protocol=ask.protocol,
        client=ask.client,
        operation=ask.operation,
        record=str(record),
        payload=ask.payload,
        connection=ask.connection,
        load=ask.load,
        warmup=ask.warmup,
        timeout_s=ask.timeout_s,
        seed=ask.seed,
        calls=ask.calls,
        hold=hold,
        knobs=ask.knobs,
        schema=ask.schema_on(host),
        tls=ask.authority_on(host),
        mix=[*ask.mix],
        turn_warm_up=ask.turn_warm_up,
    )


def _share(ask: Ask, host: int, place: int, number: int) -> Ask:
    """What process `place` of the trial's host `host` is asked: its share of the load, and a seed of its own."""
    parts, mine = ask.requesters * ask.processes, place
    if ask.requesters > 1:
        mine = number_among_all(ask.requesters, host, place)
    return replace(
        ask,
        load=share(ask.load, parts, mine),
        knobs=share_of_knobs(ask.knobs, parts, mine),
        seed=seed_of(ask.seed, number),
    )


def unlike_told(negotiated: Negotiated | None, ask: Ask) -> str | None:
    """Why a trial's handshakes are not those of its cell; None where they are, or nobody knows.

    The first connections of each worker resume none, and a ticket that came late is missed: half of them must.
    """
    if (negotiated is None) != (ask.certificates is None):
        return "tls: the requester says nothing of it" if negotiated is None else "tls: the cell has none"
    if negotiated is None:
        return None
    if negotiated.version not in (None, "TLSv1.3"):
        return f"tls: {negotiated.version} was negotiated"
    handshakes, resumed = negotiated.handshakes or 0, negotiated.resumed or 0
    if ask.knobs.get(SESSION) != RESUMED:
        return f"tls: {resumed} of {handshakes} handshakes resumed a session, and none was to" if resumed else None
    is_enough = negotiated.resumed is None or 2 * resumed >= handshakes - ask.load.concurrency
    return None if is_enough else f"tls: only {resumed} of {handshakes} handshakes resumed a session"


def body_bytes(parts: Sequence[Part]) -> tuple[tuple[int, int], ...]:
    """Bytes of both bodies as the smoke test saw them, of each operation of a mix; empty where it did not say."""
    checked = next((part.checked for part in parts if part.checked is not None), None)
    if checked is None:
        return ()
    mixed = tuple((bodies.sent, bodies.received) for bodies in checked.mix)
    return mixed or ((checked.body_bytes_sent, checked.body_bytes_received),)
