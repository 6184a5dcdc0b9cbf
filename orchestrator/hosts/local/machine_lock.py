"""One run at a time measures on a machine, whichever checkout and whichever user started it.

The lock is on one file of the machine, in a folder that every user may write to. It says who measures, for people to read,
and who shares the machine on purpose. `ORCH_MACHINE_LOCK` names another file, for containers that share a machine but not
its /tmp.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from orchestrator.errors import MissingError
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.processes import started_at, try_lock
from orchestrator.strict_json import parse_json

VARIABLE = "ORCH_MACHINE_LOCK"
PLACE = Path("/tmp/orch-measuring.lock")  # noqa: S108 - one place for all users
_MOST_BYTES = 65_536
_OVERRIDE = "`--share-machine` measures anyway, and the run records it"

_Orch: TypeAlias = tuple[int, str]  # process id, and when it started


@dataclass(kw_only=True)
class Share:
    """The part that a run has of the machine: all of it, unless others share it."""

    _descriptor: int | None = None

    def note(self, run: str) -> None:
        """Tell others which run it is that measures."""
        if self._descriptor is not None:
            _write(self._descriptor, run)

    def others(self) -> list[str]:
        """Who else measured on this machine since this run began, or was at it already: in words, one each."""
        entries = {} if self._descriptor is None else _entries(self._descriptor)
        return [words for orch, words in entries.items() if orch != _ourselves()]


@contextmanager
def machine(provider: str, *, share: bool = False) -> Iterator[Share]:
    """Hold the machine while this block lasts, where the provider measures on it.

    MissingError that names the run which measures already, unless `share`; or when the file cannot be opened.
    """
    if not PROVIDERS[provider].hosts_are_this_machine:
        yield Share()
        return
    descriptor = _open(Path(os.environ.get(VARIABLE) or PLACE))
    try:
        if try_lock(descriptor):
            with suppress(OSError):  # another user's file that we may only read: the lock holds even so
                os.ftruncate(descriptor, 0)
        elif not share:
            who = "; ".join(_entries(descriptor).values()) or "a run that does not say its name"
            raise MissingError(
                f"{who} is measuring on this machine; two at once would disturb each other",
                hint=f"wait until it has ended, or end it with `orch teardown RUN` in its folder; {_OVERRIDE}",
            )
        _write(descriptor, "")
        yield Share(_descriptor=descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    """The file, made when it is not there; MissingError when it cannot be opened."""
    try:
        try:
            return os.open(path, os.O_RDWR | os.O_APPEND)  # Linux may refuse O_CREAT for another user's file in /tmp
        except FileNotFoundError:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            with suppress(PermissionError):  # another user has made it just now
                os.fchmod(descriptor, 0o666)  # for every user, whatever the umask
            return descriptor
        except PermissionError:
            return os.open(path, os.O_RDONLY)  # enough to take the lock
    except OSError as error:
        raise MissingError(
            f"the machine's lock {path} cannot be used: {os.strerror(error.errno or 0)}",
            hint=f"name another file in {VARIABLE}, the same for all who measure on this machine",
        ) from error


def _write(descriptor: int, run: str) -> None:
    pid, started = _ourselves()
    entry = {
        "pid": pid,
        "run": run,
        "user": os.environ.get("USER") or str(os.getuid()),
        "folder": str(Path.cwd()),
        "started": started,
    }
    with suppress(OSError):  # a file that we may only read, or a full disk: it is only for people to read
        os.write(descriptor, (json.dumps(entry) + "\n").encode())


def _entries(descriptor: int) -> dict[_Orch, str]:
    """Who wrote into the file, the last word of each."""
    entries: dict[_Orch, str] = {}
    for line in os.pread(descriptor, _MOST_BYTES, 0).splitlines():
        with suppress(ValueError, TypeError, KeyError):  # cut, as the disk was full
            entry = parse_json(line)
            run = f"run {entry['run']}" if entry["run"] else "a run"
            words = f"{run} (process {entry['pid']}, user {entry['user']}, in {entry['folder']})"
            entries[int(entry["pid"]), str(entry["started"])] = words
    return entries


def _ourselves() -> _Orch:
    return os.getpid(), started_at(os.getpid()) or ""
