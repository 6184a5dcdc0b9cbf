"""`services.python.programs.respond`, but that the responder works for a millisecond on each request."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Mapping
from typing import Any

from services.python.programs import respond
from services.python.serve.dispatcher import Dispatcher, Peer

_WORK_S = 0.001


class _Busy(Dispatcher):
    def answer(self, operation: str, request: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
        _work()
        return super().answer(operation, request, peer)

    def answer_async(
        self, operation: str, request: Mapping[str, Any], peer: Peer
    ) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        _work()
        return super().answer_async(operation, request, peer)


def _work() -> None:
    done_s = time.thread_time() + _WORK_S
    while time.thread_time() < done_s:
        pass


if __name__ == "__main__":
    respond.Dispatcher = _Busy
    respond.main()
