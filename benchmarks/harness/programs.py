"""The ends of any language, started as orch starts them on this machine: by their manifest's words, pinned, in a session."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness.ends import IDENTITY, cpus
from orchestrator.catalogue import builds
from orchestrator.catalogue.offers import Language
from orchestrator.catalogue.platforms import here
from orchestrator.catalogue.read import catalogue
from orchestrator.hosts.local.host import LocalHost
from orchestrator.record_layout import COLUMNS, HEADER_BYTES
from services.python.contract.lines import Trial
from services.python.contract.responder_lines import Serve
from services.python.load.phases import MEASURED

_PATIENCE_S = 60.0


def why_not(language: Language) -> str:
    """Why its programs cannot be started here, as a clause; empty where they can."""
    return builds.look(language, catalogue().folder, here()).why


def responder_cpus() -> str | None:
    """The CPU of the responder, as taskset takes it; None where there is but one to choose."""
    usable = cpus()
    return str(usable[-1]) if len(usable) > 1 else None


def requester_cpus() -> str | None:
    """The CPU of the requester, likewise."""
    usable = cpus()
    return str(usable[0]) if len(usable) > 1 else None


@contextmanager
def host() -> Iterator[LocalHost]:
    """The machine of the benchmark, with a folder of its own; what was started is ended when the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        made = LocalHost(Path(folder), run="benchmark", note=lambda _: None)
        try:
            yield made
        finally:
            made.end_all()


@contextmanager
def serving(on: LocalHost, protocol: str, implementation: str) -> Iterator[tuple[int, float]]:
    """The port of a responder, and the seconds from its start to its ready line; it is gone when the block ends."""
    language = catalogue().protocols[protocol].responder(implementation).language
    began = time.monotonic()
    process = on.start(language.argv("respond", on), cpus=responder_cpus())
    try:
        process.send(Serve(protocol=protocol, implementation=implementation, identity=IDENTITY).to_json())
        ready = json.loads(process.read(_PATIENCE_S) or "{}")
        took_s = time.monotonic() - began
        if ready.get("type") != "ready":
            raise SystemExit(f"{implementation} of {protocol} did not start: {ready} {process.last_words()}")
        yield ready["port"], took_s
    finally:
        process.end()


def ask(on: LocalHost, trial: Trial) -> tuple[dict[str, Any], float]:
    """A trial's `done` line, and the seconds from the requester's start to it; SystemExit when there is none."""
    language = catalogue().protocols[trial.protocol].client(trial.client).language
    began = time.monotonic()
    process = on.start(language.argv("request", on), cpus=requester_cpus())
    try:
        process.send(trial.to_json())
        while (text := process.read(_PATIENCE_S)) is not None:
            line: dict[str, Any] = json.loads(text)
            if line["type"] == "done":
                return line, time.monotonic() - began
            if line["type"] == "failed":
                raise SystemExit(f"{trial.client}: {line}")
        raise SystemExit(f"{trial.client} ended: {process.last_words()}")
    finally:
        process.end()


def figures(trial: Trial, done: Mapping[str, Any]) -> dict[str, Any]:
    """A trial's figures, from its record; SystemExit unless every reply was right and every request has its row."""
    latencies_ns = measured_ns(Path(trial.record))
    if done.get("errors") != {} or not done["verified"] == done["requests"] == len(latencies_ns) > 0:
        raise SystemExit(f"{trial.client}: {len(latencies_ns)} rows, and not every reply was right: {done}")
    p50_ns, p99_ns = np.quantile(latencies_ns, [0.5, 0.99], method="inverted_cdf")
    return {
        "requests": len(latencies_ns),
        "window_s": done["measured_s"],
        "p50_ms": float(p50_ns) / 1e6,
        "p99_ms": float(p99_ns) / 1e6,
        "cpu_s": done["cpu_s"],
        "done": {name: done.get(name) for name in ("verified", "verified_by_bytes", "paused_s", "memory_bytes")},
    }


def measured_ns(record: Path) -> npt.NDArray[np.int64]:
    """How long each request of the measured phase took; of a task or a mix nothing is asked here."""
    rows = np.fromfile(record, dtype="<i8", offset=HEADER_BYTES).reshape(-1, len(COLUMNS))
    phase, sent, received, sequence = (
        rows[:, COLUMNS.index(name)] for name in ("phase", "sent_ns", "received_ns", "sequence")
    )
    taken: npt.NDArray[np.int64] = (received - sent)[(phase == MEASURED) & (sequence > 0)]
    return taken
