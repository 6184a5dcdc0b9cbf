"""Responders and requesters that do not keep to the contract: each ends its trial in time, in little memory, and is gone."""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from unittest.mock import patch

from orchestrator.clock import SYSTEM
from orchestrator.hosts import processes
from orchestrator.hosts.base import Pair
from orchestrator.hosts.local.host import LocalHost
from orchestrator.hosts.processes import RUN_MARK, marked
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.progress import Progress
from orchestrator.measure.target import Ask
from orchestrator.measure.trial import Bench, Outcome, body_bytes
from services.python.contract.lines import Load, Warmup
from tests.attacks.base import Attack, Tally

LONGEST_S = 45.0  # the trial is given 3 s to be ready, 2 s for an answer, and 1 s to end before it is killed
_MOST_GROWTH_MB = 60.0
_READY_S, _STATS_S = 3.0, 2.0

# What comes before every script: the words of the contract, to say some of them and then misbehave.
_PRELUDE = """\
import json, os, signal, subprocess, sys, time
out = sys.stdout.buffer
def say(line): out.write((json.dumps(line) if not isinstance(line, bytes) else line.decode()).encode() + b"\\n"); out.flush()
def raw(data): out.write(data); out.flush()
def told(): return json.loads(sys.stdin.readline())
def ready(**other):
    say({"type": "ready", "contract": 2, "port": 9, "implementation": "x", "identity": told()["identity"], **other})
def stats(**other): say({"type": "stats", "answered": 1, "peers": 1, "cpu_s": 0.1, **other})
def checked(**other): say({"type": "checked", "contract": 2, "body_bytes_sent": 1, "body_bytes_received": 1, **other})
def done(**other):
    say({"type": "done", "contract": 2, "rows": 1, "warmup_requests": 0, "requests": 1, "errors": {}, **other}); rest()
trial = told
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
    "prints binary garbage": "raw(os.urandom(4096) + b'\\n'); rest()",
    "prints NUL without end": "while True: raw(bytes(65536))",
    "prints lines without end": "while True: raw(b'{}\\n' * 1000)",
    "prints empty lines without end": "while True: raw(b'\\n' * 65536)",
    "is never ready": "rest()",
    "ends at once": "sys.exit(0)",
    "closes stdout and lives on": "os.close(1); rest()",
    "closes every stream and lives on": "os.closerange(0, 3); rest()",
    "ignores SIGTERM and the end of stdin": "signal.signal(15, signal.SIG_IGN); rest()",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "leaves a child in a session of its own": (
        "subprocess.Popen(['sleep', '600'], start_new_session=True); sys.exit(1)"
    ),
    "leaves a child that holds its streams and prints": (
        "subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP; while :; do echo y; echo n >&2; done'], "
        "start_new_session=True); sys.exit(1)"
    ),
    "forks twice, each in a session of its own": (
        "subprocess.Popen(['setsid', 'setsid', 'sleep', '600']); time.sleep(0.3); sys.exit(1)"
    ),
    "fills stderr without a newline": "while True: os.write(2, b'x' * 65536)",
    "fills stderr with lines": "while True: os.write(2, b'word\\n' * 10000)",
    "is ready on a port that cannot be": ("ready(port=10**6); stats(); rest()"),
    "answers as somebody else": ("ready(identity='me'); rest()"),
    "is ready with values of other types": ("ready(implementation=[1], versions=7); rest()"),
    "answers stats with nonsense": "ready(); stats(answered='many', cpu_s=[]); rest()",
    "answers stats with a list": "ready(); say([1, 2, 3]); rest()",
    "answers stats with no number that JSON has": 'ready(); stats(cpu_s=float("nan")); rest()',
    "answers stats with a nesting of 100,000": "ready(); raw(b'[' * 100000 + b'\\n'); rest()",
    "answers stats without end": "ready()\nwhile True: raw(b'[' * 65536)",
    "does not answer stats": "ready(); rest()",
}

# Of a requester, its responder being an honest one.
REQUESTERS = {
    "prints without end and without a newline": "while True: raw(b'x' * 65536)",
    "prints a line of 3 MiB": "begin(); raw(b'x' * (3 << 20) + b'\\n'); rest()",
    "prints valid progress without end": (
        "begin()\nwhile True: say({'type': 'progress', 'phase': 'measured', 'requests': 1, 'elapsed_s': 1.0})"
    ),
    "prints lines of an unknown type without end": "trial()\nwhile True: say({'type': 'hello'})",
    "begins again and again": "trial()\nwhile True: started(); time.sleep(0.001)",
    "checks again and again": "trial()\nwhile True: checked(); time.sleep(0.001)",
    "says nothing": "trial(); rest()",
    "does not read its trial": "rest()",
    "says no more once it has begun": "begin(); rest()",
    "is done with nonsense": "begin(); done(rows='all', requests={}, errors=3)",
    "is done with no number of requests": "begin(); done(requests=None)",
    "is done with the number of requests as text": "begin(); done(requests='5')",
    "is done with numbers below nothing": "begin(); done(requests=-5, errors={'x': -1})",
    "is done with a pause and anchors of other types": ("begin(); done(paused_s='x', anchor=3)"),
    "progresses by other types": (
        "begin(); say({'type': 'progress', 'phase': 'measured', 'requests': 'many', 'elapsed_s': 1}); rest()"
    ),
    "progresses in no phase": "begin(); say({'type': 'progress', 'phase': ['measured'], 'requests': 1}); rest()",
    "checks with sizes of other types": ("trial(); checked(body_bytes_sent='a'); done()"),
    "starts with anchors of other types": "trial(); say({'type': 'start', 'anchor': {'wall_ns': 'x'}}); rest()",
    "fails in other types": "trial(); say({'type': 'failed', 'kind': ['x'], 'message': {}}); rest()",
    "prints a line whose type is a list": "trial(); say({'type': ['done'], 'requests': 1}); rest()",
    "is done before it has begun, with nothing": "trial(); say({'type': 'done'}); rest()",
    "ends amid the measuring": "begin(); sys.exit(3)",
    "fills stderr without a newline": "begin()\nwhile True: os.write(2, b'x' * 65536)",
    "speaks another contract of other types": "trial(); checked(contract=1); rest()",
    "is killed amid the measuring": "begin(); os.kill(os.getpid(), 9)",
    "leaves a child in a session of its own": (
        "begin(); subprocess.Popen(['sleep', '600'], start_new_session=True); sys.exit(1)"
    ),
    "closes stdout and lives on": "begin(); os.close(1); rest()",
}

# Of the second of two requester hosts, the first one being honest and warm.
SECONDS = {
    "is never warm": "trial(); checked(); rest()",
    "is warm and ends": "trial(); checked(); say({'type': 'warm'}); sys.exit(0)",
    "is warm again and again": "trial(); checked()\nwhile True: say({'type': 'warm'}); time.sleep(0.001)",
    "measures before it is told to": "begin(); done()",
    "prints a line of 1 GiB": "warm()\nfor _ in range(16384): raw(b'x' * 65536)\nrest()",
    "prints a line of 1 GiB instead of being warm": "trial()\nfor _ in range(16384): raw(b'x' * 65536)\nrest()",
    "ends amid the measuring": "warm(); sys.exit(0)",
    "is killed amid the measuring": "warm(); os.kill(os.getpid(), 9)",
    "stops itself amid the measuring": "warm(); os.kill(os.getpid(), signal.SIGSTOP)",
    "is done in a time below nothing, other types": "warm(); done(measured_s=-1.0, paused_s=-5.0)",
    "is done with a begin of other types": "warm(); done(begin_ns='now', anchor={'wall_ns': -1}); rest()",
    "fails in the name of the other host": (
        "warm(); say({'type': 'failed', 'kind': 'hung', 'message': 'the requester on host-1 \\x1b]0;died'}); rest()"
    ),
    "leaves a child that holds its streams and prints": (
        "warm(); subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP; while :; do echo y; echo n >&2; done'], "
        "start_new_session=True); sys.exit(1)"
    ),
}

_HONEST = "ready(); sys.stdin.readline()\nwhile True: stats(); sys.stdin.readline() or sys.exit()"
KINDS = (
    *(("responder", name) for name in RESPONDERS),
    *(("requester", name) for name in REQUESTERS),
    *(("second requester", name) for name in SECONDS),
)


class _Host(LocalHost):
    """This machine, but that one end's program is another one."""

    def __init__(self, workspace: Path, run: str, end: str, code: str, *, has_it: bool = True) -> None:
        super().__init__(workspace, run=run, note=lambda event: None)
        self._end, self._code, self._has_it = end, code, has_it

    def start(self, argv: Sequence[str], *, cpus: str | None = None):
        end = "responder" if "services.python.programs.respond" in argv else "requester"
        honest = {"responder": _HONEST, "requester": "warm(); rest()" if "second" in self._end else "begin(); rest()"}
        code = self._code if end == self._end.removeprefix("second ") and self._has_it else honest[end]
        options = argv[argv.index(f"services.python.programs.{'respond' if end == 'responder' else 'request'}") + 1 :]
        return super().start([sys.executable, "-c", _PRELUDE + code, *options])


class _Terminal:
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


def _is_of_another_shape(name: str) -> bool:
    return any(words in name for words in ("types", "no number", "as text", "below nothing", "no phase", "is a list"))


def misbehaving(count: int, seed: int, folder: Path) -> Tally:
    """Every kind in turn, from a random one on: the trial fails, in bounded time and memory, and nobody is left."""
    tally = Tally()
    source = random.Random(seed)
    kinds = list(KINDS)
    source.shuffle(kinds)
    for number in range(count):
        end, name = kinds[number % len(kinds)]
        tally.note(attempt(end, name, folder / f"host-{number}"), f"a {end} that {name}")
    return tally


def attempt(end: str, name: str, folder: Path) -> str:
    """One trial with one end that misbehaves: "refused" when it failed as it must, or what was wrong."""
    code = {"responder": RESPONDERS, "requester": REQUESTERS, "second requester": SECONDS}[end][name]
    run = f"attack-{os.getpid()}-{folder.name}"
    host = _Host(folder, run, end, code)
    first = [_Host(folder / "first", run, end, code, has_it=False)] if end == "second requester" else []
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
    progress = Progress(listener=_Terminal(), clock=SYSTEM, total=1)
    bench = Bench(clock=SYSTEM, interrupts=Interrupts(), on_progress=progress.heard)
    memory_mb, began_s, outcomes, faults = _peak_mb(), time.monotonic(), list[Outcome](), list[Exception]()

    def make() -> None:
        try:
            outcomes.append(bench.make(ask, Pair((*first, host), host), "t"))
            if outcomes[0].failure is None:
                body_bytes(outcomes[0].parts)
        except Exception as error:  # noqa: BLE001 - any error is what the attack looks for
            faults.append(error)

    with (
        patch("orchestrator.measure.target.READY_S", _READY_S),
        patch("orchestrator.measure.trial.READY_S", _READY_S),
        patch("orchestrator.measure.target.STATS_S", _STATS_S),
        patch("orchestrator.measure.target._SPARE_S", 1.0),
    ):
        # In a thread, so that what never ends is seen as that.
        trial = threading.Thread(target=make, daemon=True)
        trial.start()
        trial.join(LONGEST_S)
    is_stuck = trial.is_alive()
    left = processes.end(lambda: marked(RUN_MARK, run), ()) if not is_stuck else []
    for one in (*first, host):
        one.end_all()
    processes.end(lambda: marked(RUN_MARK, run), processes.KILLING)
    if is_stuck:
        return f"the trial was not over after {LONGEST_S:g} s"
    if left:
        return f"left behind: {', '.join(map(str, left))}"
    if (grown_mb := _peak_mb() - memory_mb) > _MOST_GROWTH_MB:
        return f"orch grew by {grown_mb:.0f} MB in {time.monotonic() - began_s:.0f} s"
    if faults:
        return f"the run would have ended: {type(faults[0]).__name__}: {faults[0]}"
    failure = outcomes[0].failure if outcomes else None
    if failure is None:
        return "the trial did not fail"
    if _is_of_another_shape(name) and failure.kind != "protocol":
        return f"the trial failed with kind {failure.kind}, not protocol"
    json.dumps(asdict(failure), allow_nan=False).encode()
    return "refused"


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


ATTACKS = (Attack(name="an end that misbehaves", many=len(KINDS), few=8, run=misbehaving),)
