"""TLS as the connections of one trial have it: whom every client verifies the responder by, and what was negotiated.

Clients on Python's `ssl` take `context`, which notes each handshake by itself; the others say what their library tells.
`ssl` is imported by those who need it alone: a trial without TLS does not pay for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from services.python.contract.limits import RESUMED, SESSION
from services.python.contract.lines import Trial
from services.python.contract.requester_lines import Negotiated
from services.python.operations.files import read_authority

if TYPE_CHECKING:
    import ssl


class ClientTls:
    """TLS 1.3 and nothing older, the responder verified against one authority and by the address that is asked.

    `authority`: its certificate, PEM; `path`: the file it lies in. With `resumes` a connection resumes the session of an
    earlier one. `certificate`: the PEM files of the requester's own certificate and key.
    """

    def __init__(self, path: str, authority: bytes, *, resumes: bool = False, certificate: Sequence[str] = ()) -> None:
        self.path = path
        self.authority = authority
        self.certificate = tuple(certificate)
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

        try:
            context = client_context(self.authority, self.note, resumes=self.resumes)
            if self.certificate:
                context.load_cert_chain(*self.certificate)
            return context
        except OSError as error:
            raise ValueError(
                f"tls: {' and '.join(self.certificate)} are no certificate with its key: {error}"
            ) from error
        except ValueError as error:
            raise ValueError(f"tls: {self.path} holds no certificate of an authority: {error}") from error

    def note(self, version: str | None, cipher: str | None, is_resumed: bool) -> None:
        with self._lock:
            self.tell(version, cipher, is_resumed)
            self._handshakes += 1
            self._resumed += is_resumed

    def tell(self, version: str | None, cipher: str | None, is_resumed: bool) -> None:
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
        versions, ciphers = (sorted({str(pair[at]) for pair in self._seen if pair[at]}) for at in (0, 1))
        is_counted = self._handshakes > 0
        return Negotiated(
            version=", ".join(versions) or None,
            cipher=", ".join(ciphers) or None,
            handshakes=self._handshakes if is_counted else None,
            resumed=self._resumed if is_counted else None,
        )


def client_tls(trial: Trial, certificate: Sequence[str] = ()) -> ClientTls | None:
    """What a trial's connections are opened with, None for plain ones; ValueError for what cannot be."""
    resumes, authority = trial.knobs.get(SESSION) == RESUMED, trial.tls
    if authority is None:
        return None
    if resumes and trial.connection != "per-request":
        raise ValueError(f"{SESSION}: {RESUMED} with kept connections, whose one handshake has nothing to resume")
    content = read_authority(authority)
    made = ClientTls(authority.path, content, resumes=resumes, certificate=certificate)
    _ = (
        made.context
    )  # also where the client has a TLS of its own: what is no certificate is told before anybody is asked
    return made
