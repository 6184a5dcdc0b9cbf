"""libcurl's multi interface, awaited: many requests in flight on one event loop, without a thread for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pycurl

from services.python.contract.knobs import CONNECTIONS
from services.python.load.client import CallFailed, CallSpec, Request
from services.python.load.sharing import Shares
from services.python.transports.http.curl_transfers import Transfers
from services.python.transports.http.pycurl_client import EasyHandle, OneSocket
from services.python.transports.http.route import HttpReply, Route


class _Carrier:
    """A multi handle and the one socket of its easy handles: a connection, and what is sent over it."""

    def __init__(self) -> None:
        try:
            self.multi = Transfers()
        except pycurl.error as error:
            raise CallFailed("exhausted", str(error)) from error
        self.socket = OneSocket()


def _shared_carrier() -> _Carrier:
    carrier = _Carrier()
    carrier.multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_MULTIPLEX)
    carrier.multi.setopt(pycurl.M_MAX_HOST_CONNECTIONS, 1)
    return carrier


class AsyncConnection(EasyHandle):
    """One easy handle in a multi handle, of its own or shared: the handles of one multi handle share its connection."""

    def __init__(self, route: Route, call: CallSpec, carriers: Shares[_Carrier] | None = None) -> None:
        self._share = (Shares(_Carrier, None) if carriers is None else carriers).take()
        self._multi = self._share.of.multi
        super().__init__(route, call, self._share.of.socket)
        if carriers is not None:
            self._curl.setopt(pycurl.PIPEWAIT, 1)  # for the connection to be open, rather than open another

    @property
    def shared(self) -> int | None:
        return self._share.number

    async def call(self, request: Request) -> HttpReply:
        sent = self._begin(request)
        if self._socket.is_gone:  # opened anew by this request, as the one that found it gone has failed
            self._socket.is_open = self._socket.is_gone = False
        again = self._socket.is_open
        try:
            is_kept = await self._multi.begin(self._curl)
        except pycurl.error as error:
            raise self._failed(self._failure(error, again=again)) from error
        except (asyncio.CancelledError, GeneratorExit):
            self._multi.stop(self._curl)
            raise
        if not is_kept:
            self._may_reopen()
        return self._finish(sent)

    def _open_once(self, purpose: int, address: Any) -> Any:
        self._multi.opened()
        return super()._open_once(purpose, address)

    def _failed(self, ended: CallFailed) -> CallFailed:
        """The end of a request; a shared connection that is gone stays with its handles, and may be opened anew."""
        self._socket.is_gone |= self._share.number is not None and ended.status in ("closed", "refused")
        return ended

    async def close(self) -> None:
        self._multi.stop(self._curl)
        if (carrier := self._share.end()) is not None:
            await carrier.multi.aclose()
        self._curl.close()


def sharing(call: CallSpec) -> Callable[[Route, CallSpec], AsyncConnection]:
    """What opens connections that share as many of HTTP/2 as the trial says."""
    return partial(AsyncConnection, carriers=Shares(_shared_carrier, int(call.knobs[CONNECTIONS])))


def on_one_connection() -> Callable[[Route, CallSpec], AsyncConnection]:
    """What opens connections to several operations that are one: in turn over HTTP/1.1, at once over HTTP/2."""
    return partial(AsyncConnection, carriers=Shares(_shared_carrier, 1))
