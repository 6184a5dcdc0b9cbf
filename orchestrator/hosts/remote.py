"""Hosts reached over SSH: Fabric connects, and starts processes of the contract on channels of that connection.

A process ends with the channel that started it, because a contract process ends when its stdin closes. Host keys were
made by us (`hosts.keys`), and every other key is refused.
"""

from __future__ import annotations

import hashlib
import json
import logging
import queue
import shlex
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import fabric
import paramiko

from orchestrator.errors import ProvisionError
from orchestrator.hosts.base import Completed, HostLost

ROOT = PurePosixPath("/opt/orch")
logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # a lost connection is ours to tell, in one sentence
_WORDS = 4_000  # characters of stderr that are kept
_PID = "orch-pid "


@dataclass(frozen=True, kw_only=True)
class Access:
    """How to reach a host: as `ssh` in an output of `infra/`, with the files of its deployment."""

    alias: str
    host_name: str
    user: str
    port: int
    proxy_command: str | None
    identity: Path
    known_hosts: Path


def connect(access: Access, timeout_s: float = 30.0) -> fabric.Connection:
    """An open connection; ProvisionError when the host does not answer or shows another key than the one we gave it."""
    connection = fabric.Connection(
        access.host_name,
        user=access.user,
        port=access.port,
        gateway=access.proxy_command,
        connect_timeout=int(timeout_s),
        connect_kwargs={"key_filename": str(access.identity), "look_for_keys": False, "allow_agent": False},
        config=fabric.Config(overrides={"load_ssh_configs": False}),
    )
    connection.client.load_host_keys(str(access.known_hosts))
    connection.client.set_missing_host_key_policy(paramiko.RejectPolicy())
    try:
        connection.open()
    except (paramiko.BadHostKeyException, paramiko.SSHException) as error:
        raise ProvisionError(
            f"{access.alias}: SSH was refused: {error}",
            hint="its key must be the one this deployment gave it; was the address reused? `orch teardown`, run again",
        ) from error
    except (OSError, EOFError) as error:
        raise ProvisionError(
            f"{access.alias} does not answer on SSH: {error}", hint="`orch status` shows what is up"
        ) from error
    connection.transport.set_keepalive(10)
    return connection


@contextmanager
def _losing(name: str) -> Iterator[None]:
    """Turns what a broken connection raises into HostLost."""
    try:
        yield
    except (paramiko.SSHException, EOFError, ConnectionError) as error:
        raise HostLost(f"{name}: the connection is lost ({error or type(error).__name__})") from error


class RemoteProcess:
    """A process on its own SSH channel; see `hosts.base.Process`."""

    def __init__(self, channel: paramiko.Channel, command: str, host: RemoteHost) -> None:
        self._channel = channel
        self._host = host
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._stderr = ""
        self._pid: int | None = None
        channel.exec_command(f"echo {_PID}$$ >&2; exec {command}")
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read_out, self._read_err)]
        for reader in self._readers:
            reader.start()

    def _read_out(self) -> None:
        rest = b""
        while data := self._channel.recv(65536):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._lines.put(line.decode(errors="replace"))
        self._lines.put(None)

    def _read_err(self) -> None:
        while data := self._channel.recv_stderr(65536):
            text = self._stderr + data.decode(errors="replace")
            if self._pid is None and text.startswith(_PID) and "\n" in text:
                first, text = text.split("\n", 1)
                self._pid = int(first.removeprefix(_PID))
            self._stderr = text[-_WORDS:]

    def send(self, line: str) -> None:
        """See `Process.send`."""
        try:
            self._channel.sendall(line.encode() + b"\n")
        except OSError as error:
            raise BrokenPipeError(f"{self._host.name}: its process is gone") from error

    def read(self, timeout_s: float) -> str | None:
        """See `Process.read`."""
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise TimeoutError(f"{self._host.name}: nothing said for {timeout_s:g} s") from None
        if line is None:
            self._lines.put(None)
        return line

    def close_stdin(self) -> None:
        """See `Process.close_stdin`."""
        try:
            self._channel.shutdown_write()
        except OSError:
            return  # closed with its connection

    def end(self, grace_s: float = 5.0) -> int:
        """See `Process.end`; -1 where the connection took the status with it."""
        self.close_stdin()
        if not self._channel.status_event.wait(grace_s) and self._pid is not None:
            for name in ("TERM", "KILL"):
                self._host.signal(self._pid, name)
                if self._channel.status_event.wait(grace_s):
                    break
        status = self._channel.recv_exit_status() if self._channel.status_event.is_set() else -1
        self._channel.close()
        for reader in self._readers:
            reader.join(timeout=grace_s)
        return int(status)

    def last_words(self) -> str:
        """See `Process.last_words`."""
        return self._stderr


@dataclass
class RemoteHost:
    """A host of a deployment; see `hosts.base.Host`. Connects at the first use."""

    name: str
    address: str
    zone: str | None
    access: Access
    workspace: PurePosixPath
    _connection: fabric.Connection | None = field(default=None, repr=False)

    @property
    def connection(self) -> fabric.Connection:
        """The open connection; made anew when it was lost."""
        if self._connection is None or not self._connection.is_connected:
            self._connection = connect(self.access)
        return self._connection

    def close(self) -> None:
        """End the connection, and with it everything it started. Idempotent."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def python(self) -> Sequence[str]:
        """See `Host.python`."""
        return ("env", f"PYTHONPATH={ROOT / 'code'}", str(ROOT / "venv" / "bin" / "python"))

    def start(self, argv: Sequence[str], *, cpus: str | None = None) -> RemoteProcess:
        """See `Host.start`."""
        pin = ["taskset", "-c", cpus] if cpus else []
        with _losing(self.name):
            channel = self.connection.transport.open_session(timeout=30)
            return RemoteProcess(channel, shlex.join([*pin, *argv]), self)

    def run(self, argv: Sequence[str], *, timeout_s: float) -> Completed:
        """See `Host.run`; TimeoutError after `timeout_s`."""
        with _losing(self.name):
            channel = self.connection.transport.open_session(timeout=timeout_s)
            channel.settimeout(timeout_s)
            with channel:
                channel.exec_command(shlex.join(argv))
                out = channel.makefile("rb").read().decode(errors="replace")
                err = channel.makefile_stderr("rb").read().decode(errors="replace")
                return Completed(returncode=channel.recv_exit_status(), stdout=out, stderr=err)

    def signal(self, pid: int, name: str) -> None:
        """Send a signal to a process that we started there."""
        self.run(["kill", f"-{name}", str(pid)], timeout_s=30)

    def put(self, local: Path, name: str) -> PurePosixPath:
        """See `Host.put`."""
        remote = self.workspace / name
        wanted = hashlib.sha256(local.read_bytes()).hexdigest()
        if self._sha256(remote) != wanted:
            with _losing(self.name):
                partial = f"{remote}.partial"
                sftp = self.connection.sftp()
                sftp.put(str(local), partial)
                sftp.posix_rename(partial, str(remote))
            if self._sha256(remote) != wanted:
                raise HostLost(f"{self.name}: {remote} arrived damaged; is its disk full?")
        return remote

    def fetch(self, remote: PurePosixPath, local: Path) -> None:
        """See `Host.fetch`; HostLost when what arrived is not what is there."""
        there = self._sha256(remote)
        if there is None:
            raise HostLost(f"{self.name}: {remote} is not there")
        partial = local.with_name(local.name + ".partial")
        with _losing(self.name):
            self.connection.sftp().get(str(remote), str(partial))
        if hashlib.sha256(partial.read_bytes()).hexdigest() != there:
            partial.unlink()
            raise HostLost(f"{self.name}: {remote} arrived damaged")
        partial.replace(local)
        self.connection.sftp().remove(str(remote))

    def _sha256(self, remote: PurePosixPath) -> str | None:
        done = self.run(["sha256sum", str(remote)], timeout_s=120)
        return done.stdout.split()[0].lstrip("\\") if done.returncode == 0 else None

    def facts(self) -> dict[str, Any]:
        """See `Host.facts`; ProvisionError when the host cannot run what was deployed."""
        done = self.run([*self.python(), "-m", "services.harness.describe"], timeout_s=120)
        if done.returncode:
            raise ProvisionError(f"{self.name} cannot describe itself: {done.stderr.strip()[-500:]}")
        facts = json.loads(done.stdout)
        if not isinstance(facts, dict):
            raise ProvisionError(f"{self.name} described itself as {facts!r:.100}")
        return facts
