"""One trial: a fresh responder, fresh requesters, and waiting. The process contract is `protos/process.md`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from orchestrator import lines
from orchestrator.catalogue.read import protocols
from orchestrator.clock import Clock
from orchestrator.hosts.base import ContractBroken, Host, Pair, Process
from orchestrator.measure.ask import Ask
from orchestrator.measure.deadline import Deadline
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.target import (
    READY_S,
    Given,
    Launched,
    NoTarget,
    Target,
    TrialFailed,
    names_of_catalogue,
    of_contract,
)
from orchestrator.results.lines import Failure
from services.python.contract.limits import RESUMED, SESSION
from services.python.contract.lines import Target as Told
from services.python.contract.lines import Trial
from services.python.contract.requester_lines import Checked, Done, Failed, Negotiated, Progress, Warm
from services.python.contract.responder_lines import Ready, Stats

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one requester gave: its `checked` and `done` lines, and its record on its own host."""

    host: Host
    record: PurePosixPath
    checked: Checked | None
    done: Done


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a trial went. `failure` is None when it counts; durations are seconds."""

    started_wall_ns: int
    ended_wall_ns: int
    elapsed_s: float
    ready: Ready | None = None
    stats_before: Stats | None = None
    stats_warm: Stats | None = None
    stats: Stats | None = None
    parts: tuple[Part, ...] = ()
    checked_after_s: float = 0.0
    failure: Failure | None = None

    @property
    def overhead_s(self) -> float:
        """What was neither warm-up nor measuring."""
        return max(0.0, self.elapsed_s - max((_window_s(p.done) for p in self.parts), default=0.0))


@dataclass(kw_only=True)
class Bench:
    """What a trial is made with."""

    clock: Clock
    interrupts: Interrupts
    on_progress: OnProgress

    def make(self, ask: Ask, pair: Pair, name: str, *, start_lead_s: float | None = None) -> Outcome:
        """Make one trial; its records are called `<name>-r<n>.timings` in the requesters' workspaces.

        With `start_lead_s` all requesters start together so many seconds after they are told. Whatever goes wrong
        with a process becomes the outcome's failure; HostLost and Interrupted go on to the caller, and no process is
        left in any case.
        """
        target = _target(ask, pair, self.interrupts)
        return _Making(bench=self, ask=ask, pair=pair, name=name, target=target).run(start_lead_s)


def _target(ask: Ask, pair: Pair, interrupts: Interrupts) -> Target:
    """Who is to answer the trial."""
    if ask.kind == "codec":
        return NoTarget()
    if ask.external is not None:
        return Given(host=ask.external.host, port=ask.external.port, is_anonymous=ask.external.is_anonymous)
    return Launched(ask=ask, pair=pair, interrupts=interrupts)


class _Abandoned(TrialFailed):
    """A requester that waited for another one, of which the trial died."""


@dataclass(kw_only=True)
class _Making:
    """A trial under way: what is known of it so far."""

    bench: Bench
    ask: Ask
    pair: Pair
    name: str
    target: Target
    told: Told | None = None
    stats_before: Stats | None = None
    stats_warm: Stats | None = None
    stats: Stats | None = None
    parts: tuple[Part, ...] = ()
    checked_after_s: float = 0.0
    requesters: list[Process] = field(default_factory=list)

    def run(self, start_lead_s: float | None) -> Outcome:
        started_wall_ns, started_s = self.bench.clock.wall_ns(), self.bench.clock.monotonic_s()
        failure: Failure | None = None
        with ExitStack() as processes:
            try:
                self._start(processes)
                self.told = self.target.await_ready()
                self.stats_before = self.target.stats("start")
                self._ask(start_lead_s)
                self._refuse_if_not_secured()
                self.stats = self.target.stats("measure")
                self._refuse_if_nothing_succeeded()
            except TrialFailed as error:
                cause = self.target.cause(error)
                processes.close()  # only the dead have said their last words
                failure = Failure(
                    stage=cause.stage, kind=cause.kind, message=cause.message, last_words=self._last_words()
                )
        return Outcome(
            started_wall_ns=started_wall_ns,
            ended_wall_ns=self.bench.clock.wall_ns(),
            elapsed_s=self.bench.clock.monotonic_s() - started_s,
            ready=self.target.ready,
            stats_before=self.stats_before,
            stats_warm=self.stats_warm,
            stats=self.stats,
            parts=self.parts,
            checked_after_s=self.checked_after_s,
            failure=failure,
        )

    def _start(self, processes: ExitStack) -> None:
        """Start all ends at once, so that their imports overlap. Requesters wait for the trial on their stdin."""
        with names_of_catalogue():
            asks = protocols()[self.ask.protocol].client(self.ask.client).language
        processes.callback(self.target.end)
        self.target.start()
        for host in self.pair.requesters:
            requester = host.start(asks.argv("request", host), cpus=self.pair.requester_cpus)
            processes.callback(requester.end)
            self.requesters.append(requester)

    def _ask(self, start_lead_s: float | None) -> None:
        """Hand every requester its trial, and wait until all are done."""
        start_at = None if start_lead_s is None else self.bench.clock.wall_ns() + int(start_lead_s * 1e9)
        sent_s = self.bench.clock.monotonic_s()
        records = []
        for number, (host, requester) in enumerate(zip(self.pair.requesters, self.requesters, strict=True)):
            records.append(host.workspace / f"{self.name}-r{number}.timings")
            try:
                requester.send(self._trial(host, records[-1], number, start_at).to_json())
            except BrokenPipeError:
                raise TrialFailed("check", "requester-died", f"the requester on {host.name} died") from None
        answers = self._listen_to_all()
        self.checked_after_s = max(at for _, _, at in answers) - sent_s
        self.parts = tuple(
            Part(host=host, record=record, checked=checked, done=done)
            for host, record, (checked, done, _) in zip(self.pair.requesters, records, answers, strict=True)
        )

    def _trial(self, host: Host, record: PurePosixPath, number: int, start_at: int | None) -> Trial:
        ask = self.ask
        return Trial(
            target=self.told,
            protocol=ask.protocol,
            client=ask.client,
            operation=ask.operation,
            record=str(record),
            payload=ask.payload,
            connection=ask.connection,
            load=ask.load,
            warmup=ask.warmup,
            timeout_s=ask.timeout_s,
            seed=ask.seed + number,
            calls=ask.calls,
            start_at_unix_ns=start_at,
            hold=self._holds,
            knobs=ask.knobs,
            schema=ask.schema_on(host),
            tls=ask.authority_on(host),
        )

    @property
    def _holds(self) -> bool:
        """Whether requesters are to wait between warm-up and measured phase."""
        return self.target.counts and self.ask.load.requests != 0

    def _listen_to_all(self) -> list[tuple[Checked | None, Done, float]]:
        are_warm = threading.Barrier(len(self.requesters), self._let_measure)
        if len(self.requesters) == 1:
            with self.bench.interrupts.waiting():
                return [self._listen(self.requesters[0], self.bench.on_progress, are_warm)]
        with ThreadPoolExecutor(max_workers=len(self.requesters)) as pool:
            listeners = [
                pool.submit(self._listen, requester, self.bench.on_progress if number == 0 else _unheard, are_warm)
                for number, requester in enumerate(self.requesters)
            ]
            try:
                with self.bench.interrupts.waiting():
                    return [listener.result() for listener in listeners]
            except BaseException as error:
                are_warm.abort()
                for requester in self.requesters:  # the pool waits for its threads: let their reads end
                    requester.end()
                if isinstance(error, _Abandoned):  # what another one died of is what is said
                    for listener in listeners:
                        cause = listener.exception()
                        if cause is not None and not isinstance(cause, _Abandoned):
                            raise cause from None
                raise

    def _let_measure(self) -> None:
        """What the responder has done so far, now that every requester has warmed up and none measures; then all begin."""
        self.stats_warm = self.target.stats("warm-up")
        for host, requester in zip(self.pair.requesters, self.requesters, strict=True):
            try:
                requester.send("measure")
            except BrokenPipeError:
                raise TrialFailed("warm-up", "requester-died", f"the requester on {host.name} died") from None

    def _listen(
        self, requester: Process, on_progress: OnProgress, are_warm: threading.Barrier
    ) -> tuple[Checked | None, Done, float]:
        """Read a requester's lines until `done`: its `checked` line, its `done` line, and when it had checked."""
        try:
            return self._heard(requester, on_progress, are_warm)
        except threading.BrokenBarrierError:
            raise _Abandoned("warm-up", "hung", "another requester of the trial did not get warm") from None
        except BaseException:
            are_warm.abort()
            raise

    def _heard(
        self, requester: Process, on_progress: OnProgress, are_warm: threading.Barrier
    ) -> tuple[Checked | None, Done, float]:
        checked: Checked | None = None
        is_warm = not self._holds
        checked_at_s = self.bench.clock.monotonic_s()
        deadline = Deadline(ask=self.ask, ready_s=READY_S, since_s=checked_at_s)
        while True:
            try:
                text = requester.read(deadline.next_line_s)
            except TimeoutError:
                raise TrialFailed(
                    deadline.stage, "hung", f"no word from the requester in {deadline.next_line_s:g} s"
                ) from None
            except ContractBroken as error:
                raise TrialFailed(deadline.stage, "protocol", f"the requester was ended: {error}") from None
            if text is None:
                raise TrialFailed(deadline.stage, "requester-died", "the requester died")
            line, now_s = of_contract(lines.requesters, text, deadline.stage), self.bench.clock.monotonic_s()
            match line:
                case Done() | Progress(phase="measured") if not is_warm:
                    raise TrialFailed(deadline.stage, "protocol", "the requester measured before it was told to")
                case Warm() if is_warm:  # or else it would choose from when on the responder's CPU time counts
                    raise TrialFailed(deadline.stage, "protocol", "the requester printed `warm` and was not to wait")
                case Checked():
                    checked, checked_at_s = line, now_s
                case Progress():
                    on_progress(line)
                case Warm():
                    is_warm = True
                    are_warm.wait()
                    now_s = self.bench.clock.monotonic_s()
                case Done():
                    return checked, line, checked_at_s
                case Failed(kind=kind, message=message):
                    raise TrialFailed(deadline.stage, kind, f"the requester gave up: {message}")
            if not deadline.heard(line, now_s):
                raise TrialFailed(
                    deadline.stage, "hung", f"not done after {deadline.at_most_s:g} s, though its load ends sooner"
                )
            if deadline.hears_too_much(now_s):
                raise TrialFailed(deadline.stage, "protocol", "the requester prints many lines a second, not one")

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
        for part in self.parts:
            if reason := unlike_told(part.done.tls, self.ask):
                raise TrialFailed("measure", "tls", reason)

    def _last_words(self) -> str:
        words = [("responder", self.target.last_words()), *(("requester", r.last_words()) for r in self.requesters)]
        return "\n".join(f"{who}: {text}" for who, text in words if text)


def _window_s(done: Done) -> float:
    """Warm-up and measuring together, by the requester's own clock."""
    if done.anchor is None or done.anchor_end is None:
        return done.measured_s or 0.0
    return (done.anchor_end.monotonic_ns - done.anchor.monotonic_ns) / 1e9


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


def _unheard(line: Progress) -> None:
    """Only one requester's progress is shown: they do the same at the same time."""


def body_bytes(parts: Sequence[Part]) -> tuple[int, int] | None:
    """Bytes of the request's and the reply's body as the smoke test saw them; None when it did not say."""
    for part in parts:
        if part.checked is not None:
            return part.checked.body_bytes_sent, part.checked.body_bytes_received
    return None
