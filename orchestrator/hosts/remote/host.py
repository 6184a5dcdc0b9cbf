"""Hosts reached over SSH or as containers: starts processes of the contract on channels of one connection, moves files.

A process ends with the channel that started it, because a contract process ends when its stdin closes.
"""

from __future__ import annotations

import errno
import re
import shlex
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import paramiko

from orchestrator.disk import DiskFull, is_full, whole_file
from orchestrator.errors import ProvisionError, on_one_line
from orchestrator.files import sha256_of
from orchestrator.hosts.base import Completed, HostLost, described
from orchestrator.hosts.output import LineBuffer
from orchestrator.hosts.remote.container import Container, ContainerChannel, ContainerSession
from orchestrator.hosts.remote.ssh import Access, Session, await_session
from services.python.contract.description import Description

ROOT = PurePosixPath("/opt/orch")
_WORDS = 4_000  # characters of stderr that are kept
_PID = re.compile(r"^orch-pid (\d+)\n", re.MULTILINE)
_SAY_PID = "echo orch-pid $$ >&2"  # what the shell becomes keeps its id
_UNREACHABLE = (errno.EHOSTUNREACH, errno.EHOSTDOWN, errno.ENETUNREACH, errno.ENETDOWN)
_CHUNK_BYTES = 1 << 20
_PIECE_BYTES = 65_536
_SEND_S = 30.0
_OPEN_S = 60.0
_ANSWER_S = 15.0
_COPY_S = 120.0  # without a byte
# Nobody else may read a key while it is on its way; the file has its name when it is whole.
_STORE = 'umask 077; cat > "$1.partial" && chmod "$2" "$1.partial" && mv -f "$1.partial" "$1"'


@contextmanager
def _losing(name: str) -> Iterator[None]:
    """Turns what a broken connection raises into HostLost."""
    try:
        yield
    except (paramiko.SSHException, EOFError, OSError) as error:
        if isinstance(error, OSError) and not isinstance(error, ConnectionError) and error.errno not in _UNREACHABLE:
            raise
        raise HostLost(f"{name}: the connection is lost ({error or type(error).__name__})") from error


class RemoteProcess:
    """A process on its own channel; see `hosts.base.Process`."""

    def __init__(self, channel: paramiko.Channel | ContainerChannel, command: str, host: RemoteHost) -> None:
        self._channel = channel
        self._host = host
        self._lines = LineBuffer()
        self._stderr = ""
        self._pid: int | None = None
        # By a shell that is known: an account's own may be any.
        channel.exec_command(f"exec sh -c {shlex.quote(f'{_SAY_PID}; exec {command}')}")
        # Only stderr has a thread: what is not read of stdout stays over there, as the channel's window is full then.
        self._reader = threading.Thread(target=self._read_err, daemon=True)
        self._reader.start()

    def _read_err(self) -> None:
        while True:
            try:
                data = self._channel.recv_stderr(_PIECE_BYTES)
            except TimeoutError:
                continue  # the time-out is that of whoever reads stdout
            if not data:
                return
            text = self._stderr + data.decode(errors="replace")
            if self._pid is None and (match := _PID.search(text)):
                self._pid = int(match[1])
                text = text.replace(match[0], "", 1)
            self._stderr = text[-_WORDS:]
            if self._lines.is_flooded(data):
                self._channel.close()  # wakes whoever reads stdout
                return

    def send(self, line: str) -> None:
        try:
            with self._within(_SEND_S):
                self._channel.sendall(line.encode() + b"\n")
        except (OSError, paramiko.SSHException) as error:
            raise BrokenPipeError(f"{self._host.name}: its process is gone, or does not read") from error

    def read(self, timeout_s: float) -> str | None:
        try:
            line = self._lines.read(self._receive, timeout_s)
        except TimeoutError as error:
            raise TimeoutError(f"{self._host.name}: {error}") from None
        if line is None and (line := self._lines.rest()) is None:
            self._explain_end()
        return line

    def _receive(self, patience_s: float) -> bytes:
        with self._within(patience_s):
            return self._channel.recv(_PIECE_BYTES)

    @contextmanager
    def _within(self, timeout_s: float) -> Iterator[None]:
        """A time-out of the channel for this block alone: the thread that reads stderr has none."""
        self._channel.settimeout(max(0.0, timeout_s))
        try:
            yield
        finally:
            self._channel.settimeout(None)

    def _explain_end(self) -> None:
        """Tell a process that ended by itself from one whose host, connection or memory is gone."""
        if self._channel.status_event.wait(_ANSWER_S) and self._channel.exit_status >= 0:
            return
        connected = self._host.is_connected
        if not self._host.answers():
            raise HostLost(f"{self._host.name} does not answer any more")
        why = "it was killed, as the kernel does when memory runs out" if connected else "its connection was lost"
        if why not in self._stderr:
            self._stderr = f"{self._stderr}{why}\n"

    def close_stdin(self) -> None:
        try:
            self._channel.shutdown_write()
        except (OSError, paramiko.SSHException):
            return  # closed with its connection

    def end(self, grace_s: float = 5.0) -> int:
        """See `Process.end`; -1 where a signal or the lost connection took the status with it."""
        self.close_stdin()
        ended = self._channel.status_event
        broken = self._lines.broken is not None
        for name in ("KILL",) if broken else ("TERM", "KILL"):
            if (not broken and ended.wait(grace_s)) or self._pid is None or not self._host.signal(self._pid, name):
                break
        if ended.wait(grace_s):
            self._reader.join(timeout=1.0)  # closing would drop what it has not read yet
        self._channel.close()
        self._reader.join(timeout=grace_s)
        return int(self._channel.exit_status)

    def last_words(self) -> str:
        return self._stderr


@dataclass
class RemoteHost:
    """A host of a deployment; see `hosts.base.Host`. Connects at the first use.

    `boot_s` is how long its first boot may take until it answers, None where it is up; `cloud` names the metadata service
    that it has. All that is installed lies below `root`.
    """

    name: str
    address: str
    access: Access | Container
    workspace: PurePosixPath
    boot_s: float | None = None
    cloud: str | None = None
    root: PurePosixPath = ROOT
    services: PurePosixPath = field(init=False)  # with a folder for each language that has files of its own
    _session: Session | ContainerSession | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.services = self.root / "programs"

    @property
    def session(self) -> Session | ContainerSession:
        """The open connection; made anew when it was lost, and then HostLost when that fails."""
        if self._session is None and self.boot_s is not None and isinstance(self.access, Access):
            self._session = await_session(self.access, self.boot_s)
        elif self._session is None:
            self._session = self.access.connect()
        elif not self._session.is_open:
            self._session.close()
            try:
                self._session = self.access.connect()
            except ProvisionError as error:
                raise HostLost(error.message) from error
        return self._session

    @property
    def is_connected(self) -> bool:
        return self._session is not None and self._session.is_open

    def close(self) -> None:
        """End the connection, and with it everything it started. Idempotent."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def python(self) -> Sequence[str]:
        return ("env", f"PYTHONPATH={self.root / 'code'}", str(self.root / "venv" / "bin" / "python"))

    def start(self, argv: Sequence[str], *, cpus: str | None = None) -> RemoteProcess:
        pin = ["taskset", "-c", cpus] if cpus else []
        with _losing(self.name):
            return RemoteProcess(self.session.channel(_OPEN_S), shlex.join([*pin, *argv]), self)

    def run(self, argv: Sequence[str], *, timeout_s: float) -> Completed:
        """See `Host.run`; HostLost when it takes longer than `timeout_s`."""
        output = bytearray()
        deadline_s = time.monotonic() + timeout_s

        def take(data: bytes) -> None:
            output.extend(data)
            if time.monotonic() > deadline_s:
                raise HostLost(f"{self.name}: `{argv[0]}` did not end within {timeout_s:g} s")

        status, words = self._stream(argv, take, timeout_s)
        return Completed(returncode=status, stdout=output.decode(errors="replace"), stderr=words)

    def _stream(
        self, argv: Sequence[str], take: Callable[[bytes], Any], timeout_s: float, stdin: bytes = b""
    ) -> tuple[int, str]:
        """Run a command, handing over its stdout as it comes; its exit status and the beginning of its stderr.

        HostLost when it is silent for `timeout_s`.
        """
        try:
            with _losing(self.name), closing(self.session.channel(timeout_s)) as channel:
                channel.settimeout(timeout_s)
                channel.exec_command(shlex.join(argv))
                with suppress(OSError):  # one that has ended says why
                    channel.sendall(stdin)
                    channel.shutdown_write()
                while data := channel.recv(_CHUNK_BYTES):
                    take(data)
                words, deadline_s = b"", time.monotonic() + timeout_s
                while time.monotonic() < deadline_s:
                    if not (chunk := channel.recv_stderr(_PIECE_BYTES)):
                        break
                    words += chunk
                if not channel.status_event.wait(timeout_s):
                    raise TimeoutError
                return int(channel.exit_status), words.decode(errors="replace")
        except TimeoutError as error:
            raise HostLost(f"{self.name}: `{argv[0]}` was silent for {timeout_s:g} s") from error

    def answers(self) -> bool:
        try:
            return self.run(["true"], timeout_s=_ANSWER_S).returncode == 0
        except HostLost:
            return False

    def signal(self, pid: int, name: str) -> bool:
        """Send a signal to a process that we started there, KILL to all it has started; whether the host could be reached.

        The SSH server makes every command the leader of a session, and so of a process group.
        """
        try:
            to = str(-pid if name == "KILL" else pid)
            self.run(["sh", "-c", 'kill -s "$1" -- "$2"', "sh", name, to], timeout_s=_ANSWER_S)
        except HostLost:
            return False
        return True

    def put(self, local: Path, name: str) -> PurePosixPath:
        """See `Host.put`; ProvisionError when the host cannot store it, HostLost when it arrived damaged."""
        remote = self.workspace / name
        wanted = sha256_of(local)
        if self._sha256_there(remote) != wanted:
            mode = f"{stat.S_IMODE(local.stat().st_mode):o}"
            argv = ["sh", "-c", _STORE, "sh", str(remote), mode]
            status, words = self._stream(argv, bytearray().extend, _COPY_S, local.read_bytes())
            if status > 0:
                raise ProvisionError(
                    f"{self.name} cannot store {remote}: {on_one_line(words, 300)}",
                    hint="is its disk full? `orch ssh` shows what fills it",
                )
            if self._sha256_there(remote) != wanted:
                raise HostLost(f"{self.name}: {remote} arrived damaged")
        return remote

    def fetch(self, remote: PurePosixPath, local: Path) -> None:
        """See `Host.fetch`; FileNotFoundError when it is not there, HostLost when what arrived is not what is there."""
        script = 'test -f "$1" || exit 66; cat "$1" && sha256sum < "$1" >&2'
        try:
            with whole_file(local, sync=False) as partial:
                with partial.open("wb") as file:
                    status, words = self._stream(["sh", "-c", script, "sh", str(remote)], file.write, _COPY_S)
                if status == 66:
                    raise FileNotFoundError(errno.ENOENT, f"{self.name} has no such file", str(remote))
                if status != 0 or words.split()[:1] != [sha256_of(partial)]:
                    raise HostLost(f"{self.name}: {remote} arrived damaged: {words.strip()[-200:]}")
        except OSError as error:
            if is_full(error):
                raise DiskFull(local) from error
            raise
        self.run(["rm", "-f", str(remote)], timeout_s=_ANSWER_S)

    def _sha256_there(self, remote: PurePosixPath) -> str | None:
        done = self.run(["sha256sum", str(remote)], timeout_s=_COPY_S)
        return done.stdout.split()[0].lstrip("\\") if done.returncode == 0 else None

    def facts(self) -> Description:
        where = ["--cloud", self.cloud] if self.cloud else []
        hint = "is the deployment complete? run again, or `orch teardown` first"
        return described(self, self.name, hint, *where, timeout_s=_COPY_S)
