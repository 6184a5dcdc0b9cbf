"""Connecting: what a failure means, that nobody's key is taken on sight, and that a booting host is waited for."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest

from orchestrator.errors import ProvisionError
from orchestrator.hosts.remote import ssh
from orchestrator.hosts.remote.ssh import Access, NoAnswer, Proxy, Session, WrongKey, await_session, ensure_key
from tests.support.wire import refusing_port


class Server(paramiko.ServerInterface):
    """Lets one key in."""

    def __init__(self, key: paramiko.PKey) -> None:
        self._key = key

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        return paramiko.AUTH_SUCCESSFUL if key == self._key else paramiko.AUTH_FAILED

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A port of the loopback, where an SSH server answers as long as the test lasts."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def refusing() -> Iterator[int]:
    with refusing_port() as port:
        yield port


@pytest.fixture
def access(tmp_path: Path, listener: socket.socket) -> Access:
    """A way to that server, which is not on port 22; it is known by an alias."""
    ensure_key(tmp_path / "user", "orch")
    public = " ".join(ensure_key(tmp_path / "host", "host").split()[:2])
    (tmp_path / "known_hosts").write_text(f"orch-o1-a {public}\n")
    serve(listener, tmp_path / "host", tmp_path / "user")
    return Access(
        name="a",
        alias="orch-o1-a",
        host_name="127.0.0.1",
        user="root",
        port=listener.getsockname()[1],
        proxy_command=None,
        identity=tmp_path / "user",
        known_hosts=tmp_path / "known_hosts",
    )


def serve(listener: socket.socket, host_key: Path, user_key: Path) -> None:
    def answer() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return  # the test is over
            transport = paramiko.Transport(peer)
            transport.add_server_key(paramiko.Ed25519Key.from_private_key_file(str(host_key)))
            try:
                transport.start_server(server=Server(paramiko.Ed25519Key.from_private_key_file(str(user_key))))
            except (paramiko.SSHException, EOFError, OSError):
                continue  # the client hung up, as it should on a wrong key

    threading.Thread(target=answer, daemon=True).start()


def test_a_key_that_nobody_gave_it_is_refused(access: Access, tmp_path: Path) -> None:
    public = " ".join(ensure_key(tmp_path / "other", "other").split()[:2])
    (tmp_path / "known_hosts").write_text(f"orch-o1-a {public}\n")
    with pytest.raises(WrongKey):
        Session(access)
    (tmp_path / "known_hosts").write_text("")
    with pytest.raises(WrongKey):
        Session(access)


def test_a_booting_host_is_asked_again_until_it_shows_our_key(
    access: Access, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = (tmp_path / "known_hosts").read_text()
    (tmp_path / "known_hosts").write_text(f"orch-o1-a {' '.join(ensure_key(tmp_path / 'boot', 'x').split()[:2])}\n")
    waits = []

    def boot(seconds: float) -> None:
        waits.append(seconds)
        (tmp_path / "known_hosts").write_text(known)

    monkeypatch.setattr(ssh.time, "sleep", boot)
    await_session(access, patience_s=60.0).close()
    assert len(waits) == 1


def test_a_connection_that_is_closed_is_tried_again_within_its_time_limit(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy SSH server accepts a connection and closes it before its banner."""
    waits = []
    with socket.create_server(("127.0.0.1", 0)) as closing:

        def close() -> None:
            with suppress(OSError):
                closing.accept()[0].close()

        threading.Thread(target=close, daemon=True).start()
        original = ssh.Session
        ports = iter([closing.getsockname()[1]])
        monkeypatch.setattr(ssh, "Session", lambda way: original(replace(way, port=next(ports, access.port))))
        monkeypatch.setattr(ssh.time, "sleep", waits.append)
        await_session(access, patience_s=30.0).close()
    assert len(waits) == 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("account", "does not let user root in"),
        ("key", "its SSH host key is not"),
        ("server", "does not answer on SSH"),
    ],
)
def test_a_boot_that_takes_too_long_says_how_the_last_attempt_failed(
    access: Access, tmp_path: Path, refusing: int, fault: str, words: str
) -> None:
    if fault == "account":
        ensure_key(tmp_path / "other", "other")
        access = replace(access, identity=tmp_path / "other")
    elif fault == "key":
        (tmp_path / "known_hosts").write_text("")
    else:
        access = replace(access, port=refusing)
    with pytest.raises(ProvisionError, match=rf"a has not finished its first boot after 0\.1 s: .*{words}") as caught:
        await_session(access, patience_s=0.1)
    assert "ORCH_CONTROLLER_CIDR" in (caught.value.hint or "")


def test_a_proxy_that_ends_is_the_end_of_the_connection_and_its_words_are_kept(access: Access) -> None:
    script = "import sys; sys.exit('lab host orch-o1-a cannot be reached')"
    with pytest.raises(NoAnswer, match="lab host orch-o1-a cannot be reached"):
        Session(replace(access, proxy_command=f'{sys.executable} -c "{script}"'))
    with pytest.raises(NoAnswer, match="cannot be reached"):
        Session(replace(access, proxy_command="/nowhere/program"))


def test_a_proxy_that_does_not_hang_up_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh, "_FAREWELL_S", 0.1)
    proxy = Proxy(f'{sys.executable} -c "import time; time.sleep(600)"')
    proxy.close()
    assert proxy._program.returncode == -9
