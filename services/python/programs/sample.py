"""`python -m services.python.programs.sample ROWS`: what a service of somebody's own answers, for so many rows; untimed.

A trial of kind `call` comes on stdin. One JSON line for each row, in the file's order: `row`, `request` (what is sent), the
`status` and the beginning of the `reply`, the values that the call calls `same`, by name as lists, and `failure`, why there
is no right reply (empty: there is). Values of secrets are `***`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from services.python.contract.lines import Trial, read_stdin_line
from services.python.contract.templates import HIDDEN, hidden
from services.python.load.client import CallFailed
from services.python.load.task import wrong_reply
from services.python.operations.base import PayloadError
from services.python.operations.call import GRPC, OPERATION, body_of, document_of, read_call, rendered, values_at
from services.python.programs.lines import complain, prepare
from services.python.trial.parts import CannotTry, Parts, ask_task, load_parts

_SHOWN_BYTES = 2_000


def main() -> int:
    """Ask, and print a line for each row."""
    prepare()
    try:
        trial = read_stdin_line(Trial, sys.stdin.buffer, "sample")
        parts, call = load_parts(trial), read_call(trial.payload)
    except (ValueError, CannotTry, PayloadError) as error:
        complain(f"sample: {error}")
        return 1
    for requests in rendered(call)[: int(sys.argv[1])]:
        replies = _asked(parts, requests, call)  # which completes them
        text = json.dumps(
            {"row": requests[0]["row"], "request": "\n\n".join(_request_of(each) for each in requests), **replies}
        )
        saved = [value for value in requests[-1].get("saved", {}).values() if isinstance(value, str) and value]
        for value in saved:
            text = text.replace(value, HIDDEN)
        print(hidden(text, call, os.environ), flush=True)  # noqa: T201 - what it is for
    return 0


def _asked(parts: Parts, requests: list[Any], call: Mapping[str, Any]) -> dict[str, Any]:
    """The reply to a row's only request, or to its last step."""
    dialer, (first, *others) = parts.dialer(OPERATION.name, requests[0]), requests
    failure: str | None
    try:
        if others:
            task = {"calls": requests}
            _, replies, _ = ask_task(parts, dialer, task)
            reply, failure = replies["calls"][-1], wrong_reply(OPERATION.verify, task, replies)
        else:
            reply, _ = parts.ask(dialer, first)
            failure = OPERATION.verify(first, reply)
    except CallFailed as failed:
        return {"status": 0, "reply": "", "same": {}, "failure": str(failed)}
    document = document_of(reply)
    kind = requests[-1]["kind"]
    shown = json.dumps(document, ensure_ascii=False) if kind == GRPC else body_of(reply).decode(errors="replace")
    return {
        "status": reply["status"],
        "reply": shown[:_SHOWN_BYTES],
        "same": {name: values_at(document, path) for name, path in call["same"].items()},
        "failure": failure or "",
    }


def _request_of(request: Mapping[str, Any]) -> str:
    if request["kind"] == "grpc":
        fields = [f"{name}: {text}" for name, text in request["metadata"]]
        message = request["method"].request_type.FromString(request["message"])
        return "\n".join([request["call"]["method"], *fields, str(message).strip()])
    fields = [f"{name}: {text}" for name, text in request["headers"].items()]
    body = request["body"].decode(errors="replace")
    if "send" in request:
        event = [request["event"]] if "event" in request else []
        body = "\n".join([*event, request["send"] if isinstance(request["send"], str) else json.dumps(request["send"])])
    return "\n".join([f"{request['method']} {request['path']}", *fields, *([body] if body else [])])


if __name__ == "__main__":
    sys.exit(main())
