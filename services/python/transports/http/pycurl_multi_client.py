"""libcurl's multi interface, awaited: many requests in flight on one event loop, without a thread for each."""

from __future__ import annotations

import pycurl

from services.python.load.client import CallSpec, Request
from services.python.transports.http.pycurl_client import EasyHandle, failure
from services.python.transports.http.route import HttpReply, Route


class AsyncConnection(EasyHandle):
    """One easy handle in a multi handle of its own: the handles of one share their connections, and which is whose."""

    def __init__(self, route: Route, call: CallSpec) -> None:
        super().__init__(route, call)
        self._multi = pycurl.AsyncCurlMulti()

    async def call(self, request: Request) -> HttpReply:
        """See `load.client.AsyncConnection.call`."""
        sent = self._begin(request)
        again = self._opened
        try:
            await self._multi.add_handle(self._curl)
        except pycurl.error as error:
            raise failure(error, again=again) from error
        return self._finish(sent)

    async def close(self) -> None:
        """See `load.client.AsyncConnection.close`."""
        await self._multi.aclose()
        self._curl.close()
