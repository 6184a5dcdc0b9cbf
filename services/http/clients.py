"""The HTTP clients that every protocol carried by HTTP can be asked with. Light: no client library is imported here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from services.harness.client_api import AsyncConnection, AsyncDialer, CallFailed, CallSpec, Connection, Dialer
from services.harness.spec import Client
from services.http.codec import Route

SEQUENTIAL = "pycurl"
CONCURRENT = "aiohttp"

_COMMON: Mapping[str, str] = {
    "HTTP": "1.1; Accept-Encoding: identity, User-Agent: orch",
    "TCP_NODELAY": "on",
    "proxies, redirects, retries": "none; a kept connection that is gone is an error, not opened anew",
}


_CONNECTIONS: Mapping[str, tuple[str, str]] = {
    "pycurl": ("services.http.pycurl_client", "Connection"),
    "aiohttp": ("services.http.aiohttp_client", "AsyncConnection"),
    "httpx": ("services.http.httpx_client", "Connection"),
    "httpx-async": ("services.http.httpx_client", "AsyncConnection"),
    "requests": ("services.http.requests_client", "Connection"),
    "raw": ("services.http.raw_client", "Connection"),
}


def clients(module: str, *codec: str) -> tuple[Client, ...]:
    """All HTTP clients, for a protocol whose `dialer` is in `module` and which encodes with these packages."""
    return (
        Client(
            name="pycurl",
            module=module,
            style="sync",
            packages=("pycurl", *codec),
            settings={**_COMMON, "handle": "one easy handle a connection", "Expect: 100-continue": "off"},
        ),
        Client(
            name="aiohttp",
            module=module,
            style="async",
            packages=("aiohttp", "uvloop", *codec),
            settings={**_COMMON, "session": "one ClientSession a connection"},
        ),
        Client(
            name="httpx",
            module=module,
            style="sync",
            packages=("httpx", "httpcore", "h11", *codec),
            settings={**_COMMON, "session": "one Client a connection, trust_env=False"},
        ),
        Client(
            name="httpx-async",
            module=module,
            style="async",
            packages=("httpx", "httpcore", "h11", "uvloop", *codec),
            settings={**_COMMON, "session": "one AsyncClient a connection, trust_env=False"},
        ),
        Client(
            name="requests",
            module=module,
            style="sync",
            packages=("requests", "urllib3", *codec),
            settings={**_COMMON, "session": "one Session a connection, trust_env=False"},
        ),
        Client(
            name="raw",
            module=module,
            style="sync",
            packages=codec,
            settings={**_COMMON, "library": "none: a socket and just enough HTTP/1.1, the floor among clients"},
        ),
    )


def dial_with(client: Client, route: Route, call: CallSpec) -> Dialer | AsyncDialer:
    """The client's dialer; CallFailed `protocol` when the protocol cannot carry such a request at all."""
    try:
        route.encode(call.example)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise CallFailed("protocol", f"{call.operation} cannot be encoded for {route.path}: {error}") from error
    module, connection = _CONNECTIONS[client.name]
    opens = getattr(importlib.import_module(module), connection)
    return (_AsyncDialer if connection == "AsyncConnection" else _Dialer)(opens, route, call)


@dataclass(frozen=True)
class _Dialer:
    opens: Callable[[Route, CallSpec], Connection]
    route: Route
    call: CallSpec

    def dial(self) -> Connection:
        return self.opens(self.route, self.call)


@dataclass(frozen=True)
class _AsyncDialer:
    opens: Callable[[Route, CallSpec], AsyncConnection]
    route: Route
    call: CallSpec

    async def dial(self) -> AsyncConnection:
        return self.opens(self.route, self.call)
