"""requests, with a Session."""

from __future__ import annotations

from http.client import BadStatusLine, RemoteDisconnected
from typing import Any

import requests
import urllib3.connection
from requests.adapters import HTTPAdapter
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import MaxRetryError, NewConnectionError, ReadTimeoutError

from services.python.load.client import CallFailed, CallSpec, Request
from services.python.load.handshake import no_connection, tls_failure
from services.python.load.tls import ClientTls
from services.python.transports.http.route import GONE, HttpConnection, HttpReply, Route


class _Gone(OSError):
    """A second socket was wanted."""


class _OneSocket(urllib3.connection.HTTPConnection):
    """urllib3 opens a kept connection anew when it finds it dropped; this one says so instead."""

    _opened = False

    def connect(self) -> None:
        if self._opened:
            raise _Gone(GONE)
        self._opened = True
        super().connect()

    def getresponse(self) -> Any:
        """The reply; one that announces the connection's end lets the next request open another."""
        response: Any = super().getresponse()
        self._opened = not response._original_response.will_close
        return response


class _OneSecuredSocket(_OneSocket, urllib3.connection.HTTPSConnection):
    """The same with TLS."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _OneSocket


class _SecuredPool(HTTPSConnectionPool):
    ConnectionCls = _OneSecuredSocket


class _Adapter(HTTPAdapter):
    def __init__(self, tls: ClientTls | None) -> None:
        self._context = None if tls is None else tls.context
        super().__init__(pool_connections=1, pool_maxsize=1, max_retries=0)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any) -> None:
        if self._context is not None:
            pool_kwargs["ssl_context"] = self._context
        super().init_poolmanager(connections, maxsize, block, **pool_kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecuredPool}

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Nothing beside the context: requests would add certifi's authorities to it, for each connection anew."""

    def close(self) -> None:
        # urllib3 leaves an open socket to the garbage collector, which a measuring requester has switched off.
        pools = self.poolmanager.pools
        for key in pools.keys():  # noqa: SIM118 - it cannot be iterated over
            pools[key].close()
        super().close()


class Connection(HttpConnection):
    """One Session, on one socket, which the first call opens."""

    unpacks = True

    def __init__(self, route: Route, call: CallSpec) -> None:
        super().__init__(route, call)
        self._timeout_s = call.timeout_s
        self._failed = False
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers.update(route.fields())
        self._session.hooks["response"] = [
            lambda response, **_named: route.require_plain(response.headers.get("Content-Encoding"))
        ]
        self._session.mount(f"{call.http}://", _Adapter(call.tls))

    def call(self, request: Request) -> HttpReply:
        if self._failed:
            raise CallFailed("closed", GONE)
        body = self._encode(request)
        method, url, fields = self._method, self._url, None
        if self._varies is not None:
            method, path, fields = self._varies(request)
            url = self._server + path
        try:
            response = self._session.request(
                method, url, data=body or None, headers=fields, timeout=self._timeout_s, allow_redirects=False
            )
        except (requests.RequestException, _Gone) as error:
            self._failed = True
            raise _failure(error) from error
        except CallFailed:
            self._failed = True
            raise
        self._head, reply = response.headers, response.content
        raw: Any = response.raw
        self.is_over |= raw._original_response.will_close
        received = raw.tell() if self._route.unpacks else len(reply)
        if (coding := self._route.coding) is not None:
            self._route.require_coding(coding, response.headers.get("Content-Encoding"))
            received = raw.tell()
        else:
            self.body = reply
        if self._has_type:
            self._route.require_type(response.status_code, response.headers.get("Content-Type"))
        return self._read(response.status_code, reply), len(body), received

    def close(self) -> None:
        self._session.close()


def _failure(error: Exception) -> CallFailed:
    cause = error.args[0] if error.args else error
    if isinstance(cause, MaxRetryError) and cause.reason is not None:
        cause = cause.reason
    inner = cause.args[1] if isinstance(cause, Exception) and len(cause.args) > 1 else cause
    if isinstance(error, requests.Timeout) or isinstance(cause, ReadTimeoutError):
        return CallFailed("timeout", str(error))
    if isinstance(cause, NewConnectionError):
        return no_connection(error)
    if isinstance(error, requests.exceptions.SSLError) and (failure := tls_failure(error)):
        return failure
    if isinstance(inner, BadStatusLine) and not isinstance(inner, RemoteDisconnected):
        return CallFailed("undecodable", str(error))
    return CallFailed("closed", str(error))
