"""Opens SSH connections with Fabric: to hosts whose keys a deployment knows; every other key is refused."""

from __future__ import annotations

import logging
import os
import shlex
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fabric
import paramiko
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from orchestrator.errors import ProvisionError

logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # a lost connection is ours to tell, in one sentence
_SSH_PORT = 22
_SLOW_HOST_S = 60  # a fifth of a core that is busy takes seconds to say its banner
_CONNECT_S = 15  # to a host that is up
_RETRY_S = 3.0
_FAREWELL_S = 5.0
_KEEPALIVE_S = 10
_SILENCE_MS = 60_000  # unanswered for so long, a connection over the network is lost


@dataclass(frozen=True, kw_only=True)
class Access:
    """How to reach a host: as `ssh` in an output of `infra/`, with the files of its deployment.

    `identity` is the key that orch made for it; None for a host of the person's own, which `own_keys` or those of an agent
    open.
    """

    name: str
    alias: str  # the name that its host key is known by
    host_name: str
    user: str
    port: int
    proxy_command: str | None
    identity: Path | None
    known_hosts: Path
    own_keys: tuple[str, ...] = ()

    def connect(self) -> Session:
        return Session(self)


class Proxy:
    """The program that carries a connection (ssh calls it ProxyCommand), on one end of a socket pair.

    Paramiko's own ProxyCommand never reports the end of its program's output and spins on it instead, and lets the
    terminal's Ctrl-C reach the program.
    """

    def __init__(self, command: str) -> None:
        self.socket, far = socket.socketpair()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        with far:
            self._program = subprocess.Popen(
                shlex.split(command), stdin=far.fileno(), stdout=far.fileno(), stderr=self._said, start_new_session=True
            )

    def words(self) -> str:
        self._said.seek(0)
        return " ".join(self._said.read().decode(errors="replace").split())[-500:]

    def close(self) -> None:
        self.socket.close()
        try:
            self._program.wait(timeout=_FAREWELL_S)
        except subprocess.TimeoutExpired:
            self._program.kill()
            self._program.wait()
        self._said.close()


class Session:
    """An open connection to a host."""

    def __init__(self, access: Access) -> None:
        """Connect; NoAnswer when nobody is there or lets us in, WrongKey when somebody else is there."""
        keys = _keys(access)
        self._proxy = None if access.proxy_command is None else _proxy(access, access.proxy_command)
        self.fabric = _fabric_connection(access, keys, self._proxy)
        try:
            self.fabric.open()
        except Exception as error:  # of any library below; what we know is named, the rest raised as it is
            failure = _failure(access, error, self._proxy)
            self.close()
            if failure is None:
                raise
            raise failure from error
        transport = self.fabric.transport
        transport.set_keepalive(_KEEPALIVE_S)
        if self._proxy is None:
            transport.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _SILENCE_MS)

    @property
    def is_open(self) -> bool:
        return bool(self.fabric.is_connected)

    def channel(self, timeout_s: float) -> paramiko.Channel:
        """A new channel; paramiko's SSHException or EOFError when the connection is lost."""
        return self.fabric.transport.open_session(timeout=timeout_s)

    def close(self) -> None:
        """End the connection, and with it what runs on it. Idempotent."""
        self.fabric.close()
        self.fabric.client.close()  # Fabric closes only what was opened to the end
        if self._proxy is not None:
            self._proxy.close()
            self._proxy = None


class NoAnswer(ProvisionError):
    """Nobody speaks SSH there, or does not let us in; or not yet."""


class WrongKey(ProvisionError):
    """Who answers does not hold the key that we gave the host."""


def await_session(access: Access, patience_s: float) -> Session:
    """Connect, and try again while the host boots: until its SSH server shows the key that we gave it, and lets us in.

    An image's own SSH server may be up before the first boot has installed our host key and made our account. Until
    then its key is refused like any other, and asked again; nothing is sent to it. ProvisionError says how the last attempt
    failed when the patience is used up.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return Session(access)
        except (NoAnswer, WrongKey) as error:
            if time.monotonic() + _RETRY_S > deadline:
                raise ProvisionError(
                    f"{access.name} has not finished its first boot after {patience_s:g} s: {error}",
                    hint="is ORCH_CONTROLLER_CIDR the address that you come from? its serial port says how far it is;"
                    " `orch teardown`, then run again",
                ) from error
        time.sleep(_RETRY_S)  # a booting host gives no signal that could be awaited


def _proxy(access: Access, command: str) -> Proxy:
    try:
        return Proxy(command)
    except OSError as error:
        raise NoAnswer(f"{access.name} cannot be reached: {error}", hint=f"its proxy command is: {command}") from error


def _keys(access: Access) -> dict[str, Any]:
    """What paramiko logs in with: the key that orch made, or those of the person."""
    path = access.identity
    if path is None:
        return {"key_filename": list(access.own_keys), "allow_agent": True}
    try:
        return {"pkey": paramiko.Ed25519Key.from_private_key_file(str(path)), "allow_agent": False}
    except (OSError, ValueError, paramiko.SSHException) as error:
        raise ProvisionError(
            f"the SSH key {path} cannot be read: {error}", hint="`orch teardown`, then run again"
        ) from error


def _fabric_connection(access: Access, keys: dict[str, Any], proxy: Proxy | None) -> fabric.Connection:
    options: dict[str, Any] = {
        **keys,
        "look_for_keys": False,
        "banner_timeout": _SLOW_HOST_S,
        "auth_timeout": _SLOW_HOST_S,
    }
    if proxy is not None:
        options["sock"] = proxy.socket
    connection = fabric.Connection(
        access.host_name,
        user=access.user,
        port=access.port,
        connect_timeout=_SLOW_HOST_S if access.identity else _CONNECT_S,
        connect_kwargs=options,
        config=fabric.Config(overrides={"load_ssh_configs": False}),
    )
    asked_for = access.host_name if access.port == _SSH_PORT else f"[{access.host_name}]:{access.port}"
    known = paramiko.HostKeys(str(access.known_hosts)).lookup(access.alias) or {}
    for kind, key in known.items():
        connection.client.get_host_keys().add(asked_for, kind, key)
    connection.client.set_missing_host_key_policy(paramiko.RejectPolicy())
    return connection


def _failure(access: Access, error: Exception, proxy: Proxy | None) -> ProvisionError | None:
    """What a failed attempt to connect means to the user; None when it means nothing that we know."""
    is_own = access.identity is None
    if isinstance(error, paramiko.BadHostKeyException) or "not found in known_hosts" in str(error):
        return WrongKey(
            f"{access.name} was refused: its SSH host key is not the one in known_hosts",
            hint="was it installed anew? compare the fingerprints, then `ssh-keygen -R` removes the old key"
            if is_own
            else "was its address given to another machine? `orch teardown`, then run again",
        )
    if isinstance(error, paramiko.AuthenticationException) or (is_own and "authentication methods" in str(error)):
        return NoAnswer(
            f"{access.name} does not let user {access.user} in without a password: {error}",
            hint="a key must do: `ssh-copy-id` puts yours there, `ssh-add` opens one that has a passphrase"
            if is_own
            else f"when the deployment's key {access.identity} is damaged or lost: `orch teardown`, run again",
        )
    if isinstance(error, paramiko.SSHException | EOFError | OSError):
        words = (proxy and proxy.words()) or str(error) or "the connection was closed"
        return NoAnswer(f"{access.name} does not answer on SSH: {words}", hint=f"is {access.host_name} up?")
    return None


def ensure_key(path: Path, comment: str) -> str:
    """The public half ("ssh-ed25519 AAAA... comment") of the key pair at `path`, made (mode 0600) if absent."""
    public = path.with_suffix(".pub")
    if not public.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        key = Ed25519PrivateKey.generate()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
        line = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
        public.write_text(f"{line} {comment}\n")
    return public.read_text().strip()
