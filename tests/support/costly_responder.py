"""`services.python.programs.respond`, but that something is done with each request before it is answered.

Every request but `identity` works for COSTLY_MS milliseconds of CPU time on the thread that answers it, and every 25th has
COSTLY_MIB mebibytes resident for a moment. With READS, each appends a line of JSON to that file: the operation, how many
fields of the request were plain values, and the types of those that were not.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any

from services.python.programs import respond
from services.python.serve.dispatcher import Dispatcher, Peer
from tests.support.fields import plain_fields, unread

READS = "ORCH_TEST_READS"
_EVERY = 25
_numbers = itertools.count(1)


class CostlyDesk(Dispatcher):
    def answer(self, operation: str, request: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
        _before(operation, request)
        return super().answer(operation, request, peer)

    def answer_async(
        self, operation: str, request: Mapping[str, Any], peer: Peer
    ) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        _before(operation, request)
        return super().answer_async(operation, request, peer)


def _before(operation: str, request: Mapping[str, Any]) -> None:
    if READS in os.environ:
        line = {"operation": operation, "fields": plain_fields(request), "unread": sorted(unread(request))}
        with Path(os.environ[READS]).open("a") as reads:
            reads.write(json.dumps(line) + "\n")
    elif operation != "identity":
        until_s = time.thread_time() + float(os.environ.get("COSTLY_MS", "1")) / 1e3
        if next(_numbers) % _EVERY == 0:
            filled = b"\x01" * (int(os.environ.get("COSTLY_MIB", "0")) * 2**20)
            del filled
        while time.thread_time() < until_s:
            pass


if __name__ == "__main__":
    respond.Dispatcher = CostlyDesk  # type: ignore[attr-defined, misc]
    respond.main()
