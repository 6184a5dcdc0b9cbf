"""One run at a time measures on a machine, whichever checkout and whichever user started it.

The lock is on one file of the machine, in a folder that every user may write to. It says who measures, for people to read.
`ORCH_MACHINE_LOCK` names another file, for containers that share a machine but not its /tmp.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import MissingError
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.processes import try_lock
from orchestrator.strict_json import parse_json

VARIABLE = "ORCH_MACHINE_LOCK"
PLACE = Path("/tmp/orch-measuring.lock")  # noqa: S108 - one place for all users
_MOST_BYTES = 65_536
_OVERRIDE = "`--share-machine` measures anyway, and the run records it"


@dataclass(kw_only=True)
class Share:
    """The part that a run has of the machine: all of it, unless the `other` one, in words, measured when it began."""

    other: str = ""
    _descriptor: int | None = None

    def note(self, run: str) -> None:
        """Tell others which run it is that measures."""
        if self._descriptor is not None and not self.other:
            _write(self._descriptor, run)


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
        other = "" if try_lock(descriptor) else _holder(descriptor)
        if other and not share:
            raise MissingError(
                f"{other} is measuring on this machine; two at once would disturb each other",
                hint=f"wait until it has ended, or end it with `orch teardown RUN` in its folder; {_OVERRIDE}",
            )
        part = Share(other=other, _descriptor=descriptor)
        part.note("")
        yield part
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
    entry = {
        "pid": os.getpid(),
        "run": run,
        "user": os.environ.get("USER") or str(os.getuid()),
        "folder": str(Path.cwd()),
    }
    with suppress(OSError):  # a file that we may only read, or a full disk: it is only for people to read
        os.ftruncate(descriptor, 0)
        os.write(descriptor, (json.dumps(entry) + "\n").encode())


def _holder(descriptor: int) -> str:
    """Who holds the machine, in words."""
    with suppress(ValueError, TypeError, KeyError):  # cut, as the disk was full
        entry = parse_json(os.pread(descriptor, _MOST_BYTES, 0))
        run = f"run {entry['run']}" if entry["run"] else "a run"
        return f"{run} (process {entry['pid']}, user {entry['user']}, in {entry['folder']})"
    return "a run that does not say its name"
