"""One trial: a fresh responder, fresh requesters, and waiting. The process contract is `protos/process.md`."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from orchestrator.clock import Clock
from orchestrator.hosts.base import ContractBroken, Host, Pair, Process
from orchestrator.measure.deadline import Deadline
from orchestrator.measure.interrupts import Interrupts
from orchestrator.results import lines
from orchestrator.strict_json import parse_json
from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.contract.offers import Policy

READY_S = 90.0  # a fifth of a core needs 10 s for the first import of the ten packages
STATS_S = 15.0

OnProgress = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What is asked, of whom, how; everything of a trial but its hosts."""

    protocol: str
    responder: str
    client: str
    operation: str
    payload: Payload = field(default_factory=Payload)
    connection: Policy = "reuse"
    load: Load = field(default_factory=Load)
    warmup: Warmup = field(default_factory=Warmup)
    timeout_s: float = 30.0
    seed: int = 0
    knobs: dict[str, str] = field(default_factory=dict)


class TrialFailed(Exception):
    """The trial gave no samples that count; `stage` is where it ended, `kind` a short word for why."""

    def __init__(self, stage: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage
        self.kind = kind
        self.message = message


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one requester gave: its `checked` and `done` lines, and its record on its own host."""

    host: Host
    record: PurePosixPath
    checked: dict[str, Any]
    done: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a trial went. `failure` is None when it counts; durations are seconds."""

    started_wall_ns: int
    ended_wall_ns: int
    elapsed_s: float
    ready: dict[str, Any] = field(default_factory=dict)
    stats_before: dict[str, Any] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    checked_after_s: float = 0.0
    failure: dict[str, Any] | None = None

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
        return _Making(bench=self, ask=ask, pair=pair, name=name).run(start_lead_s)


@dataclass(kw_only=True)
class _Making:
    """A trial under way: what is known of it so far."""

    bench: Bench
    ask: Ask
    pair: Pair
    name: str
    identity: str = field(default_factory=lambda: secrets.token_hex(8))
    ready: dict[str, Any] = field(default_factory=dict)
    stats_before: dict[str, Any] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    checked_after_s: float = 0.0
    responder: Process | None = None
    requesters: list[Process] = field(default_factory=list)

    def run(self, start_lead_s: float | None) -> Outcome:
        started_wall_ns, started_s = self.bench.clock.wall_ns(), self.bench.clock.monotonic_s()
        failure: dict[str, Any] | None = None
        with ExitStack() as processes:
            try:
                self._start(processes)
                self._await_ready()
                self._ask(start_lead_s)
                self.stats = self._ask_stats("measure")
                self._refuse_if_nothing_succeeded()
            except TrialFailed as error:
                cause = self._cause(error)
                processes.close()  # only the dead have said their last words
                failure = {
                    "stage": cause.stage,
                    "kind": cause.kind,
                    "message": cause.message,
                    "last_words": self._last_words(),
                }
        return Outcome(
            started_wall_ns=started_wall_ns,
            ended_wall_ns=self.bench.clock.wall_ns(),
            elapsed_s=self.bench.clock.monotonic_s() - started_s,
            ready=self.ready,
            stats_before=self.stats_before,
            stats=self.stats,
            parts=self.parts,
            checked_after_s=self.checked_after_s,
            failure=failure,
        )

    def _cause(self, error: TrialFailed) -> TrialFailed:
        """The failure; where the responder has died, that, and how: what the requester saw only follows from it."""
        is_told = error.kind == "protocol" or (error.stage == "start" and error.kind != "responder-died")
        try:
            if is_told or self.responder is None or self._has_line_or_lives(self.responder):
                return error
        except ContractBroken as broken:
            return TrialFailed(error.stage, "protocol", f"the responder was ended: {broken}")
        how = _ending(self.responder.end())
        seen = "" if error.kind == "responder-died" else f"; {error.message}"
        return TrialFailed(error.stage, "responder-died", f"the responder died ({how}){seen}")

    @staticmethod
    def _has_line_or_lives(process: Process) -> bool:
        try:
            return process.read(0) is not None
        except TimeoutError:
            return True

    def _start(self, processes: ExitStack) -> None:
        """Start both ends at once, so that their imports overlap. Requesters wait for the trial on their stdin."""
        host = self.pair.responder
        options = {
            "--protocol": self.ask.protocol,
            "--implementation": self.ask.responder,
            "--host": host.address,
            "--port": "0",
            "--identity": self.identity,
        }
        argv = [
            *host.python(),
            "-m",
            "services.python.programs.respond",
            *(word for pair in options.items() for word in pair),
            *(word for name, value in self.ask.knobs.items() for word in ("--knob", f"{name}={value}")),
        ]
        self.responder = host.start(argv, cpus=self.pair.responder_cpus)
        processes.callback(self.responder.end)
        for host in self.pair.requesters:
            argv = [*host.python(), "-m", "services.python.programs.request"]
            requester = host.start(argv, cpus=self.pair.requester_cpus)
            processes.callback(requester.end)
            self.requesters.append(requester)

    def _await_ready(self) -> None:
        line = self._responder_line("start", READY_S, "the responder was not ready")
        if line.get("ready") is not True or not isinstance(line.get("port"), int):
            raise TrialFailed("start", "protocol", f"the responder's first line is not a ready line: {line!r:.200}")
        if line.get("identity") != self.identity:
            raise TrialFailed("start", "identity", "the responder answers with another identity than it was given")
        self.ready = _shaped(lines.Ready, line, "responder", "start")
        self.stats_before = self._ask_stats("start")

    def _ask_stats(self, stage: str) -> dict[str, Any]:
        assert self.responder is not None  # noqa: S101 - narrows the type
        try:
            self.responder.send("stats")
        except BrokenPipeError:
            raise TrialFailed(stage, "responder-died", "the responder died") from None
        line = self._responder_line(stage, STATS_S, "the responder did not answer `stats`")
        stats = line.get("stats")
        if not isinstance(stats, dict):
            raise TrialFailed(stage, "protocol", f"the responder answered `stats` with {line!r:.200}")
        return _shaped(lines.Stats, stats, "responder", stage)

    def _responder_line(self, stage: str, timeout_s: float, complaint: str) -> dict[str, Any]:
        assert self.responder is not None  # noqa: S101 - narrows the type
        try:
            with self.bench.interrupts.waiting():
                line = self.responder.read(timeout_s)
        except TimeoutError:
            raise TrialFailed(stage, "responder-hung", f"{complaint} within {timeout_s:g} s") from None
        except ContractBroken as error:
            raise TrialFailed(stage, "protocol", f"the responder was ended: {error}") from None
        if line is None:
            raise TrialFailed(stage, "responder-died", "the responder died")
        return _parsed(line, "responder", stage)

    def _ask(self, start_lead_s: float | None) -> None:
        """Hand every requester its trial, and wait until all are done."""
        start_at = None if start_lead_s is None else self.bench.clock.wall_ns() + int(start_lead_s * 1e9)
        sent_s = self.bench.clock.monotonic_s()
        records = []
        for number, (host, requester) in enumerate(zip(self.pair.requesters, self.requesters, strict=True)):
            records.append(host.workspace / f"{self.name}-r{number}.timings")
            try:
                requester.send(self._trial(records[-1], number, start_at).to_json())
            except BrokenPipeError:
                raise TrialFailed("check", "requester-died", f"the requester on {host.name} died") from None
        answers = self._listen_to_all()
        self.checked_after_s = max(at for _, _, at in answers) - sent_s
        self.parts = tuple(
            Part(host=host, record=record, checked=checked, done=done)
            for host, record, (checked, done, _) in zip(self.pair.requesters, records, answers, strict=True)
        )

    def _trial(self, record: PurePosixPath, number: int, start_at: int | None) -> Trial:
        ask = self.ask
        return Trial(
            target=Target(host=self.pair.responder.address, port=self.ready["port"], identity=self.identity),
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
            start_at_unix_ns=start_at,
            knobs=ask.knobs,
        )

    def _listen_to_all(self) -> list[tuple[dict[str, Any], dict[str, Any], float]]:
        if len(self.requesters) == 1:
            with self.bench.interrupts.waiting():
                return [self._listen(self.requesters[0], self.bench.on_progress)]
        with ThreadPoolExecutor(max_workers=len(self.requesters)) as pool:
            listeners = [
                pool.submit(self._listen, requester, self.bench.on_progress if number == 0 else _unheard)
                for number, requester in enumerate(self.requesters)
            ]
            try:
                with self.bench.interrupts.waiting():
                    return [listener.result() for listener in listeners]
            except BaseException:
                for requester in self.requesters:  # the pool waits for its threads: let their reads end
                    requester.end()
                raise

    def _listen(self, requester: Process, on_progress: OnProgress) -> tuple[dict[str, Any], dict[str, Any], float]:
        """Read a requester's lines until `done`: its `checked` line, its `done` line, and when it had checked."""
        checked: dict[str, Any] = {}
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
            line, now_s = _heard(text, deadline.stage), self.bench.clock.monotonic_s()
            match line["type"]:
                case "checked":
                    checked, checked_at_s = line, now_s
                case "progress":
                    on_progress(line)
                case "done":
                    return checked, line, checked_at_s
                case "failed":
                    message = f"the requester gave up: {line.get('message', 'without a word')}"
                    raise TrialFailed(deadline.stage, line.get("kind", "failed"), message)
            if not deadline.heard(line, now_s):
                raise TrialFailed(
                    deadline.stage, "hung", f"not done after {deadline.at_most_s:g} s, though its load ends sooner"
                )
            if deadline.hears_too_much(now_s):
                raise TrialFailed(deadline.stage, "protocol", "the requester prints many lines a second, not one")

    def _refuse_if_nothing_succeeded(self) -> None:
        for part in self.parts:
            errors: dict[str, int] = part.done.get("errors") or {}
            if 0 < part.done.get("requests", 0) <= sum(errors.values()):
                kind = max(errors, key=lambda k: errors[k])
                example = (part.done.get("error_examples") or {}).get(kind, kind)
                raise TrialFailed("measure", kind, f"not one request succeeded: {example}")

    def _last_words(self) -> str:
        ends = [("responder", self.responder), *(("requester", r) for r in self.requesters)]
        words = [(who, process.last_words()) for who, process in ends if process is not None]
        return "\n".join(f"{who}: {text}" for who, text in words if text)


def _ending(status: int) -> str:
    """An exit status in words; a negative one is a signal."""
    return f"exit status {status}" if status >= 0 else f"killed by signal {-status}"


def _parsed(text: str, who: str, stage: str) -> dict[str, Any]:
    try:
        line = parse_json(text)
    except ValueError:
        line = None
    if not isinstance(line, dict):
        raise TrialFailed(stage, "protocol", f"the {who} printed something that is not a JSON object: {text!r:.200}")
    return line


def _heard(text: str, stage: str) -> dict[str, Any]:
    """A requester's line, held against the shape that it must have, whatever is done with it."""
    line = _parsed(text, "requester", stage)
    try:
        return lines.require_requesters(line)
    except ValueError as error:
        raise TrialFailed(stage, "protocol", f"the requester printed a line {error}") from error


def _shaped(kind: type, line: dict[str, Any], who: str, stage: str) -> dict[str, Any]:
    try:
        return lines.require(kind, line)
    except ValueError as error:
        raise TrialFailed(stage, "protocol", f"the {who} printed a line of another shape: {error}") from error


def _window_s(done: Mapping[str, Any]) -> float:
    """Warm-up and measuring together, by the requester's own clock."""
    try:
        return float(done["anchor_end"]["monotonic_ns"] - done["anchor"]["monotonic_ns"]) / 1e9
    except (KeyError, TypeError):
        return float(done.get("measured_s") or 0.0)


def _unheard(line: Mapping[str, Any]) -> None:
    """Only one requester's progress is shown: they do the same at the same time."""


def body_bytes(parts: Sequence[Part]) -> tuple[int, int] | None:
    """Bytes of the request's and the reply's body as the smoke test saw them; None when it did not say."""
    for part in parts:
        sizes = part.checked.get("body_bytes")
        if isinstance(sizes, list) and len(sizes) == 2:
            return int(sizes[0]), int(sizes[1])
    return None
