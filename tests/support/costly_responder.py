"""`services.python.programs.respond`, but that each request takes a known CPU time, and some of them memory.

Every request but `identity` works for COSTLY_MS milliseconds of CPU time on the thread that answers it, and every 25th has
COSTLY_MIB mebibytes resident for a moment.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Awaitable, Mapping
from typing import Any

from services.python.programs import respond
from services.python.serve.dispatcher import Dispatcher, Peer

_EVERY = 25
_numbers = itertools.count(1)


class CostlyDesk(Dispatcher):
    def answer(self, operation: str, request: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
        if operation != "identity":
            _work()
        return super().answer(operation, request, peer)

    def answer_async(
        self, operation: str, request: Mapping[str, Any], peer: Peer
    ) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        if operation != "identity":
            _work()
        return super().answer_async(operation, request, peer)


def _work() -> None:
    until_s = time.thread_time() + float(os.environ.get("COSTLY_MS", "1")) / 1e3
    if next(_numbers) % _EVERY == 0:
        filled = b"\x01" * (int(os.environ.get("COSTLY_MIB", "0")) * 2**20)
        del filled
    while time.thread_time() < until_s:
        pass


if __name__ == "__main__":
    respond.Dispatcher = CostlyDesk  # type: ignore[misc]
    respond.main()
