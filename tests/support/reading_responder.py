"""A responder whose operations write down what they were handed: `python -m tests.support.reading_responder ...`.

Reads the same *serve* line as `services.python.programs.respond`. For each request it appends to the file named by READS
one line of JSON: the operation, how many fields of the request were plain values, and the types of those that were not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any

from services.python.programs import respond
from services.python.serve.dispatcher import Dispatcher, Peer
from tests.support.fields import plain_fields, unread

READS = "ORCH_TEST_READS"


class ReadingDesk(Dispatcher):
    def answer(self, operation: str, request: Mapping[str, Any], peer: Peer) -> dict[str, Any]:
        _note(operation, request)
        return super().answer(operation, request, peer)

    def answer_async(
        self, operation: str, request: Mapping[str, Any], peer: Peer
    ) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        _note(operation, request)
        return super().answer_async(operation, request, peer)


def _note(operation: str, request: Mapping[str, Any]) -> None:
    line = {"operation": operation, "fields": plain_fields(request), "unread": sorted(unread(request))}
    with Path(os.environ[READS]).open("a") as reads:
        reads.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    respond.Dispatcher = ReadingDesk  # type: ignore[misc]
    respond.main()
