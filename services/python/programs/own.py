"""Hold a service of somebody's own on this host, `python -m services.python.programs.own`: started, watched, counted, ended.

An `own` line on stdin says what to run. Once it can be asked it prints `ready`, then answers `stats` with the CPU time and
memory of all processes of the service. It ends with the service, or ends the service when its stdin ends; the tail of the
service's output is then on stderr. With `ready` = `end` it waits for a command's end, whose status becomes its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import http.client
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

from services.python.contract.lines import read_stdin_line
from services.python.contract.responder_lines import Own, Ready, Stats
from services.python.programs.lines import Lines, complain, leave, lines_of_stdin, prepare

_LOOK_S = 0.02
_LOWEST_PORT, _PORTS, _STEP, _LOOKS = 20_000, 12_000, 997, 20
_ONE_LOOK_S = 2.0
_GRACE_S = 2.0
_LAST_WORDS = 4_000  # bytes
_LEAST_ERROR = 400
_BECOME_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, prctl(2)
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_SERVING = b"\x08\x01"  # a HealthCheckResponse whose status is SERVING


def _free_port(address: str) -> int:
    """Return a port that is free now, and that no service which is started at the same time finds, too.

    Each process begins to look at a place of its own, below the ports that Linux gives to clients.
    """
    places = [_LOWEST_PORT + (os.getpid() + _STEP * number) % _PORTS for number in range(_LOOKS)]
    for port in (*places, 0):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family) as free, contextlib.suppress(OSError):
            free.bind((address, port))
            return int(free.getsockname()[1])
    raise OSError(f"no port of {address} is free")


class Service:
    """The service under way: its first process, where it listens, and its output."""

    def __init__(self, own: Own) -> None:
        self.own = own
        self.port = _free_port(own.address)
        self._ending = threading.Lock()
        self.output = Path(f"{own.output}-{self.port}.txt")
        places = {"{port}": str(self.port), "{address}": own.address, "{python}": sys.executable}
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [_filled(word, places) for word in own.argv],
                cwd=own.folder,
                env={**os.environ, **own.env},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def is_ready(self) -> bool:
        """Whether it can be asked, by the way that its owner has named."""
        own = self.own
        try:
            if own.ready == "line":
                return own.ready_at in self.output.read_text(errors="replace")
            if own.ready == "http":
                return _answers_http(own.address, self.port, own.ready_at)
            if own.ready == "grpc":
                return _is_serving(own.address, self.port)
            with socket.create_connection((own.address, self.port), timeout=_ONE_LOOK_S):
                return True
        except (OSError, http.client.HTTPException):
            return False

    def end(self, status: int) -> NoReturn:
        """End all that it started, show its last words, and end this process."""
        self._ending.acquire()  # the thread that comes second stays here
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in tree(os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            until_s = time.monotonic() + _GRACE_S
            while tree(os.getpid()) and time.monotonic() < until_s:
                time.sleep(_LOOK_S)
                self.process.poll()
        with self.output.open("rb") as output:
            output.seek(max(0, self.output.stat().st_size - _LAST_WORDS))
            sys.stderr.write(output.read().decode(errors="replace"))
        leave(status if status >= 0 else 128 - status)  # as a shell counts signals


def main() -> NoReturn:
    """Hold it until its end, or that of stdin."""
    lines = Lines()
    prepare()
    ctypes.CDLL(None).prctl(_BECOME_SUBREAPER, 1, 0, 0, 0)  # what it leaves behind stays in the tree
    signal.signal(signal.SIGTERM, lambda *_: None)  # the end of stdin says the same; the service inherits no handler
    try:
        own: Own = read_stdin_line(Own, sys.stdin.buffer, "own")
        service = Service(own)
    except (ValueError, OSError) as error:
        complain(str(error))
        leave(1)
    threading.Thread(target=_obey, args=(service, lines), daemon=True).start()
    if own.ready != "end":
        while service.process.poll() is None and not service.is_ready():
            time.sleep(_LOOK_S)
        if service.process.poll() is None:
            lines.write(Ready(port=service.port, implementation="own", identity="", open_files=_open_files()))
    service.end(service.process.wait())


def _obey(service: Service, lines: Lines) -> None:
    from services.python.probes.counters import host_counters

    for line in lines_of_stdin():
        if line == "stats":
            usage = tree(os.getpid()).values()
            lines.write(
                Stats(
                    answered=0,
                    peers=0,
                    cpu_s=sum(cpu_s for cpu_s, _ in usage),
                    memory_bytes=sum(memory for _, memory in usage),
                    memory_since="process",
                    host=host_counters(),
                )
            )
    service.end(0)


def _filled(word: str, places: dict[str, str]) -> str:
    for place, value in places.items():
        word = word.replace(place, value)
    return word


def _answers_http(address: str, port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(address, port, timeout=_ONE_LOOK_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status < _LEAST_ERROR
    finally:
        connection.close()


def _is_serving(address: str, port: int) -> bool:
    import grpc

    target = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    with grpc.insecure_channel(target, (("grpc.enable_http_proxy", 0),)) as channel:
        try:
            check: Any = channel.unary_unary("/grpc.health.v1.Health/Check")
            return bool(check(b"", timeout=_ONE_LOOK_S) == _SERVING)
        except grpc.RpcError:
            return False


def _open_files() -> int | None:
    limits = []
    for pid in tree(os.getpid()):
        with contextlib.suppress(OSError):
            limits.append(resource.prlimit(pid, resource.RLIMIT_NOFILE)[0])
    return max(limits, default=None)


def tree(root: int) -> dict[int, tuple[float, int]]:
    """Return CPU seconds and resident bytes of each living descendant of a process, by its id."""
    every = {int(entry.name): _process(entry) for entry in Path("/proc").iterdir() if entry.name.isdecimal()}
    parents = {pid: usage for pid, usage in every.items() if usage is not None}
    members, more = {root}, True
    while more:
        children = {pid for pid, (parent, _, _) in parents.items() if parent in members} - members
        members |= children
        more = bool(children)
    return {pid: parents[pid][1:] for pid in members - {root}}


def _process(entry: Path) -> tuple[int, float, int] | None:
    """Parent, CPU seconds with those of children that were waited for, and resident bytes; see proc(5)."""
    try:
        fields = (entry / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    if fields[0] in "ZX":
        return None
    return int(fields[1]), sum(map(int, fields[11:15])) / _TICKS_PER_S, int(fields[21]) * _PAGE_BYTES


if __name__ == "__main__":
    main()
