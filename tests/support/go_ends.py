"""Go's ends as programs, for tests of what is particular to it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.responder_lines import Serve
from tests.support.built import why_not
from tests.support.ends import PATIENCE_S, Program

BUILT = Path(__file__).parents[2] / "services" / "go" / "build"


class GoProgram(Program):
    """See `Program`; started as it is."""

    def __init__(self, env: Mapping[str, str] | None = None, role: str = "respond") -> None:
        self.process = subprocess.Popen(
            [str(BUILT / role)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )


@contextmanager
def go_responder(
    protocol: str = "rest", *, env: Mapping[str, str] | None = None, **serve: Any
) -> Iterator[tuple[GoProgram, dict[str, Any]]]:
    """A responder on a free port of the loopback, and its ready line. `serve`: more keys of its serve line."""
    if why := why_not("go"):
        pytest.skip(why)
    started = GoProgram(env)
    try:
        started.send(Serve(protocol=protocol, identity="nonce", **serve).to_json())
        ready = started.read()
        assert ready, started.ended()
        yield started, ready
    finally:
        started.stop()


def refusal_of_go(*, env: Mapping[str, str] | None = None, **serve: Any) -> str:
    """The one line that it says on stderr before it ends with status 1."""
    if why := why_not("go"):
        pytest.skip(why)
    started = GoProgram(env)
    try:
        started.send(Serve(protocol="rest", identity="nonce", **serve).to_json())
        assert started.process.stdout is not None
        printed = [json.loads(line) for line in started.process.stdout]
        status = started.process.wait(PATIENCE_S)
        assert started.process.stderr is not None
        said = started.process.stderr.read()
    finally:
        started.stop()
    assert (status, printed, len(said.splitlines())) == (1, [], 1), said
    return said
