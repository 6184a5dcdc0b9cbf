"""`services.python.programs.respond`, but that each request takes a known CPU time, and some memory from the first one on.

`add` with a = 0 is told apart by nobody: every request but `identity` works for COSTLY_MS milliseconds of CPU time on the
thread that answers it, and the process keeps COSTLY_MIB mebibytes resident while it does.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Awaitable, Mapping
from typing import Any

from services.python.programs import respond
from services.python.serve.dispatcher import Dispatcher, Peer


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
    until_s = time.thread_time() + float(os.environ["COSTLY_MS"]) / 1e3
    size = int(os.environ.get("COSTLY_MIB", "0")) * 2**20
    if size:
        with mmap.mmap(-1, size) as pages:
            for place in range(0, size, mmap.PAGESIZE):
                pages[place] = 1
    while time.thread_time() < until_s:
        pass


if __name__ == "__main__":
    respond.Dispatcher = CostlyDesk  # type: ignore[misc]
    respond.main()
