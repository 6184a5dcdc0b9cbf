"""Real responders, each started once for all tests of a session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.responder_lines import Serve

ROOT = Path(__file__).parents[4]
IDENTITY = "the-right-one"


class Answering:
    """A running responder of the process contract."""

    def __init__(self, protocol: str, implementation: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "services.python.programs.respond"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._tell(Serve(protocol=protocol, implementation=implementation, identity=IDENTITY).to_json())
        self.ready = self._line()
        self.port: int = self.ready["port"]
        self.identity = IDENTITY

    def stats(self) -> dict[str, Any]:
        self._tell("stats")
        return self._line()

    def end(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(timeout=30)

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line: dict[str, Any] = json.loads(self._process.stdout.readline())
        return line


@pytest.fixture(scope="session")
def answering() -> Iterator[Callable[[str, str], Answering]]:
    """Gives the running responder of a protocol and implementation; it ends when its stdin is closed."""
    running: dict[tuple[str, str], Answering] = {}

    def get(protocol: str, implementation: str) -> Answering:
        key = (protocol, implementation)
        if key not in running:
            running[key] = Answering(*key)
        return running[key]

    yield get
    assert {responder.end() for responder in running.values()} <= {0}
