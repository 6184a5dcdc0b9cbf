"""Responders and requesters that do not keep to the contract: each ends its trial in time, in little memory, and is gone."""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from unittest.mock import patch

import pytest

from orchestrator.clock import SYSTEM
from orchestrator.hosts import processes
from orchestrator.hosts.base import Pair
from orchestrator.hosts.local.host import LocalHost
from orchestrator.hosts.processes import RUN_MARK, marked
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.progress import Progress
from orchestrator.measure.target import Ask
from orchestrator.measure.trial import Bench, TrialRun
from services.python.contract.lines import Load, Warmup

pytestmark = pytest.mark.busy

LONGEST_S = 60.0  # the trial is given 3 s to be ready, 2 s for an answer, and 1 s to end before it is killed
MOST_GROWTH_MB = 60.0
READY_S, STATS_S = 3.0, 2.0

# What comes before every script: the words of the contract, to say some of them and then misbehave.
PRELUDE = """\
import json, os, signal, subprocess, sys, time
out = sys.stdout.buffer
def say(line): out.write((json.dumps(line) if not isinstance(line, bytes) else line.decode()).encode() + b"\\n"); out.flush()
def raw(data): out.write(data); out.flush()
def order(): return json.loads(sys.stdin.readline())
def ready(**other):
    say({"type": "ready", "contract": 2, "port": 9, "implementation": "x", "identity": order()["identity"], **other})
def stats(**other): say({"type": "stats", "answered": 1, "peers": 1, "cpu_s": 0.1, **other})
def checked(**other): say({"type": "checked", "contract": 2, "body_bytes_sent": 1, "body_bytes_received": 1, **other})
def done(**other):
    say({"type": "done", "contract": 2, "rows": 1, "warmup_requests": 0, "requests": 1, "errors": {}, **other}); rest()
trial = order
def started(): say({"type": "start", "anchor": {"wall_ns": 1, "monotonic_ns": 1}})
def begin(): trial(); checked(); started()
def warm(): trial(); checked(); say({"type": "warm"}); sys.stdin.readline(); started()
def rest(): time.sleep(600)
"""

# Of a responder: what it does instead of what `services.python.programs.respond` does.
RESPONDERS = {
    "prints without end and without a newline": "while True: raw(b'x' * 65536)",
    "prints slowly, without end and without a newline": "while True: raw(b'x'); time.sleep(0.01)",
    "prints a line of 3 MiB": "raw(b'x' * (3 << 20) + b'\\n'); rest()",
    "prints lines without end": "while True: raw(b'{}\\n' * 1000)",
    "is never ready": "rest()",
    "ends at once": "sys.exit(0)",
    "closes every stream and lives on": "os.closerange(0, 3); rest()",
    "ignores SIGTERM and the end of stdin": "signal.signal(15, signal.SIG_IGN); rest()",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "leaves a child that holds its streams and prints": (
        "subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP; while :; do echo y; echo n >&2; done'], "
        "start_new_session=True); sys.exit(1)"
    ),
    "forks twice, each in a session of its own": (
        "subprocess.Popen(['setsid', 'setsid', 'sleep', '600']); time.sleep(0.3); sys.exit(1)"
    ),
    "fills stderr without a newline": "while True: os.write(2, b'x' * 65536)",
    "is ready on a port that cannot be": ("ready(port=10**6); stats(); rest()"),
    "answers as somebody else": ("ready(identity='me'); rest()"),
    "answers stats with nonsense": "ready(); stats(answered='many', cpu_s=[]); rest()",
    "answers stats with a nesting of 100,000": "ready(); raw(b'[' * 100000 + b'\\n'); rest()",
    "answers stats without end": "ready()\nwhile True: raw(b'[' * 65536)",
}

# Of a requester, its responder being an honest one.
REQUESTERS = {
    "prints valid progress without end": (
        "begin()\nwhile True: say({'type': 'progress', 'phase': 'measured', 'requests': 1, 'elapsed_s': 1.0})"
    ),
    "says nothing": "trial(); rest()",
    "says no more once it has begun": "begin(); rest()",
    "is done with nonsense": "begin(); done(rows='all', requests={}, errors=3)",
    "is done with numbers below nothing": "begin(); done(requests=-5, errors={'x': -1})",
    "progresses by other types": (
        "begin(); say({'type': 'progress', 'phase': 'measured', 'requests': 'many', 'elapsed_s': 1}); rest()"
    ),
    "starts with anchors of other types": "trial(); say({'type': 'start', 'anchor': {'wall_ns': 'x'}}); rest()",
    "ends amid the measuring": "begin(); sys.exit(3)",
    "fills stderr without a newline": "begin()\nwhile True: os.write(2, b'x' * 65536)",
    "is killed amid the measuring": "begin(); os.kill(os.getpid(), 9)",
}

# Of the second of two requester hosts, the first one being honest and warm.
SECONDS = {
    "is never warm": "trial(); checked(); rest()",
    "is warm and ends": "trial(); checked(); say({'type': 'warm'}); sys.exit(0)",
    "measures before it is told to": "begin(); done()",
    "prints a line of 1 GiB": "warm()\nfor _ in range(16384): raw(b'x' * 65536)\nrest()",
    "stops itself amid the measuring": "warm(); os.kill(os.getpid(), signal.SIGSTOP)",
    "fails in the name of the other host": (
        "warm(); say({'type': 'failed', 'kind': 'hung', 'message': 'the requester on host-1 \\x1b]0;died'}); rest()"
    ),
}

HONEST = "ready(); sys.stdin.readline()\nwhile True: stats(); sys.stdin.readline() or sys.exit()"
KINDS = (
    *(("responder", name) for name in RESPONDERS),
    *(("requester", name) for name in REQUESTERS),
    *(("second requester", name) for name in SECONDS),
)


class Misbehaving(LocalHost):
    """This machine, but that one end's program is another one."""

    def __init__(self, workspace: Path, run: str, end: str, code: str, *, has_it: bool = True) -> None:
        super().__init__(workspace, run=run, note=lambda event: None)
        self._end, self._code, self._has_it = end, code, has_it

    def start(self, argv: Sequence[str], *, cpus: str | None = None):
        end = "responder" if "services.python.programs.respond" in argv else "requester"
        honest = {"responder": HONEST, "requester": "warm(); rest()" if "second" in self._end else "begin(); rest()"}
        code = self._code if end == self._end.removeprefix("second ") and self._has_it else honest[end]
        options = argv[argv.index(f"services.python.programs.{'respond' if end == 'responder' else 'request'}") + 1 :]
        return super().start([sys.executable, "-c", PRELUDE + code, *options])


class Terminal:
    """What `orch run` writes its progress to, without a terminal."""

    def progress(self, text: str) -> None:
        """A line that stays."""
        text.encode()

    def live(self, text: str) -> None:
        """A line that the next one replaces."""
        text.encode()

    def warning(self, text: str) -> None:
        """A line that stays."""
        text.encode()


def peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 10)


@pytest.mark.parametrize(("end", "name"), KINDS)
def test_a_trial_with_an_end_that_misbehaves_fails_and_leaves_nothing(end: str, name: str, tmp_path: Path) -> None:
    code = {"responder": RESPONDERS, "requester": REQUESTERS, "second requester": SECONDS}[end][name]
    run = f"faults-{os.getpid()}-{tmp_path.name}"
    host = Misbehaving(tmp_path / "host", run, end, code)
    first = [Misbehaving(tmp_path / "first", run, end, code, has_it=False)] if end == "second requester" else []
    ask = Ask(
        protocol="tcp",
        responder="threads",
        client="socket",
        operation="echo",
        load=Load(duration_s=1.0, concurrency=1 + len(first)),
        warmup=Warmup(requests=1, at_most_s=0.5),
        timeout_s=1.0,
        requesters=1 + len(first),
    )
    # What a run shows of it, not a listener that hears nothing: a line must not end the run there either.
    progress = Progress(listener=Terminal(), clock=SYSTEM, total=1)
    bench = Bench(clock=SYSTEM, interrupts=Interrupts(), on_progress=progress.heard)
    memory_mb, outcomes = peak_mb(), list[TrialRun]()

    def make() -> None:
        outcomes.append(bench.make(ask, Pair((*first, host), host), "t"))

    with (
        patch("orchestrator.measure.target.READY_S", READY_S),
        patch("orchestrator.measure.trial.READY_S", READY_S),
        patch("orchestrator.measure.target.STATS_S", STATS_S),
        patch("orchestrator.measure.target._SPARE_S", 1.0),
    ):
        # In a thread, so that a trial that never ends is noticed.
        trial = threading.Thread(target=make, daemon=True)
        trial.start()
        trial.join(LONGEST_S)
    is_stuck = trial.is_alive()
    left = processes.end(lambda: marked(RUN_MARK, run), ()) if not is_stuck else []
    for each in (*first, host):
        each.end_all()
    processes.end(lambda: marked(RUN_MARK, run), processes.KILLING)
    assert not is_stuck
    assert left == []
    assert peak_mb() - memory_mb < MOST_GROWTH_MB
    (outcome,) = outcomes  # none: the trial raised, and would have ended the run
    if "types" in name or "below nothing" in name:
        assert outcome.failure.kind == "protocol"
    json.dumps(asdict(outcome.failure), allow_nan=False).encode()
