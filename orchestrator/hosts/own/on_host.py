"""What orch does on a machine of the person's own: its text is sent there, and run as `python -c TEXT VERB JSON`.

Python's standard library alone; each verb prints one JSON document per line. Nothing here needs root.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import shutil
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

_MARK = ".orch"  # in a folder that orch made: the run, and which folders above it orch made as well
_LISTEN_S, _REACH_S = 20.0, 4.0
_KILL_S = 5.0


def look(folder: str, **_: Any) -> dict[str, Any]:
    """What a measurement and its deployment depend on. Changes nothing."""
    place = Path(folder or "~/.cache/orch").expanduser()
    there = next(parent for parent in (place, *place.parents) if parent.exists())
    memory = dict(line.split(":") for line in _text("/proc/meminfo").splitlines())
    connection = os.environ.get("SSH_CONNECTION", "").split()
    return {
        "interpreter": sys.executable,
        "version": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "glibc": platform.libc_ver()[1],
        "kernel": platform.release(),
        "user": _user(),
        "folder": str(place),
        "can_write": os.access(there, os.W_OK | os.X_OK),
        "disk_bytes": shutil.disk_usage(there).free,
        "memory_bytes": 1024 * int(memory.get("MemAvailable", "0 kB").split()[0]),
        "cpus": sorted(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "address": connection[2] if len(connection) == 4 else "",
    }


def _say(document: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(document)}\n")
    sys.stdout.flush()


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def make(root: str, run: str, **_: Any) -> dict[str, Any]:
    """The folder of a run, for its user alone; any number of times."""
    place = Path(root)
    parents = [str(parent) for parent in place.parents if not parent.exists()]
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (place / _MARK).exists():
        (place / _MARK).write_text(json.dumps({"run": run, "made": parents}), encoding="utf-8")
    return {"root": root}


def hold(lock: str, run: str, controller: str, ttl_s: int, **_: Any) -> dict[str, Any] | None:
    """Hold the machine's lock until stdin ends, at most `ttl_s`: no other run of anybody measures there meanwhile.

    The file is the one that an orch on that machine takes for itself (`hosts/local/machine_lock.py`).
    """
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_APPEND)  # Linux may refuse O_CREAT for another user's file in /tmp
    except FileNotFoundError:
        descriptor = os.open(lock, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        os.fchmod(descriptor, 0o666)
    except PermissionError:
        descriptor = os.open(lock, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lines = os.pread(descriptor, 65_536, 0).decode(errors="replace").splitlines()
        holders = [json.loads(line) for line in lines if line.endswith("}")]
        if not any(holder.get("run") == run for holder in holders):
            return {"held": False, "by": holders[-1] if holders else {}}
    else:
        started = (
            f"{_text('/proc/self/stat').rpartition(')')[2].split()[19]}@{_text('/proc/sys/kernel/random/boot_id')[:8]}"
        )
        entry = {"pid": os.getpid(), "run": run, "user": _user(), "folder": controller, "started": started}
        with suppress(OSError):  # a file that we may only read
            os.ftruncate(descriptor, 0)
            os.write(descriptor, (json.dumps(entry) + "\n").encode())
    signal.alarm(ttl_s)
    _say({"held": True})
    sys.stdin.read()
    return None


def listen(address: str, **_: Any) -> dict[str, Any] | None:
    """Answer on one TCP and UDP port of the address, as a responder has them, until stdin ends."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
    ):
        tcp.bind((address, 0))
        tcp.listen()
        udp.bind(tcp.getsockname())
        _say({"port": tcp.getsockname()[1]})
        udp.settimeout(_LISTEN_S)
        with suppress(TimeoutError):
            udp.sendto(b"orch", udp.recvfrom(64)[1])
    return None


def reach(address: str, port: int, **_: Any) -> dict[str, Any]:
    """Why TCP and UDP to a port do not get there; null for what does."""
    trouble: dict[str, str | None] = {"tcp": None, "udp": None}
    try:
        socket.create_connection((address, port), timeout=_REACH_S).close()
    except OSError as error:
        trouble["tcp"] = str(error)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(_REACH_S)
        try:
            udp.connect((address, port))
            udp.send(b"orch")
            udp.recv(64)
        except OSError as error:
            trouble["udp"] = str(error)
    return trouble


def status(root: str, **_: Any) -> dict[str, Any]:
    """Whether a run's folder is there."""
    return {"is_there": (Path(root) / _MARK).exists()}


def sweep(root: str, run: str, **_: Any) -> dict[str, Any]:
    """End what runs out of a run's folder, and who holds the machine for it; remove the folder."""
    place = Path(root)
    if place.exists() and not (place / _MARK).exists() and any(place.iterdir()):
        return {"removed": False, "left": f"{root} has no mark of orch's and is left alone"}
    deadline = time.monotonic() + _KILL_S
    while (running := _running(root, run)) and time.monotonic() < deadline:
        for pid in running:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    if running:
        return {"removed": False, "left": f"processes {', '.join(map(str, running))} out of {root}"}
    if not place.exists():
        return {"removed": False, "left": None}
    parents = json.loads(_text(str(place / _MARK)) or '{"made": []}')["made"]
    shutil.rmtree(place, ignore_errors=True)
    left = root if place.exists() else None
    for parent in parents:
        with suppress(OSError):  # somebody else uses it now
            Path(parent).rmdir()
    return {"removed": left is None, "left": left}


def _running(root: str, run: str) -> list[int]:
    """Processes whose program, working folder or first words lie below the folder, and holders; but not this one.

    A holder outlives its run where the network is lost and the connection does not end.
    """
    pids = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            places = [*words[:3], str((entry / "cwd").readlink()), str((entry / "exe").readlink())]
            is_holder = words[3:4] == [hold.__name__] and f'"run": "{run}"' in words[4]
            is_below = any(f"{word}/".startswith(f"{root}/") for word in places)
            if int(entry.name) != os.getpid() and (is_holder or is_below):
                pids.append(int(entry.name))
    return pids


VERBS = {verb.__name__: verb for verb in (look, make, hold, listen, reach, status, sweep)}

if __name__ == "__main__":
    _answer = VERBS[sys.argv[1]](**json.loads(sys.argv[2]))
    if _answer is not None:
        _say(_answer)
