"""TLS as the connections of one trial have it: every client verifies the responder, and what was negotiated is noted.

Clients on Python's `ssl` take `context`, which notes each handshake by itself; the others say what their library tells.
`ssl` is imported by those who need it alone: a trial without TLS does not pay for it.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from services.python.contract.limits import RESUMED, SESSION
from services.python.contract.requester_lines import Negotiated
from services.python.load.client import CallFailed
from services.python.operations.files import read_authority

if TYPE_CHECKING:
    import ssl

    from services.python.contract.lines import Trial


class ClientTls:
    """TLS 1.3 and nothing older, the responder verified against one authority and by the address that is asked.

    `authority`: its certificate, PEM; `path`: the file it lies in. With `resumes` a connection resumes the session of an
    earlier one.
    """

    def __init__(self, path: str, authority: bytes, *, resumes: bool = False) -> None:
        self.path = path
        self.authority = authority
        self.resumes = resumes
        self.has_resumed = False
        self._lock = threading.Lock()
        self._seen: dict[tuple[str | None, str | None], None] = {}
        self._handshakes = self._resumed = 0
        self._kept: Any = None

    @cached_property
    def context(self) -> ssl.SSLContext:
        """For every client on Python's `ssl`; ValueError where the authority is no certificate."""
        from services.python.load.tls_context import client_context

        return client_context(self)

    def wrap(self, connected: socket.socket, host: str, timeout_s: float) -> ssl.SSLSocket:
        """The socket after its handshake, with a time-out for each wait; CallFailed, and the socket closed, without one.

        The kernel's own time-outs end nothing here: a read that they cut short is begun again by `ssl`.
        """
        connected.settimeout(timeout_s)
        try:
            return self.context.wrap_socket(connected, server_hostname=host)
        except TimeoutError as error:
            raise CallFailed("timeout", "no TLS handshake in time") from error
        except OSError as error:
            raise tls_failure(error) or CallFailed("closed", str(error)) from error
        finally:
            connected.close()  # what was wrapped is another object by now

    def note(self, version: str | None, cipher: str | None, *, is_resumed: bool) -> None:
        """Take down one handshake."""
        with self._lock:
            self.tell(version, cipher, is_resumed=is_resumed)
            self._handshakes += 1
            self._resumed += is_resumed

    def tell(self, version: str | None, cipher: str | None, *, is_resumed: bool) -> None:
        """What a library says of a handshake that does not say it of each."""
        self._seen[version, cipher] = None
        self.has_resumed |= is_resumed

    @property
    def is_told(self) -> bool:
        """Whether all is known that a library can be asked for once."""
        return bool(self._seen) and (self.has_resumed or not self.resumes)

    def kept(self, make: Callable[[], Any]) -> Any:
        """What a library keeps sessions in, made once for all connections."""
        with self._lock:
            self._kept = make() if self._kept is None else self._kept
            return self._kept

    def negotiated(self) -> Negotiated:
        """Over all connections so far; null where the library does not tell."""
        versions, ciphers = (sorted({str(pair[at]) for pair in self._seen if pair[at]}) for at in (0, 1))
        is_counted = self._handshakes > 0
        return Negotiated(
            version=", ".join(versions) or None,
            cipher=", ".join(ciphers) or None,
            handshakes=self._handshakes if is_counted else None,
            resumed=self._resumed if is_counted else None,
        )


def client_tls(trial: Trial) -> ClientTls | None:
    """What a trial's connections are opened with, None for plain ones; ValueError for what cannot be."""
    resumes, authority = trial.knobs.get(SESSION) == RESUMED, trial.tls
    if authority is None:
        return None
    if resumes and trial.connection != "per-request":
        raise ValueError(f"{SESSION}: {RESUMED} with kept connections, whose one handshake has nothing to resume")
    made = ClientTls(authority.path, read_authority(authority), resumes=resumes)
    _ = (
        made.context
    )  # also where the client has a TLS of its own: what is no certificate is told before anybody is asked
    return made


def tls_failure(error: BaseException) -> CallFailed | None:
    """A handshake that failed, from whatever error it became on its way up; None for everything else."""
    ssl = sys.modules.get("ssl")
    if ssl is None:
        return None
    for cause in _causes(error):
        # aiohttp has errors that are of this class and have nothing of it but their cause.
        if isinstance(cause, ssl.SSLCertVerificationError) and hasattr(cause, "verify_message"):
            return refused(f"certificate verify failed: {cause.verify_message}")
        if type(cause) is ssl.SSLError:
            return refused(str(cause))
    return None


def refused(words: str) -> CallFailed:
    """How a trial says that TLS, and nothing else, kept it from a connection."""
    return CallFailed("refused", f"tls: {words}")


def _causes(error: object) -> Iterator[BaseException]:
    """An error and all that it came from: libraries chain causes, or hand them on as arguments."""
    seen: list[object] = []
    found = [error]
    while found:
        cause = found.pop(0)
        if isinstance(cause, BaseException) and not any(cause is known for known in seen):
            seen.append(cause)
            yield cause
            found += [cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args]
