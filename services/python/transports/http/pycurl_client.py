"""pycurl: libcurl, the thin client that all HTTP protocols are asked with by default."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pycurl

from services.python.load.client import CallFailed, CallSpec, Request
from services.python.load.handshake import no_connection, refused
from services.python.load.tls import ClientTls
from services.python.transports.http import version
from services.python.transports.http.route import GONE, HttpConnection, HttpReply, Route, family_of

_BUFFER_BYTES = 512 * 1024

# libcurl's result codes by what they mean here (libcurl-errors(3)); HTTP/0.9, which libcurl takes any bytes for, is an
# "unsupported protocol" in its words.
_STATUS = {
    pycurl.E_FAILED_INIT: "exhausted",
    pycurl.E_OUT_OF_MEMORY: "exhausted",  # of descriptors: it wakes itself with some
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_GOT_NOTHING: "closed",
    pycurl.E_RECV_ERROR: "closed",
    pycurl.E_SEND_ERROR: "closed",
    pycurl.E_PARTIAL_FILE: "closed",
    pycurl.E_UNSUPPORTED_PROTOCOL: "undecodable",
    pycurl.E_FTP_WEIRD_SERVER_REPLY: "undecodable",
    pycurl.E_BAD_CONTENT_ENCODING: "undecodable",
    pycurl.E_HTTP2: "undecodable",
}

_NO_CONNECTION = (pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_COULDNT_CONNECT)

# By the version that is asked for: what libcurl is told, and what it calls the replies that may come. Over TLS the same is
# negotiated (ALPN), with no other version on offer.
_VERSIONS = {
    version.ONE: (pycurl.CURL_HTTP_VERSION_1_1, (pycurl.CURL_HTTP_VERSION_1_1, pycurl.CURL_HTTP_VERSION_1_0)),
    version.TWO: (pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE, (pycurl.CURL_HTTP_VERSION_2_0,)),
    version.THREE: (getattr(pycurl, "CURL_HTTP_VERSION_3ONLY", 31), (pycurl.CURL_HTTP_VERSION_3,)),
}
_CALLED = {
    pycurl.CURL_HTTP_VERSION_1_0: "HTTP/1.0",
    pycurl.CURL_HTTP_VERSION_1_1: "HTTP/1.1",
    pycurl.CURL_HTTP_VERSION_2_0: "HTTP/2",
    pycurl.CURL_HTTP_VERSION_3: "HTTP/3",
}

_RESOLVED = {
    socket.AF_INET: pycurl.IPRESOLVE_V4,
    socket.AF_INET6: pycurl.IPRESOLVE_V6,
    socket.AF_UNSPEC: pycurl.IPRESOLVE_WHATEVER,
}


@dataclass
class OneSocket:
    """May be opened once, by one handle, or by the first of those that share a connection."""

    is_open: bool = False
    is_gone: bool = False
    refusal: int = 0  # the system's error number, where it gave no socket


class EasyHandle(HttpConnection):
    """What blocking and awaiting have in common: one easy handle, on one socket, which the first call opens.

    libcurl answers a kept connection that died by opening another and sending again; here it may open one only, so
    that the request fails as what it is. Over HTTP/2 it sends nothing again, and opens another after a GOAWAY alone.
    """

    def __init__(self, route: Route, call: CallSpec, one_socket: OneSocket | None = None) -> None:
        super().__init__(route, call)
        self._chunks: list[bytes] = []
        self._socket = one_socket or OneSocket()
        self._curl = curl = pycurl.Curl()
        self._fields: Mapping[str, str] = {}
        self._has_body = False
        self._turn_to(route.method)
        self._coding: str | None = None
        if route.unpacks:
            curl.setopt(pycurl.HEADERFUNCTION, self._note_field)
        curl.setopt(pycurl.URL, self._url)
        curl.setopt(pycurl.IPRESOLVE, _RESOLVED[family_of(call.host)])
        if call.tls is not None:
            _secure(curl, call.tls)
        self._version = version.asked(call.knobs)
        number, self._expected = _VERSIONS[self._version]
        curl.setopt(pycurl.HTTP_VERSION, number)
        curl.setopt(pycurl.HTTPHEADER, _written(route.fields()))
        curl.setopt(pycurl.PROXY, "")
        curl.setopt(pycurl.NOSIGNAL, 1)
        curl.setopt(pycurl.TCP_NODELAY, 1)
        curl.setopt(pycurl.TIMEOUT_MS, max(1, round(call.timeout_s * 1000)))
        curl.setopt(pycurl.BUFFERSIZE, _BUFFER_BYTES)
        curl.setopt(pycurl.UPLOAD_BUFFERSIZE, _BUFFER_BYTES)
        curl.setopt(pycurl.WRITEFUNCTION, self._chunks.append)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_once)

    def _open_once(self, _purpose: int, address: Any) -> Any:
        if self._socket.is_open:
            if self._version != version.TWO:
                return pycurl.SOCKET_BAD
            self.is_over = True  # found before the request was sent: a GOAWAY behind the last reply
        try:
            opened = socket.socket(address.family, address.socktype, address.protocol)
        except OSError as error:
            self._socket.refusal = error.errno or 0
            return pycurl.SOCKET_BAD
        self._socket.is_open = True
        return opened

    def _begin(self, request: Request) -> int:
        body = self._encode(request)
        self._chunks.clear()
        if self._varies is not None:
            method, path, fields = self._varies(request)
            self._coding = None
            if method != self._method or (self._has_body and not body):
                self._turn_to(method)
            self._curl.setopt(pycurl.URL, self._server + path)
            if fields is not self._fields:
                self._fields = fields
                self._curl.setopt(pycurl.HTTPHEADER, _written(fields))
        if body or self._method == "POST":
            self._has_body = True
            self._curl.setopt(pycurl.POSTFIELDS, body)
        return len(body)

    def _turn_to(self, method: str) -> None:
        """Have the next request this method, and no body yet."""
        self._method, self._has_body, curl = method, False, self._curl
        curl.setopt(pycurl.HTTPGET, 1)  # forgets body and method of the one before
        curl.unsetopt(pycurl.CUSTOMREQUEST)
        if method == "HEAD":
            curl.setopt(pycurl.NOBODY, 1)
        elif method != "POST":
            curl.setopt(pycurl.CUSTOMREQUEST, method)

    def _note_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-encoding":
            self._coding = value.strip().decode("latin-1")

    def field(self, name: str) -> str | None:
        return self._coding if name == "content-encoding" else self._curl.getinfo(pycurl.REDIRECT_URL)

    def _may_reopen(self) -> None:
        self.is_over, self._socket.is_open = True, False

    def _failure(self, error: pycurl.error, *, again: bool) -> CallFailed:
        """What a transfer ended with; `again`: on a connection that was open."""
        code, words = error.args
        if code in _NO_CONNECTION:
            number = self._socket.refusal or self._curl.getinfo(pycurl.OS_ERRNO)
            return CallFailed("closed", GONE) if again else no_connection(f"{words}: {os.strerror(number)}")
        return _tls_failure(code, words) or CallFailed(_STATUS.get(code, "protocol"), words)

    def _finish(self, sent: int) -> HttpReply:
        curl = self._curl
        if (came := curl.getinfo(pycurl.INFO_HTTP_VERSION)) not in self._expected:
            raise version.another(self._version, _CALLED.get(came, came))
        self.body = reply = b"".join(self._chunks)
        status = curl.getinfo(pycurl.RESPONSE_CODE)
        if self._has_type:
            self._route.require_type(status, curl.getinfo(pycurl.CONTENT_TYPE))
        return self._read(status, reply), sent, len(reply)


def _written(fields: Mapping[str, str]) -> list[str]:
    return [*(f"{name}: {value}" for name, value in fields.items()), "Expect:"]


class Connection(EasyHandle):
    """An easy handle that blocks."""

    def call(self, request: Request) -> HttpReply:
        sent = self._begin(request)
        again = self._socket.is_open
        try:
            self._curl.perform()
        except pycurl.error as error:
            raise self._failure(error, again=again) from error
        if self._curl.getinfo(pycurl.ACTIVESOCKET) < 0:
            self._may_reopen()
        return self._finish(sent)

    def close(self) -> None:
        self._curl.close()


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


def _secure(curl: Any, tls: ClientTls) -> None:
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


def _tls_failure(code: int, words: str) -> CallFailed | None:
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
