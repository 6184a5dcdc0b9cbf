"""Runs ended rudely at a random moment, then `orch teardown`: what is left is looked for on the machine, not believed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from orchestrator.hosts.local.machine_lock import VARIABLE
from orchestrator.hosts.processes import RUN_MARK, marked, started_at
from orchestrator.hosts.provision import registry
from orchestrator.results.folder import RunFolder
from tests.attacks.base import Attack, Tally, side_by_side
from tests.support.lab import MACHINE, carriers

ROOT = Path(__file__).parents[2]
SIGNALS = (signal.SIGKILL, signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
ENDED_S = 600.0  # within which a signalled run must have ended, its teardown included; several go on at once
_NOTHING_LEFT = "nothing left"
_NOTHING_IS_UP = "nothing is up"  # the run took its hosts down itself

_LOCAL = """\
name: ended
question: What is left?
stacks: [tcp, rest]
operations: [add]
load: {duration: 400ms}
warmup: {requests: 5, at_least: 0s}
repeats: 2
"""
_LAB = f"""\
name: ended
question: What is left?
provider: lab
machine: {MACHINE}
placements:
  - {{name: near, from: us-central1-a, to: us-west1-a, rtt: 4ms}}
stacks: [tcp]
operations: [{{echo: {{bytes: 64 B}}}}]
load: {{duration: 400ms}}
warmup: {{requests: 5, at_least: 0s}}
repeats: 2
limits: {{wall: 10m, ttl: 15m}}
"""


def local(count: int, seed: int, folder: Path) -> Tally:
    """SIGKILL, SIGHUP, SIGINT or SIGTERM to a local run, up to 12 s after its beginning; then `orch teardown`."""
    return _all(count, seed, folder, _LOCAL, 12.0, left_of_local)


def lab(count: int, seed: int, folder: Path) -> Tally:
    """The same to a run on hosts of the lab, up to 45 s after its beginning."""
    return _all(count, seed, folder, _LAB, 45.0, lambda run: [*left_of_local(run), *left_of_lab(run)])


def left_of_local(run: RunFolder) -> list[str]:
    """Processes that the run wrote down, or that carry its mark, and that live."""
    recorded = [e for e in run.events() if e["event"] == "process" and e["started"]]
    alive = [f"process {e['pid']}" for e in recorded if started_at(e["pid"]) == e["started"]]
    return [*alive, *map(str, marked(RUN_MARK, run.id))]


def left_of_lab(run: RunFolder) -> list[str]:
    """Namespaces, cgroups, processes, records and devices of the run's deployment."""
    identity = registry.deployment_id(run.id)
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=False).stdout
    devices = [line for line in links.splitlines() if identity in line]
    return [*carriers(identity), *devices, *map(str, marked(RUN_MARK, identity))]


def _all(
    count: int, seed: int, folder: Path, experiment: str, longest_s: float, left: Callable[[RunFolder], list[str]]
) -> Tally:

    def attempt(number: int) -> str:
        place = folder / f"run-{number}"
        place.mkdir()
        (place / "ended.yaml").write_text(experiment)
        source = random.Random(f"{seed} {number}")
        how, after_s = source.choice(SIGNALS), source.uniform(0.5, longest_s)
        what = f"{how.name} after {after_s:.1f} s"
        try:
            _one(place, how, after_s, left)
        except AssertionError as error:
            raise AssertionError(f"{what}: {error}") from error
        return what

    return side_by_side(count, attempt)


def _one(place: Path, how: signal.Signals, after_s: float, left: Callable[[RunFolder], list[str]]) -> None:
    orch = _orch(place, "run", "ended.yaml")
    try:
        orch.wait(after_s)
    except subprocess.TimeoutExpired:
        orch.send_signal(how)
    began_s = time.monotonic()
    orch.wait(ENDED_S)
    for path in (place / "results").glob("*-ended-*"):
        run = RunFolder(path)
        if how != signal.SIGKILL and (path / "receipt.json").exists():
            assert left(run) == [], f"left before teardown, {time.monotonic() - began_s:.0f} s on: {left(run)}"
    taken = _orch(place, "teardown")
    said = (taken.communicate(timeout=ENDED_S)[0] or b"").decode()
    runs = [RunFolder(path) for path in (place / "results").glob("*-ended-*")]
    if not runs:
        return  # it had not begun
    assert taken.returncode == 0, f"teardown ended with {taken.returncode}: {said[-300:]}"
    assert said.splitlines()[-1].endswith(_NOTHING_IS_UP) or _NOTHING_LEFT in said.splitlines()[-1], said[-300:]
    for run in runs:
        assert left(run) == [], f"left after teardown: {left(run)}"


def _orch(place: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", "from orchestrator.cli.main import main; main()", *words],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: str(place / "machine.lock")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if words[0] == "teardown" else subprocess.DEVNULL,
        stderr=(place / "stderr.txt").open("ab"),
    )


ATTACKS = (
    Attack(name="a signal to a local run, then teardown", many=200, few=2, run=local),
    Attack(name="a signal to a lab run, then teardown", many=50, few=2, run=lab, needs="lab"),
)
