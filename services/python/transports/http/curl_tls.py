"""libcurl's own TLS: how it is told whom to trust, and what it says of a handshake."""

from __future__ import annotations

import re
from typing import Any

import pycurl

from services.python.load.client import CallFailed
from services.python.load.handshake import refused
from services.python.load.tls import ClientTls

_NEGOTIATED = re.compile(r"SSL connection using (\S+) / (\S+)")
_RESUMED = "reusing session"
_FAILURES = (
    pycurl.E_PEER_FAILED_VERIFICATION,
    pycurl.E_SSL_CONNECT_ERROR,
    pycurl.E_SSL_CACERT_BADFILE,
    pycurl.E_SSL_CERTPROBLEM,
    pycurl.E_SSL_CIPHER,
    pycurl.E_SSL_ISSUER_ERROR,
)


def secure(curl: Any, tls: ClientTls) -> None:
    """Have a handle verify chain and address, by TLS 1.3 alone; sessions are kept where they are to be resumed.

    libcurl says what was negotiated in its log alone, which is switched on until that is known: for the check of a trial.
    """
    curl.setopt(pycurl.CAINFO, tls.path)
    if tls.certificate:
        curl.setopt(pycurl.SSLCERT, tls.certificate[0])
        curl.setopt(pycurl.SSLKEY, tls.certificate[1])
    curl.setopt(pycurl.SSL_VERIFYPEER, 1)
    curl.setopt(pycurl.SSL_VERIFYHOST, 2)
    curl.setopt(pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_3)
    curl.setopt(pycurl.SSL_SESSIONID_CACHE, int(tls.resumes))
    if tls.resumes:
        curl.setopt(pycurl.SHARE, tls.kept(_sessions))
    if not tls.is_told:
        curl.setopt(pycurl.VERBOSE, 1)
        curl.setopt(pycurl.DEBUGFUNCTION, _Log(tls).take)


def tls_failure(code: int, words: str) -> CallFailed | None:
    """A handshake that failed, by libcurl's result code; None for everything else."""
    return refused(words) if code in _FAILURES else None


def _sessions() -> Any:
    share = pycurl.CurlShare()
    share.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_SSL_SESSION)
    return share


class _Log:
    """What libcurl writes about one connection."""

    def __init__(self, tls: ClientTls) -> None:
        self._tls = tls
        self._is_resumed = False

    def take(self, _kind: int, text: bytes) -> None:
        words = text.decode(errors="replace")
        self._is_resumed |= _RESUMED in words
        if negotiated := _NEGOTIATED.search(words):
            self._tls.tell(negotiated[1], negotiated[2], self._is_resumed)
