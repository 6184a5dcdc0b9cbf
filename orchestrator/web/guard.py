"""Stands around every request: who may ask, how much, and what a browser may do with the answer.

On loopback everybody on this machine may read. Changing anything needs the token that this process printed; anywhere else
reading does, too. A browser shows the token once and keeps a cookie; what it then sends must come from our own pages.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.web.context import Context
from orchestrator.web.problems import response
from orchestrator.web.refused import Refused

MOST_BYTES = 1 << 18
"""Of a request's body."""
MOST_ADDRESS = 1 << 14
FORM_HEADER = "x-orch-form"
_FILES = ("/export", "/report")
_READING = frozenset({"GET", "HEAD"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
    "referrer-policy": "same-origin",  # `no-referrer` would make the Origin of our own forms `null`, too
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_LOG = logging.getLogger("orch.web")


class Guard:
    """An ASGI application around another one. `scope["state"]` says `may_change` and `is_bearer` to what is inside."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # a WebSocket is not accepted
        is_begun = False

        async def guarded(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        state = scope.setdefault("state", {})
        state.update(may_change=False, is_bearer=False)
        request = Request(scope)
        try:
            opened = self._opened(request)
            if opened is None:
                self._require_leave(request)
                await self._app(scope, _limited(receive, request.headers), guarded)
            else:
                await opened(scope, receive, guarded)
        except Refused as error:
            answer = response(request, error.status, error.message, error.hint, again_s=error.again_s)
            await answer(scope, receive, guarded)
        except Exception as error:
            _LOG.exception("a request failed")
            if is_begun:
                raise
            message = f"orch failed: {type(error).__name__}"
            hint = "the terminal that `orch serve` runs in has the traceback; please report it"
            await response(request, 500, message, hint)(scope, receive, guarded)

    def _opened(self, request: Request) -> Response | None:
        """The answer to an address with a token in it: a session, and the address without; None for any other."""
        self._require_name(request.headers)
        given = request.query_params.get("token")
        if given is None or request.method not in _READING:
            return None
        if not _is_same(given, self._context.token):
            raise Refused(401, "the token in the address is wrong", hint="`orch serve` printed the right address")
        left = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
        path = "/" + request.scope["path"].lstrip("/\\")  # never another host's
        target = f"{path}?{urlencode(left)}" if left else path
        answer = _led(target) if _is_from_elsewhere(request.headers) else RedirectResponse(target, status_code=303)
        answer.set_cookie(self._context.cookie, self._context.session, httponly=True, samesite="strict", path="/")
        return answer

    def _require_name(self, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._context.names.has(hosts[0]):
            raise Refused(
                421,
                "this page does not answer to that name",
                hint="open the address that `orch serve` printed; `orch serve --name NAME` adds a name",
            )

    def _require_leave(self, request: Request) -> None:
        """Refused unless this request may be answered."""
        headers = request.headers
        if len(request.scope["path"]) + len(request.scope["query_string"]) > MOST_ADDRESS:
            raise Refused(400, "the address is too long")
        is_bearer = self._is_bearer(headers)
        is_session = self._is_session(headers)
        request.scope["state"].update(may_change=is_bearer or is_session, is_bearer=is_bearer)
        is_reading = request.method in _READING
        is_asset = is_reading and request.scope["path"].startswith("/assets/")
        if not is_asset and not (is_bearer or is_session) and not (is_reading and self._context.is_loopback):
            raise Refused(
                401,
                "this needs the token" if is_reading else "to change something, the page must be opened with its token",
                hint="open the address that `orch serve` printed, or send `Authorization: Bearer TOKEN`",
            )
        if is_bearer:
            return
        self._require_own_origin(headers, request.scope["path"], is_reading=is_reading)

    def _require_own_origin(self, headers: Headers, path: str, *, is_reading: bool) -> None:
        """Refused where a browser says that another page sends the request."""
        site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
        if is_reading:
            is_shown = mode == "navigate" and headers.get("sec-fetch-dest", "document") == "document"
            if headers.get("sec-purpose", "").startswith("prefetch"):
                is_shown = False  # asked for ahead, dozens at a time, and looked at by nobody
            is_file = path.endswith(
                _FILES
            )  # takes a CPU a while, and leaves the page that asks where it is: again and again
            if _is_from_elsewhere(headers) and (is_file or not is_shown):
                raise Refused(403, "another page asks for this", hint="open it by its address")
            return
        origin = headers.get("origin")
        is_own = origin is None or origin in self._context.names.origins(headers["host"])
        if site not in (None, "same-origin") or not is_own:
            raise Refused(403, "this came from another page", hint="use the forms of this page")

    def _is_bearer(self, headers: Headers) -> bool:
        given = headers.get("authorization")
        if given is None:
            return False
        kind, _, token = given.partition(" ")
        if kind.lower() != "bearer" or not _is_same(token.strip(), self._context.token):
            raise Refused(
                401, "the token is wrong", hint="send `Authorization: Bearer TOKEN` as `orch serve` printed it"
            )
        return True

    def _is_session(self, headers: Headers) -> bool:
        return any(_is_same(kept, self._context.session) for kept in _cookies(headers, self._context.cookie))


def _cookies(headers: Headers, name: str) -> Iterator[str]:
    """The values under a name. Other programs of this machine set cookies of any shape for the same host."""
    for pair in ";".join(headers.getlist("cookie")).split(";"):
        told, sign, value = pair.partition("=")
        if sign and told.strip() == name:
            yield value.strip()


def _is_from_elsewhere(headers: Headers) -> bool:
    """Whether a browser says that another page, or a file, made it ask."""
    return headers.get("sec-fetch-site") in ("cross-site", "same-site")


def _led(target: str) -> Response:
    """A page that goes on by itself.

    Of a redirection, a browser would keep in mind where it began, and send no strict cookie along.
    """
    address = escape(quote(target, safe="/%?=&+-._~"))
    page = f'<!doctype html><title>orch</title><meta http-equiv="refresh" content="0;url={address}">'
    return HTMLResponse(page, headers={"referrer-policy": "no-referrer"})


def require_form(request: Request, given: str | None) -> None:
    """Refused unless a changing request of a browser carries what our own pages carry; programs send the token itself."""
    state: dict[str, Any] = request.scope["state"]
    context: Context = request.app.state.context
    sent = request.headers.get(FORM_HEADER) or given or ""
    if not state["is_bearer"] and not _is_same(sent, context.form_token):
        raise Refused(403, "this did not come from a form of this page", hint="load the page again, then try again")


def _is_same(given: str, right: str) -> bool:
    """In a time that tells nothing of where they differ."""
    return hmac.compare_digest(given.encode(errors="replace"), right.encode())


def _limited(receive: Receive, headers: Headers) -> Receive:
    """The request's body, refused where it is larger than anything that is asked for here."""
    told = headers.get("content-length", "0")
    if not told.isdecimal() or int(told) > MOST_BYTES:
        raise Refused(413, f"a request may have {MOST_BYTES:,} bytes")
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > MOST_BYTES:
                raise Refused(413, f"a request may have {MOST_BYTES:,} bytes")
        return message

    return limited
