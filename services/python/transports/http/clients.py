"""The HTTP clients that every protocol carried by HTTP can be asked with. Light: no client library is imported here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from services.python.codecs.coding import coding
from services.python.contract.knobs import CONNECTIONS, FETCH
from services.python.contract.offers import TLS_SETTINGS, Client
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


def _client(
    name: str,
    opens: str,
    timeout: str,
    *packages: str,
    style: Literal["sync", "async"] = "sync",
    adds: str = "",
    refuses: Mapping[str, str],
    library: str = "",
) -> Client:
    """A client library; its module has a class `Connection`, or `AsyncConnection` where its calls are awaited."""
    shares = name == "pycurl-multi"  # several requests in flight can have one HTTP/2 connection
    return Client(
        name=name,
        module="",
        style=style,
        loads=(f"services.python.transports.http.{library or name}_client",),
        adds=adds,
        packages=(*packages, *(("uvloop",) if style == "async" else ())),
        refuses={**refuses, **({} if shares else _ALONE)},
        settings={
            **_COMMON,
            **version.settings(refuses),
            **(_SHARING if shares else {}),
            "a connection is": opens,
            "time-out": timeout,
        },
    )


_CURL, _HTTPX = version.own_window("libcurl"), version.own_window("httpx")
_REQUESTS = {**version.one_alone("requests"), "compression: zstd": "requests unpacks it with no library that is here"}
_MULTI = "an easy handle in a multi handle of its own, all on one event loop; Expect: 100-continue off"
_RAW = "a socket that speaks just enough HTTP/1.1: the floor among clients"
_OF_HTTPX = ("httpx", "httpcore", "h11", "h2")
_OPENS, _ASYNC = "a Client, trust_env=False", "an AsyncClient, trust_env=False"

_LIBRARIES = (
    _client("pycurl", "an easy handle; Expect: 100-continue off", _WHOLE_CALL, "pycurl", refuses=_CURL),
    _client("pycurl-multi", _MULTI, _WHOLE_CALL, "pycurl", style="async", refuses=_CURL, library="pycurl_multi"),
    _client("aiohttp", "a ClientSession", _WHOLE_CALL, "aiohttp", style="async", refuses=version.one_alone("aiohttp")),
    _client("httpx", _OPENS, _EACH_WAIT, *_OF_HTTPX, adds=_IN_PYTHON, refuses=_HTTPX),
    _client(
        "httpx-async", _ASYNC, _EACH_WAIT, *_OF_HTTPX, style="async", adds=_IN_PYTHON, refuses=_HTTPX, library="httpx"
    ),
    _client(
        "requests", "a Session, trust_env=False", _EACH_WAIT, "requests", "urllib3", adds=_IN_PYTHON, refuses=_REQUESTS
    ),
    _client("raw", _RAW, _EACH_WAIT, refuses=version.one_alone("a bare socket")),
)


def clients(module: str, *packages: str, codec: str = "") -> tuple[Client, ...]:
    """All HTTP clients, for a protocol whose `dialer` is in `module`; `packages` are those of its codec."""
    return tuple(
        replace(library, module=module, codec=codec, packages=(*library.packages, *packages)) for library in _LIBRARIES
    )


def dial_with(client: Client, route: Route, call: CallSpec) -> Dialer | AsyncDialer:
    """The client's dialer; CallFailed `protocol` when the protocol cannot carry such a request at all."""
    try:
        route.encode(call.example)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise CallFailed("protocol", f"{call.operation} cannot be encoded for {route.path}: {error}") from error
    if (compressing := coding(call.knobs)) is not None:
        route = route.compressed(compressing)
    (module,) = map(importlib.import_module, client.loads)
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
