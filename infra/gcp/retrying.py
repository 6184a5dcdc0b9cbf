"""One HTTP request that outlives a moment's trouble: 429, 5xx, a connection that drops. Python standard library only.

Back-off is exponential with full jitter (Brooker 2015, "Exponential Backoff And Jitter"); `Retry-After` (RFC 9110) goes
before it. Only what may be sent twice is sent again: GET, DELETE, and the POSTs that change nothing.
"""

from __future__ import annotations

import email.utils
import http.client
import random
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable

TRIES = 6
_TRIES_UNREACHED = 3  # nobody listens, or the name is not known: seldom a moment's trouble
_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_BUDGET_S = 45.0  # of waiting, all requests of the program together: real trouble is soon said
_PATIENCE_S = 300.0  # no further try is begun so long after the first
_STATUSES = {408, 429, 500, 502, 503, 504}
_HARMLESS_POSTS = ("/wait", ":testIamPermissions")


class Retrier:
    """Sends requests; the waits between tries come out of one budget."""

    def __init__(self, budget_s: float = _BUDGET_S, sleep: Callable[[float], None] = time.sleep) -> None:
        self._left_s = budget_s
        self._sleep = sleep

    def fetch(self, request: urllib.request.Request, *, timeout_s: float) -> bytes:
        """The body of the answer. HTTPError, OSError or HTTPException of the last try when all have failed."""
        began = time.monotonic()
        tried = 0
        while True:
            tried += 1
            try:
                with urllib.request.urlopen(request, timeout=timeout_s) as answer:  # noqa: S310  (https, or a test's own)
                    body: bytes = answer.read()
                    return body
            except (OSError, http.client.HTTPException) as error:
                wait_s = _wait_s(error, tried) if may_repeat(request) else None
                if wait_s is None or wait_s > self._left_s or time.monotonic() + wait_s > began + _PATIENCE_S:
                    raise
                if isinstance(error, urllib.error.HTTPError):
                    error.close()
            self._left_s -= wait_s
            self._sleep(wait_s)


_RETRIER = Retrier()


def fetched(request: urllib.request.Request, *, timeout_s: float) -> bytes:
    """`Retrier.fetch` with the budget of this program."""
    return _RETRIER.fetch(request, timeout_s=timeout_s)


def may_repeat(request: urllib.request.Request) -> bool:
    """Whether sending it twice does the same as sending it once."""
    path = request.full_url.partition("?")[0]
    return request.get_method() in ("GET", "HEAD", "DELETE") or path.endswith(_HARMLESS_POSTS)


def _wait_s(error: Exception, tried: int) -> float | None:
    """How long to wait before the next try; None when there should be none."""
    if isinstance(error, urllib.error.HTTPError):
        if error.code not in _STATUSES or tried >= TRIES:
            return None
        asked_s = _asked_s(error.headers.get("Retry-After"))
        return _backed_off_s(tried) if asked_s is None else asked_s
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    is_unreached = isinstance(reason, ConnectionRefusedError | socket.gaierror)
    return None if tried >= (_TRIES_UNREACHED if is_unreached else TRIES) else _backed_off_s(tried)


def _backed_off_s(tried: int) -> float:
    return random.uniform(0.0, min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** (tried - 1)))


def _asked_s(header: str | None) -> float | None:
    """What `Retry-After` asks for, in seconds: a number, or a date; None without one that can be read."""
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
