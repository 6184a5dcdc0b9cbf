"""One run at a time measures on a machine, whichever checkout and whichever user started it.

The lock is on one file of the machine, in a folder that every user may write to. It says who measures, for people to read,
and who shares the machine on purpose. `ORCH_MACHINE_LOCK` names another file, for containers that share a machine but not
its /tmp. A file that holds something else is never emptied nor added to.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from orchestrator.errors import MissingError
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.processes import started_at
from orchestrator.strict_json import parse_json

VARIABLE = "ORCH_MACHINE_LOCK"
_PLACE = Path("/tmp/orch-measuring.lock")  # noqa: S108 - one place for all users
_MOST_BYTES = 65_536
_BEGINNING = re.compile(rb'\{"pid": \d+, "run": "')  # of every file that `_write` has written to
_OVERRIDE = "`--share-machine` measures anyway, and the run records it"


_Who: TypeAlias = tuple[int, str, str]  # process id, when it started, and where that id counts


@dataclass(kw_only=True)
class Share:
    """The part that a run has of the machine: all of it, unless others share it."""

    _descriptor: int | None = None
    _over: frozenset[_Who] = frozenset()  # had ended before this run began

    def note(self, run: str) -> None:
        """Tell others which run it is that measures."""
        if self._descriptor is not None:
            _write(self._descriptor, run)

    def others(self) -> list[str]:
        """Who else measured on this machine since this run began, or was at it already: in words, one each."""
        said = {} if self._descriptor is None else _said(self._descriptor)
        return [words for who, words in said.items() if who != _ourselves() and who not in self._over]


@contextmanager
def machine(provider: str, *, share: bool = False) -> Iterator[Share]:
    """Hold the machine while this block lasts, where the provider measures on it.

    MissingError that names the run which measures already, unless `share`; or when the file is not an ordinary one, or
    holds something else.
    """
    if not PROVIDERS[provider].hosts_are_this_machine:
        yield Share()
        return
    path = Path(os.environ.get(VARIABLE) or _PLACE)
    descriptor = _open(path)
    try:
        if _is_locked(descriptor):
            _require_lock(descriptor, path)
            _empty(descriptor)
        elif share:
            _require_lock(descriptor, path)
        else:
            said = _said(descriptor)
            by = (
                "; ".join(words for who, words in said.items() if not _has_ended(who))
                or "a run that does not say its name"
            )
            raise MissingError(
                f"{by} is measuring on this machine; two at once would disturb each other",
                hint=f"wait until it has ended, or end it with `orch teardown RUN` in its folder; {_OVERRIDE}",
            )
        over = frozenset(who for who in _said(descriptor) if _has_ended(who))
        _write(descriptor, "")
        yield Share(_descriptor=descriptor, _over=over)
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
        raise _unusable(path, os.strerror(error.errno or 0)) from error


def _unusable(path: Path, why: str) -> MissingError:
    return MissingError(
        f"the machine's lock {path} cannot be used: {why}",
        hint=f"name another file in {VARIABLE}, the same for all who measure on this machine",
    )


def _require_lock(descriptor: int, path: Path) -> None:
    """MissingError when the file holds something that is not a lock's: it may be precious to somebody."""
    beginning = os.pread(descriptor, _MOST_BYTES, 0)
    if beginning and not _BEGINNING.match(beginning):
        raise _unusable(path, "it holds something else, which was left as it is")


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _empty(descriptor: int) -> None:
    try:
        os.ftruncate(descriptor, 0)
    except OSError:
        return  # another user's file that we may only read: the lock holds even so


def _write(descriptor: int, run: str) -> None:
    pid, started, space = _ourselves()
    entry = {"pid": pid, "run": run, "user": _user(), "folder": str(Path.cwd()), "started": started, "space": space}
    try:
        os.write(descriptor, (json.dumps(entry) + "\n").encode())
    except OSError:
        return  # as above, or a full disk: it is only for people to read


def _said(descriptor: int) -> dict[_Who, str]:
    """Who wrote into the file, the last word of each."""
    found: dict[_Who, str] = {}
    for line in os.pread(descriptor, _MOST_BYTES, 0).splitlines():
        try:
            entry: Any = parse_json(line)
            run = f"run {entry['run']}" if entry["run"] else "a run"
            who = (int(entry["pid"]), str(entry["started"]), str(entry["space"]))
            found[who] = f"{run} (process {who[0]}, user {entry['user']}, in {entry['folder']})"
        except (ValueError, TypeError, KeyError):
            continue  # cut, as the disk was full
    return found


@cache
def _ourselves() -> _Who:
    """Who this is: a process id may have been another's before, and be another's in another container."""
    return os.getpid(), started_at(os.getpid()) or "", _space()


def _has_ended(who: _Who) -> bool:
    """Whether a process is surely over; of a container whose processes cannot be seen here nothing is sure."""
    pid, started, space = who
    return bool(started) and space == _space() and started_at(pid) != started


def _space() -> str:
    """What process ids count in: another container has others."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
