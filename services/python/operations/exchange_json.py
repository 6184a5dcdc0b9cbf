"""`exchange_json`: a JSON document in, another one out: a small request with the structured reply of an API.

Both are in one file, `{"request": ..., "reply": ...}`, which both ends read. They travel in the message of `echo`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from services.python.contract.lines import Payload
from services.python.contract.messages import ECHO
from services.python.operations import base
from services.python.operations.files import read_checked
from services.python.operations.sameness import is_same

NAME = "exchange_json"
_DOCUMENTS = "documents"  # the resource: the path of the file on the responder's host


class _Asked(base.Lasting):
    """The request, with the reply that it is to get."""

    wanted: Any = None


def _read(payload: Payload) -> tuple[Any, Any]:
    try:
        documents = json.loads(read_checked(NAME, payload))
        return documents["request"], documents["reply"]
    except (ValueError, TypeError, KeyError) as error:
        raise base.PayloadError(f"{payload.path} does not hold a request and a reply: {error!r}") from error


@contextmanager
def _open(settings: Mapping[str, str]) -> Iterator[Any]:
    path = settings.get(_DOCUMENTS)
    yield None if path is None else _read(Payload(kind="documents", path=path))[1]


def _requests(payload: Payload, seed: int) -> base.Make:  # noqa: ARG001 - nothing is drawn
    base.expect_kind(NAME, payload, "documents")
    document, wanted = _read(payload)
    request = _Asked(document=document)
    request.wanted = wanted
    return lambda _sequence, _wall_clock_ns: request


def _answer(request: base.Request, wall_clock_ns: base.WallClockNs, reply: Any) -> dict[str, Any]:  # noqa: ARG001
    return {"document": getattr(request, "wanted", reply)}  # of a codec alone, where nothing is held


def _verify(request: base.Request, reply: base.Reply) -> str | None:
    wanted, came = getattr(request, "wanted", None), reply.get("document")
    return (
        None if is_same("document", wanted, came) else f"the reply is {base.shorten(came)}, not {base.shorten(wanted)}"
    )


OPERATION = base.Operation(
    name=NAME,
    message=ECHO,
    payloads=("documents",),
    open=_open,
    resources=(_DOCUMENTS,),
    requests=_requests,
    answer=_answer,
    verify=_verify,
)
