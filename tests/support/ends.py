"""Both ends of the wire as programs, over their real stdin and stdout."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from services.python.contract.lines import Load, Target, Trial, Warmup
from services.python.contract.responder_lines import Serve
from services.python.contract.strict import Line
from services.python.probes.clock import Clock
from services.python.trial import run
from services.python.trial.parts import Parts, check, load_parts

PATIENCE_S = 60


class Program:
    """One program of the contract."""

    def __init__(self, *argv: str, env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )

    def send(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """The next line of stdout; {} at its end."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else {}

    def stats(self) -> dict[str, Any]:
        """What a responder counted so far."""
        self.send("stats")
        return self.read()

    def ended(self) -> tuple[int, list[dict[str, Any]], str]:
        """Exit status, the lines left on stdout and all of stderr, with stdin closed."""
        stdout, stderr = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, [json.loads(line) for line in stdout.splitlines()], stderr

    def ended_by_itself(self) -> tuple[int, list[dict[str, Any]], str]:
        """As `ended`, but with stdin held open until it has."""
        lines = [json.loads(line) for line in self.process.stdout]
        return self.process.wait(timeout=PATIENCE_S), lines, self.process.stderr.read()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE_S)


@contextmanager
def program(
    module: str, *arguments: str, argv: Sequence[str] = (), env: Mapping[str, str] | None = None
) -> Iterator[Program]:
    """A program that is gone when the block ends: a module of Python, unless `argv` names another one."""
    started = Program(*(argv or (sys.executable, "-m", module)), *arguments, env=env)
    try:
        yield started
    finally:
        started.stop()


@contextmanager
def responder(
    protocol: str,
    identity: str = "nonce",
    *,
    module: str = "services.python.programs.respond",
    argv: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    **serve: Any,
) -> Iterator[tuple[Program, dict[str, Any]]]:
    """A responder on a free port of the loopback, and its ready line. `serve`: more keys of its serve line."""
    with program(module, argv=argv, env=env) as started:
        started.send(Serve(protocol=protocol, identity=identity, **serve).to_json())
        ready = started.read()
        assert ready, started.ended()
        yield started, ready


def trial_of(
    protocol: str, client: str, port: int, record: Path | str = "", *, identity: str = "nonce", **changes: Any
) -> Trial:
    """A trial of `add` with a responder on this machine, which ends with its check unless `changes` give it a load."""
    usual = {"operation": "add", "load": Load(requests=0), "warmup": Warmup(requests=5, at_least_s=0.0)}
    usual |= {"target": Target(host="127.0.0.1", port=port, identity=identity), "record": str(record)}
    return Trial(protocol=protocol, client=client, **{**usual, **changes})


def checked(trial: Trial) -> tuple[Parts, tuple[int, int]]:
    """The parts of a trial, once its check is right, and both bodies' sizes; CannotTry otherwise."""
    parts = load_parts(trial)
    _, sizes = check(trial, parts, parts.make(1, lambda: 1))
    return parts, sizes


def make_trial(trial: Trial) -> list[dict[str, Any]]:
    """Every line that a requester prints for a trial."""
    with program("services.python.programs.request") as requester:
        requester.send(trial.to_json())
        return list(iter(requester.read, {}))


def made_here(trial: Trial, clock: Clock | None = None) -> list[Line]:
    """Every line of a trial that is made in this process. CannotTry."""
    lines: list[Line] = []
    run.make_trial(trial, lines.append, clock or Clock())
    return lines
