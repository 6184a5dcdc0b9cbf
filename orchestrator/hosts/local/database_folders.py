"""The folders of PostgreSQL servers that orch starts: each says whose it is, so that what a killed orch has left is found.

A folder belongs to orch's user alone, and holds a note of the orch that made it and a folder of the server's user. Where
that orch is gone, the server that works in it is ended, and the folder goes. Anything else of that name is left alone.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from orchestrator.hosts import processes
from orchestrator.hosts.processes import Known

_PREFIX: Final = "orch-postgresql-"
_NOTE: Final = "made-by-orch.json"
_SERVER: Final = "server"
_DATA: Final = "data"
_STEPS: processes.Steps = ((signal.SIGINT, 10.0), (signal.SIGKILL, 5.0))  # PostgreSQL's fast shutdown first
_PROC = Path("/proc")
_LOG = logging.getLogger(__name__)


@contextmanager
def made(uid: int = -1, gid: int = -1) -> Iterator[Path]:
    """A new folder that the server's user alone may enter (orch's own unless given); it goes at the end."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        note = {"pid": os.getpid(), "started": processes.started_at(os.getpid()), "processes": _processes_seen()}
        (folder / _NOTE).write_text(json.dumps(note))
        server = folder / _SERVER
        server.mkdir(mode=0o700)
        if uid >= 0:
            os.chown(server, uid, gid)
            folder.chmod(0o711)  # the server's user passes through
        yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def data_in(server: Path) -> Path:
    """Where a server has its data, in the folder that `made` gives."""
    return server / _DATA


def end_what_is_left() -> list[str]:
    """End servers whose orch is gone, and remove their folders; what could not be, in words. Safe at any time."""
    left = []
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        if not _is_left(folder):
            continue
        data = data_in(folder / _SERVER)
        servers = _servers_of(data)
        if alive := processes.end(partial(_servers_of, data), _STEPS, group=False):
            left.append(f"{alive[0]}, PostgreSQL in {folder}, cannot be ended")
            continue
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            left.append(f"{folder} cannot be removed")
            continue
        ended = f" ended {', '.join(map(str, servers))}, and" if servers else ""
        _LOG.info("an orch that was killed has left a database:%s removed %s", ended, folder)
    return left


def _is_left(folder: Path) -> bool:
    """Whether this user's orch has made it and is gone."""
    try:
        note = folder / _NOTE
        if not (folder.is_dir() and _is_private(folder) and _is_private(note)):
            return False
        found = json.loads(note.read_text())
        maker = Known(pid=found["pid"], started=found["started"])
        return found["processes"] == _processes_seen() and not maker.is_alive
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _is_private(path: Path) -> bool:
    """Whether this user alone can change it, and it is no link: anybody may put something into the folder of all."""
    status = path.lstat()
    is_open = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return not (stat.S_ISLNK(status.st_mode) or status.st_uid != os.geteuid() or is_open)


def _processes_seen() -> str:
    """Which processes can be seen from here: a container that shares this folder sees others, and may not judge."""
    try:
        return str((_PROC / "self" / "ns" / "pid").readlink())
    except OSError:
        return ""


def _servers_of(data: Path) -> list[Known]:
    """The server that works in this folder, by the file it keeps there; none where another process has its id by now."""
    try:
        owner = data.lstat().st_uid
        text = (data / "postmaster.pid").read_text()
        process = processes.known(int(text.partition("\n")[0]))
    except (OSError, ValueError):
        return []
    if process is None:
        return []
    uid, arguments = _of(process.pid)
    return [process] if uid == owner and str(data) in arguments else []


def _of(pid: int) -> tuple[int, list[str]]:
    """A process's user and its arguments; -1 and none where that cannot be seen."""
    try:
        if processes.can_look():
            place = _PROC / str(pid)
            return place.stat().st_uid, (place / "cmdline").read_bytes().decode(errors="replace").split("\0")
        shown = subprocess.run(
            ["ps", "-ww", "-o", "uid=,command=", "-p", str(pid)], capture_output=True, text=True, check=False
        ).stdout.split()
        return int(shown[0]), shown[1:]
    except (OSError, ValueError, IndexError):
        return -1, []
