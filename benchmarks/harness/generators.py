"""Load generators that others wrote, found, asked and read as `orch run --referee` does it; here for one request.

Each takes its turn on the CPU of this process, with a connection for each request in flight.
"""

from __future__ import annotations

import os
import resource
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from orchestrator.hosts import load_generators
from orchestrator.referee.exchange import Exchange, Turn, Unreadable, require_possible
from orchestrator.referee.generators import TOOLS, Found

PROTO = PurePosixPath(__file__).parents[2] / "protos" / "orch.proto"
_GRACE_S = 20.0


def find(name: str) -> Found:
    """What this machine has of a load generator; `why` says why it cannot be used."""
    return load_generators.look(TOOLS[name])


def require(name: str) -> Found:
    """The same; SystemExit where it cannot be used."""
    if (found := find(name)).why:
        raise SystemExit(f"{found.why}. What to do: {found.tool.install}")
    return found


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A load generator and what it asks of a responder on this machine."""

    found: Found
    asked: Exchange
    port: int
    in_flight: int
    window_s: int
    folder: Path

    def take_turn(self) -> dict[str, Any]:
        """Its figures, with the CPU seconds that it took; SystemExit when it fails, or a reply had no right status."""
        tool = self.found.tool
        for name, content in tool.files(self.asked).items():
            (self.folder / name).write_bytes(content)
        turn = Turn(
            host="127.0.0.1",
            port=self.port,
            in_flight=self.in_flight,
            connections=self.in_flight,
            window_s=self.window_s,
            folder=PurePosixPath(self.folder),
            proto=PROTO,
        )
        environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
        before, began_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        ended = subprocess.run(
            tool.argv(self.found.path, self.asked, turn),
            capture_output=True,
            text=True,
            check=False,
            env=environment,
            timeout=self.window_s + turn.timeout_s + _GRACE_S,
        )
        elapsed_s, after = time.monotonic() - began_s, resource.getrusage(resource.RUSAGE_CHILDREN)
        if ended.returncode:
            raise SystemExit(
                f"{tool.name} ended with {ended.returncode}:\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}"
            )
        try:
            figures = require_possible(
                tool.read(ended.stdout, self.in_flight),
                in_flight=self.in_flight,
                window_s=self.window_s,
                elapsed_s=elapsed_s,
            )
        except Unreadable as error:
            raise SystemExit(f"{tool.name}: {error}") from error
        return {
            "requests": figures.requests,
            "window_s": figures.window_s,
            "p50_ms": figures.median_ns / 1e6,
            "p99_ms": figures.p99_ns / 1e6,
            "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        }
