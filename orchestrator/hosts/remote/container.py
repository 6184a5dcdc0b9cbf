"""Containers as hosts: each command runs in one by `docker exec` or `podman exec`, on a channel as SSH has them."""

from __future__ import annotations

import socket
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass

from orchestrator.errors import on_one_line
from orchestrator.hosts.remote.ssh import NoAnswer

_ANSWER_S = 15.0
_PIECE_BYTES = 65_536
_SIGNALLED = 128  # an exit status above it: a signal ended the command, or the container


@dataclass(frozen=True, kw_only=True)
class Container:
    """How to reach a container that is the host `name`: `engine` is the program that knows its `id`."""

    name: str
    engine: str
    id: str

    def argv(self, *options: str) -> list[str]:
        """What runs a command in it, but for the command."""
        return [self.engine, "exec", "-i", *options, self.id]

    def is_gone(self) -> bool:
        """Whether it was removed, and all that was in it."""
        command = [self.engine, "ps", "--all", "--quiet", "--filter", f"id={self.id}"]
        try:
            return not subprocess.run(command, capture_output=True, check=True, timeout=_ANSWER_S).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            return False

    def connect(self) -> ContainerSession:
        return ContainerSession(self)


class ContainerChannel:
    """A command in a container; the part of `paramiko.Channel` that a host uses."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._program: subprocess.Popen[bytes] | None = None
        self._ends = [socket.socketpair(), socket.socketpair()]  # stdin and stdout, stderr: ours and the program's
        self.status_event = threading.Event()
        self.exit_status = -1  # as of a command that a signal ended

    def exec_command(self, command: str) -> None:
        """Start the command by the container's shell."""
        (_, far), (_, far_err) = self._ends
        with far, far_err:
            self._program = subprocess.Popen(
                [*self._container.argv(), "sh", "-c", command],
                stdin=far.fileno(),
                stdout=far.fileno(),
                stderr=far_err.fileno(),
                start_new_session=True,
            )
        threading.Thread(target=self._await_end, args=(self._program,), daemon=True).start()

    def _await_end(self, program: subprocess.Popen[bytes]) -> None:
        status = program.wait()
        self.exit_status = status if 0 <= status <= _SIGNALLED else -1
        self.status_event.set()

    def settimeout(self, timeout_s: float | None) -> None:
        for ours, _ in self._ends:
            ours.settimeout(timeout_s)

    def sendall(self, data: bytes) -> None:
        self._ends[0][0].sendall(data)

    def shutdown_write(self) -> None:
        self._ends[0][0].shutdown(socket.SHUT_WR)

    def recv(self, size: int) -> bytes:
        return _received(self._ends[0][0], size)

    def recv_stderr(self, size: int) -> bytes:
        return _received(self._ends[1][0], size)

    def close(self) -> None:
        """Hang up: its stdin ends, and whoever reads here reads the end."""
        for ours, _ in self._ends:
            with suppress(OSError):
                ours.shutdown(socket.SHUT_RDWR)
            ours.close()
        if self._program is not None and not self.status_event.is_set():
            self._program.terminate()


def _received(end: socket.socket, size: int) -> bytes:
    try:
        return end.recv(size)
    except (TimeoutError, BlockingIOError) as error:
        raise TimeoutError from error
    except OSError:  # closed, by the other side or by another thread of this one
        return b""


class ContainerSession:
    """A command that waits in a container while it runs: what an open connection is to a host over SSH."""

    def __init__(self, container: Container) -> None:
        """Connect; NoAnswer where it runs no command."""
        self._container = container
        self._waiting = ContainerChannel(container)
        try:
            self._waiting.exec_command("exec cat")
            self._waiting.settimeout(_ANSWER_S)
            with suppress(OSError):  # one that has ended says why
                self._waiting.sendall(b"\n")
            if self._waiting.recv(1) != b"\n":
                raise EOFError(self._waiting.recv_stderr(_PIECE_BYTES).decode(errors="replace"))
        except (OSError, EOFError) as error:
            self._waiting.close()
            raise NoAnswer(
                f"{container.name} runs no command: {on_one_line(str(error), 300) or 'no answer'}",
                hint=f"`{container.engine} ps` shows which containers run",
            ) from error

    @property
    def is_open(self) -> bool:
        return not self._waiting.status_event.is_set()

    def channel(self, timeout_s: float) -> ContainerChannel:  # noqa: ARG002 - nothing is waited for
        if not self.is_open:
            raise EOFError("the container has stopped")
        return ContainerChannel(self._container)

    def close(self) -> None:
        self._waiting.close()
