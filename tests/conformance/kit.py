"""Implementations as processes: how one is declared, started, spoken to, and what it offers."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import jsonschema

from tests.conformance.reference.contract import OF_TRIAL, ROOT, STATUSES, VERSION, parse, refusal, schema
from tests.conformance.reference.record import Row, rows_of
from tests.conformance.reference.server import Asked, Script, Server
from tests.conformance.reference.wire import WIRES, Connection

DECLARATIONS = Path(__file__).parent / "implementations"
IDENTITY = "a nonce with spaces and ü"
TRIAL_LINES = ("checked", "start", "warm", "turn", "progress", "done", "failed")
Pair = tuple[str, str | None, str]
"""Protocol, responder, client."""


def validated(text: bytes, *kinds: str) -> dict[str, Any]:
    """A line that a program printed, held against the schema that its `type` names; AssertionError otherwise."""
    assert len(text) <= 2**20, "a line has at most 1 MiB"
    try:
        line = parse(text.decode("utf-8"))
    except ValueError as error:
        raise AssertionError(f"{text[:200]!r} is no line of JSON: {error}") from error
    named = line.get("type") if isinstance(line, dict) else None
    name = next((kind for kind in kinds if kind.removeprefix("ping-") == named), None)
    assert name, f"{text[:200]!r} is none of {', '.join(kinds)}"
    jsonschema.Draft202012Validator(schema(name)).validate(line)
    assert (why := refusal(name, line)) is None, f"{name}: {why}"
    if name == "failed":
        assert line["kind"] in {*STATUSES, *OF_TRIAL}
        assert line["message"]
    if name == "done":
        assert set(line["errors"]) <= set(STATUSES)
    return line


class Program:
    """One process, with all that it prints."""

    def __init__(self, command: list[str], patience_s: float) -> None:
        self.patience_s = patience_s
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._said: list[bytes] = []
        self._readers = [threading.Thread(target=reader, daemon=True) for reader in (self._read, self._read_stderr)]
        for reader in self._readers:
            reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_stderr(self) -> None:
        self._said.extend(self.process.stderr)

    def send(self, line: dict[str, Any] | str) -> None:
        text = line if isinstance(line, str) else json.dumps(line)
        try:
            self.process.stdin.write(text.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return  # it ended, and its last words say why

    def close_stdin(self) -> None:
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            return

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def next(self) -> bytes | None:
        """The next line of stdout, None at its end; AssertionError where nothing comes."""
        try:
            return self._lines.get(timeout=self.patience_s)
        except queue.Empty:
            raise AssertionError(f"nothing on stdout for {self.patience_s} s; stderr: {self.said}") from None

    def line(self, *kinds: str) -> dict[str, Any]:
        text = self.next()
        assert text is not None, f"stdout ended before {' or '.join(kinds)}; stderr: {self.said}"
        return validated(text, *kinds)

    def rest(self) -> list[bytes]:
        """What is left on stdout, to its end."""
        lines = []
        while (line := self.next()) is not None:
            lines.append(line)
        return lines

    def status(self) -> int:
        """The exit status; AssertionError where the process does not end."""
        try:
            status = self.process.wait(self.patience_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {self.patience_s} s") from None
        for reader in self._readers:
            reader.join(self.patience_s)
        return status

    @property
    def said(self) -> str:
        """What it said on stderr so far."""
        return b"".join(self._said).decode(errors="replace")

    def refusal(self) -> str:
        """The one line of stderr with which it refuses to start; nothing is on stdout, and the status is 1."""
        assert self.rest() == []
        assert self.status() == 1
        words = self.said.strip()
        assert len(words.splitlines()) == 1, words or "it did not say why"
        return words

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(5)
        self.close_stdin()
        self.process.stdout.close()
        self.process.stderr.close()


class Responder(Program):
    """A responder that said it is ready."""

    def __init__(self, command: list[str], patience_s: float, **serve: Any) -> None:
        super().__init__(command, patience_s)
        self.protocol: str = serve["protocol"]
        self.send({"type": "serve", "contract": VERSION, "identity": IDENTITY, **serve})
        try:
            self.ready = self.line("ready")
        except BaseException:
            self.__exit__()
            raise

    def connect(self) -> Connection:
        return Connection(WIRES[self.protocol], "127.0.0.1", self.ready["port"], self.patience_s)

    def stats(self) -> dict[str, Any]:
        self.send("stats")
        return self.line("stats")


@dataclass(frozen=True)
class Trial:
    """What a requester printed for a trial, and the rows of its record."""

    lines: list[dict[str, Any]]
    status: int
    said: str
    record: Path

    @property
    def types(self) -> list[str]:
        return [line["type"] for line in self.lines if line["type"] != "progress"]

    @property
    def done(self) -> dict[str, Any]:
        last = self.lines[-1] if self.lines else {"type": "nothing"}
        assert (last["type"], self.status) == ("done", 0), f"{last}, status {self.status}; stderr: {self.said}"
        return last

    @property
    def failed(self) -> dict[str, Any]:
        last = self.lines[-1] if self.lines else {"type": "nothing"}
        assert (last["type"], self.status) == ("failed", 1), f"{last}, status {self.status}; stderr: {self.said}"
        return last

    @cached_property
    def rows(self) -> list[Row]:
        return rows_of(self.record)

    def phase(self, number: int) -> list[Row]:
        """The rows of a phase in the order of sending."""
        return sorted(row for row in self.rows if row.phase == number)


@dataclass(frozen=True)
class Implementation:
    """Both ends, and what they offer. `commands`: of respond, request, ping, describe; one that is absent is not tested."""

    name: str
    commands: dict[str, list[str]]
    offers_from: list[str] | dict[str, Any]
    patience_s: float = field(default=30, compare=False)
    language: str | None = None  # of what is offered, the ends of this language are its own; None: all are

    @classmethod
    def named(cls, name: str, patience_s: float) -> Implementation:
        """By the name of a declaration in `implementations/`, or by the path of one."""
        path = Path(name) if name.endswith(".json") else DECLARATIONS / f"{name}.json"
        declared = json.loads(path.read_text(encoding="utf-8"))
        offers, language = declared.pop("offers"), declared.pop("language", None)
        commands = {role: [_python(word) for word in command] for role, command in declared.items()}
        if isinstance(offers, list):
            offers = [_python(word) for word in offers]
        return cls(path.stem, commands, offers, patience_s, language)

    @cached_property
    def protocols(self) -> list[dict[str, Any]]:
        """Each with its `name`, `operations`, `responders` and `clients`; the first of these are the defaults."""
        if isinstance(self.offers_from, dict):
            return self.offers_from["protocols"]
        told = subprocess.run(self.offers_from, cwd=ROOT, capture_output=True, check=True, timeout=60).stdout
        return [self._own(protocol) for protocol in json.loads(told)["protocols"]]

    def _own(self, protocol: dict[str, Any]) -> dict[str, Any]:
        """A protocol without the ends of other languages."""
        ends = {
            role: [end for end in protocol[role] if self.language in (None, end.get("language"))]
            for role in ("responders", "clients")
        }
        return {**protocol, **ends}

    def protocol(self, name: str) -> dict[str, Any]:
        return next(protocol for protocol in self.protocols if protocol["name"] == name)

    def default_clients(self, protocol: str) -> list[str]:
        """The default client at one request in flight, and that at several where it is another one."""
        offered = self.protocol(protocol)
        named = offered.get("default_client") or {"sequential": offered["clients"][0]["name"]}
        return list(dict.fromkeys(named.values()))

    def operations(self, protocol: str) -> list[str]:
        return self.protocol(protocol)["operations"]

    def keeps_connections(self, protocol: str, responder: str) -> bool:
        """Whether it answers more than one request on a connection; one that does not declares that it refuses `reuse`."""
        offered = {each["name"]: each for each in self.protocol(protocol)["responders"]}
        return "reuse" not in offered[responder].get("refuses", {})

    def start(self, role: str) -> Program:
        return Program(self.commands[role], self.patience_s)

    def respond(self, protocol: str, implementation: str | None = None, **more: Any) -> Responder:
        """A responder; a context manager."""
        return Responder(
            self.commands["respond"], self.patience_s, protocol=protocol, implementation=implementation, **more
        )

    def refusal(self, protocol: str, **serve: Any) -> str:
        """How a responder refuses this serve line."""
        with self.start("respond") as program:
            program.send({"type": "serve", "contract": VERSION, "identity": IDENTITY, "protocol": protocol, **serve})
            return program.refusal()

    def trial(self, protocol: str, client: str, port: int, record: Path, **changes: Any) -> dict[str, Any]:
        """A trial line: ten requests of `add` after three to warm up, unless `changes` say otherwise."""
        return {
            "type": "trial",
            "contract": VERSION,
            "target": {"host": "127.0.0.1", "port": port, "identity": IDENTITY},
            "protocol": protocol,
            "client": client,
            "operation": "add",
            "record": str(record),
            "load": {"requests": 10},
            "warmup": {"requests": 3, "at_least_s": 0},
            "timeout_s": self.patience_s / 2,
            "seed": 7,
            **changes,
        }

    def request(self, trial: dict[str, Any] | str) -> Trial:
        """Make a trial; stdin stays open to its end."""
        with self.start("request") as program:
            program.send(trial)
            lines = [validated(line, *TRIAL_LINES) for line in program.rest()]
            record = Path(trial["record"]) if isinstance(trial, dict) else Path()
            return Trial(lines, program.status(), program.said, record)

    def meet(
        self, pair: Pair, record: Path, *, serve: dict[str, Any] | None = None, **changes: Any
    ) -> tuple[Trial, dict[str, Any]]:
        """A trial between both ends, and the responder's `stats` behind it; `serve` has more keys of its line."""
        protocol, implementation, client = pair
        with self.respond(protocol, implementation, **(serve or {})) as responder:
            trial = self.request(self.trial(protocol, client, responder.ready["port"], record, **changes))
            return trial, responder.stats()


def right(number: int, asked: Asked) -> None:
    """A script that answers everything rightly."""


@dataclass(frozen=True)
class Asking:
    """A requester that asks a scripted server, which remembers."""

    ends: Implementation
    protocol: str
    client: str
    folder: Path

    @property
    def record(self) -> Path:
        return self.folder / "record"

    def server(self, script: Script = right, identity: str = IDENTITY) -> Server:
        return Server(WIRES[self.protocol], identity, script)

    def line(self, port: int = 1, **changes: Any) -> dict[str, Any]:
        """A trial line for whoever listens at that port."""
        return self.ends.trial(self.protocol, self.client, port, self.record) | changes

    def made(self, script: Script = right, identity: str = IDENTITY, **changes: Any) -> tuple[Trial, Server]:
        """A trial, and the server that it asked."""
        with self.server(script, identity) as server:
            return self.ends.request(self.line(server.port, **changes)), server


def _python(word: str) -> str:
    return sys.executable if word == "{python}" else word
