"""The HTTP clients that every protocol carried by HTTP can be asked with. Light: no client library is imported here."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from services.harness.client_api import AsyncDialer, CallFailed, CallSpec, Dialer
from services.harness.spec import Client
from services.http.codec import Route

SEQUENTIAL = "pycurl"
CONCURRENT = "aiohttp"

_COMMON: Mapping[str, str] = {
    "HTTP": "1.1, Accept-Encoding: identity",
    "TCP_NODELAY": "on",
    "proxies, redirects, retries": "none; a kept connection that is gone is an error, not opened anew",
}

_MODULES: Mapping[str, str] = {
    "pycurl": "services.http.pycurl_client",
    "aiohttp": "services.http.aiohttp_client",
    "httpx": "services.http.httpx_client",
    "httpx-async": "services.http.httpx_async_client",
    "requests": "services.http.requests_client",
    "raw": "services.http.raw_client",
}


def clients(module: str) -> tuple[Client, ...]:
    """All HTTP clients, for a protocol whose `dialer` is in `module`."""
    return (
        Client(
            name="pycurl",
            module=module,
            style="sync",
            packages=("pycurl",),
            settings={**_COMMON, "handle": "one easy handle a connection", "Expect: 100-continue": "off"},
        ),
        Client(
            name="aiohttp",
            module=module,
            style="async",
            packages=("aiohttp", "uvloop"),
            settings={**_COMMON, "session": "one ClientSession a connection"},
        ),
        Client(
            name="httpx",
            module=module,
            style="sync",
            packages=("httpx", "httpcore", "h11"),
            settings={**_COMMON, "session": "one Client a connection, trust_env=False"},
        ),
        Client(
            name="httpx-async",
            module=module,
            style="async",
            packages=("httpx", "httpcore", "h11", "uvloop"),
            settings={**_COMMON, "session": "one AsyncClient a connection, trust_env=False"},
        ),
        Client(
            name="requests",
            module=module,
            style="sync",
            packages=("requests", "urllib3"),
            settings={**_COMMON, "session": "one Session a connection, trust_env=False"},
        ),
        Client(
            name="raw",
            module=module,
            style="sync",
            settings={**_COMMON, "library": "none: a socket and just enough HTTP/1.1, the floor among clients"},
        ),
    )


def dial_with(client: str, route: Route, call: CallSpec) -> Dialer | AsyncDialer:
    """The dialer of the client of that name.

    CallFailed `protocol` when the protocol cannot carry such a request at all, KeyError for an unknown client.
    """
    try:
        route.encode(call.example)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise CallFailed("protocol", f"{call.operation} cannot be encoded for {route.path}: {error}") from error
    dialer: Dialer | AsyncDialer = importlib.import_module(_MODULES[client]).HttpDialer(route, call)
    return dialer
