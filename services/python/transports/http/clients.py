"""The HTTP clients that every protocol carried by HTTP can be asked with. Light: no client library is imported here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from services.python.codecs.coding import coding
from services.python.contract.knobs import CONNECTIONS, FETCH
from services.python.contract.offers import TLS_SETTINGS, Client
from services.python.contract.strict import Part, part
from services.python.load.client import AsyncConnection, AsyncDialer, CallFailed, CallSpec, Dialer, Dialing
from services.python.transports.http import version
from services.python.transports.http.route import Route

# At any concurrency: beyond one in flight a thread each, none of which holds the interpreter while it waits.
DEFAULT = "pycurl"

_COMMON: Mapping[str, str] = {
    "HTTP": "Accept-Encoding: identity (what is asked for where bodies are compressed), User-Agent: orch",
    "TCP_NODELAY": "on",
    "proxies, redirects, retries": "none; a kept connection that is gone unannounced is an error",
    **TLS_SETTINGS,
}
_WHOLE_CALL = "of the whole call"
_EACH_WAIT = "of each wait for the socket"
_IN_PYTHON = "writes and parses HTTP in Python"
_ALONE: Mapping[str, str] = {
    CONNECTIONS: "it sends one request at a time on a connection; pycurl-multi sends several over HTTP/2 (`http: 2`)",
    FETCH: "it asks one operation on a connection; pycurl-multi asks several",
}
_SHARING: Mapping[str, str] = {
    f"{FETCH}: in-a-row, at-once": "easy handles of one multi handle with one connection; at once over HTTP/1.1 each"
    " has a multi handle and a connection of its own",
    f"{CONNECTIONS}: NUMBER": "as many multi handles with one HTTP/2 connection each; requests wait for it to be open",
}


@part
class _Library(Part):
    """A client library; `module` has a class `Connection`, or `AsyncConnection` where its calls are awaited."""

    name: str
    module: str
    style: Literal["sync", "async"] = "sync"
    packages: tuple[str, ...]
    adds: str = ""
    opens: str
    timeout: str
    refuses: Mapping[str, str] = field(default_factory=dict)
    shares: bool = False  # several requests in flight can have one HTTP/2 connection


_LIBRARIES = (
    _Library(
        name="pycurl",
        module="services.python.transports.http.pycurl_client",
        packages=("pycurl",),
        refuses=version.own_window("libcurl"),
        opens="an easy handle; Expect: 100-continue off",
        timeout=_WHOLE_CALL,
    ),
    _Library(
        name="pycurl-multi",
        module="services.python.transports.http.pycurl_multi_client",
        style="async",
        packages=("pycurl", "uvloop"),
        refuses=version.own_window("libcurl"),
        opens="an easy handle in a multi handle of its own, all on one event loop; Expect: 100-continue off",
        timeout=_WHOLE_CALL,
        shares=True,
    ),
    _Library(
        name="aiohttp",
        module="services.python.transports.http.aiohttp_client",
        style="async",
        packages=("aiohttp", "uvloop"),
        opens="a ClientSession",
        timeout=_WHOLE_CALL,
        refuses=version.one_alone("aiohttp"),
    ),
    _Library(
        name="httpx",
        module="services.python.transports.http.httpx_client",
        packages=("httpx", "httpcore", "h11", "h2"),
        adds=_IN_PYTHON,
        refuses=version.own_window("httpx"),
        opens="a Client, trust_env=False",
        timeout=_EACH_WAIT,
    ),
    _Library(
        name="httpx-async",
        module="services.python.transports.http.httpx_client",
        style="async",
        packages=("httpx", "httpcore", "h11", "h2", "uvloop"),
        adds=_IN_PYTHON,
        refuses=version.own_window("httpx"),
        opens="an AsyncClient, trust_env=False",
        timeout=_EACH_WAIT,
    ),
    _Library(
        name="requests",
        module="services.python.transports.http.requests_client",
        packages=("requests", "urllib3"),
        adds=_IN_PYTHON,
        opens="a Session, trust_env=False",
        timeout=_EACH_WAIT,
        refuses={
            **version.one_alone("requests"),
            "compression: zstd": "requests unpacks it with no library that is here",
        },
    ),
    _Library(
        name="raw",
        module="services.python.transports.http.raw_client",
        packages=(),
        opens="a socket that speaks just enough HTTP/1.1: the floor among clients",
        timeout=_EACH_WAIT,
        refuses=version.one_alone("a bare socket"),
    ),
)


def clients(module: str, *packages: str, codec: str = "") -> tuple[Client, ...]:
    """All HTTP clients, for a protocol whose `dialer` is in `module`; `packages` are those of its codec."""
    return tuple(
        Client(
            name=library.name,
            module=module,
            codec=codec,
            style=library.style,
            loads=(library.module,),
            adds=library.adds,
            packages=(*library.packages, *packages),
            refuses={**library.refuses, **({} if library.shares else _ALONE)},
            settings={
                **_COMMON,
                **version.settings(library.refuses),
                **(_SHARING if library.shares else {}),
                "a connection is": library.opens,
                "time-out": library.timeout,
            },
        )
        for library in _LIBRARIES
    )


def dial_with(client: Client, route: Route, call: CallSpec) -> Dialer | AsyncDialer:
    """The client's dialer; CallFailed `protocol` when the protocol cannot carry such a request at all."""
    try:
        route.encode(call.example)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise CallFailed("protocol", f"{call.operation} cannot be encoded for {route.path}: {error}") from error
    if (compressing := coding(call.knobs)) is not None:
        route = route.compressed(compressing)
    (name,) = (library.module for library in _LIBRARIES if library.name == client.name)
    module = importlib.import_module(name)
    if client.style == "async":
        opens = module.sharing(call) if CONNECTIONS in call.knobs else module.AsyncConnection
        return _AsyncDialer(opens, route, call, getattr(module, "on_one_connection", None))
    return Dialing(partial(module.Connection, route, call))


@dataclass(frozen=True)
class _AsyncDialer:
    opens: Callable[[Route, CallSpec], AsyncConnection]
    route: Route
    call: CallSpec
    on_one: Callable[[], Callable[[Route, CallSpec], AsyncConnection]] | None = None

    async def dial(self) -> AsyncConnection:
        return self.opens(self.route, self.call)

    def one_connection(self) -> Any:
        if self.on_one is None:
            raise CallFailed("protocol", "this client asks one operation on a connection")
        return self.on_one()

    async def dial_on(self, one: Any) -> AsyncConnection:
        opened: AsyncConnection = one(self.route, self.call)
        return opened
