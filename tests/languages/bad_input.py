"""What the ends of every built language are given that is bad, and what they answer: for `test_bad_input.py`."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.conformance.kit import IDENTITY, Implementation
from tests.conformance.reference.contract import ROOT, VERSION
from tests.support.built import why_not

PATIENCE_S = 30
Line = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """How a program ended: `status` is None where it did not, and was killed. `printed`: what is JSON on stdout."""

    status: int | None
    printed: list[dict[str, Any]]
    noise: list[bytes]  # lines of stdout that are none
    said: list[str]  # lines of stderr

    @property
    def types(self) -> list[str]:
        return [line["type"] for line in self.printed if line["type"] != "progress"]

    @property
    def kind(self) -> str | None:
        """That of its `failed` line, None without one."""
        return next((line["kind"] for line in self.printed if line["type"] == "failed"), None)

    @property
    def words(self) -> str:
        """The message of its `failed` line, or all of stderr."""
        failed = next((line["message"] for line in self.printed if line["type"] == "failed"), None)
        return "\n".join(self.said) if failed is None else str(failed)

    def names(self, thing: str) -> bool:
        """Whether its words have this in them."""
        return thing in self.words


def start(
    implementation: Implementation,
    role: str,
    *,
    before: Sequence[str] = (),
    limits: Mapping[int, int] = {},
    **environment: str,
) -> subprocess.Popen[bytes]:
    """A program with pipes for all three; `before`: words before its command; `limits`: of `resource`."""

    def limit() -> None:
        for of, most in limits.items():
            resource.setrlimit(of, (most, most))

    return subprocess.Popen(
        [*before, *implementation.commands[role]],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limit if limits else None,
    )


def answer(
    implementation: Implementation,
    role: str,
    text: bytes,
    *,
    closes: bool = False,
    until: bytes | None = None,
    **how: Any,
) -> Answer:
    """Give a program this on stdin; `closes`: and nothing after it; `until`: end stdin when this is on a line of stdout."""
    return ended(start(implementation, role, **how), text, closes=closes, until=until)


def ended(
    program: subprocess.Popen[bytes], text: bytes = b"", *, closes: bool = False, until: bytes | None = None
) -> Answer:
    """What comes of a process from now on; its stdin stays open to its end unless it `closes`."""
    came: dict[str, list[bytes]] = {"stdout": [], "stderr": []}

    def end_stdin() -> None:
        with contextlib.suppress(BrokenPipeError):
            program.stdin.close()

    def read(name: str) -> None:
        stream = getattr(program, name)
        with contextlib.suppress(ValueError):  # it is closed
            for line in stream:
                came[name].append(line.rstrip(b"\n"))
                if until is not None and until in line:
                    end_stdin()

    def give() -> None:
        with contextlib.suppress(BrokenPipeError):
            program.stdin.write(text)
            program.stdin.flush()
        if closes:
            end_stdin()

    threads = [threading.Thread(target=read, args=(name,), daemon=True) for name in came]
    if text or closes:
        threads.append(threading.Thread(target=give, daemon=True))
    for thread in threads:
        thread.start()
    try:
        status = program.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        status = None
        program.kill()
        program.wait()
    for thread in threads:
        thread.join(PATIENCE_S)
    end_stdin()
    program.stdout.close()
    program.stderr.close()
    printed, noise = [], []
    for line in came["stdout"]:
        try:
            printed.append({"type": None} | json.loads(line))
        except (ValueError, TypeError):
            noise.append(line)
    return Answer(status, printed, noise, [line.decode(errors="replace") for line in came["stderr"]])


@cache
def known(name: str) -> tuple[Implementation, str]:
    """What it offers takes a process to ask for, and whether it is built a look at all of its source."""
    return Implementation.named(name, PATIENCE_S), why_not(name)


def names_of(language: Implementation, protocol: str = "tcp") -> tuple[str, str]:
    """The first responder and the first client that calls, of a protocol."""
    offered = language.protocol(protocol)
    return offered["responders"][0]["name"], next(
        client["name"] for client in offered["clients"] if client.get("kind", "call") == "call"
    )


def serve(language: Implementation, protocol: str = "tcp", **changes: Any) -> Line:
    implementation = names_of(language, protocol)[0]
    return {
        "type": "serve",
        "contract": VERSION,
        "protocol": protocol,
        "implementation": implementation,
        "port": 0,
        "identity": IDENTITY,
    } | changes


def trial(language: Implementation, port: int, record: Path | str, protocol: str = "tcp", **changes: Any) -> Line:
    client = names_of(language, protocol)[1]
    return language.trial(protocol, client, port, Path(record), timeout_s=5.0) | changes


def text_of(line: Line) -> bytes:
    return json.dumps(line).encode() + b"\n"


def refused_to_serve(came: Answer, *named: str, protocol: str = "tcp") -> None:
    """It never was ready: one line on stderr that names the fault, nothing on stdout, status 1."""
    assert (came.status, came.printed, came.noise) == (1, [], []), came
    (words,) = _last(came, protocol)
    assert words.startswith("respond: ")
    assert len(words) <= 1_000
    for word in named:
        assert word in words


def failed(came: Answer, kind: str, *named: str, protocol: str = "tcp") -> None:
    """Its last line is `failed` of that kind, stderr says the same in its one line, and the status is 1."""
    assert (came.status, came.kind, came.noise) == (1, kind, []), came
    assert came.types[-1] == "failed"
    assert _last(came, protocol) == [f"request: {came.words}"]
    assert len(came.words) <= 1_000
    for word in named:
        assert came.names(word), came.words


def _last(came: Answer, protocol: str) -> list[str]:
    """All of stderr; its last line where the protocol's library logs what it meets, as those of gRPC do."""
    return came.said[-1:] if protocol == "grpc" else came.said
