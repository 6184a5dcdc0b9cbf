"""`echo`: bytes, structured records, or the user's own JSON document, sent back as they came."""

from __future__ import annotations

import json
from typing import Any

from services.python.contract.generator import DICTIONARY, below, stream, words
from services.python.contract.lines import Payload
from services.python.contract.messages import ECHO
from services.python.operations import base
from services.python.operations.files import read_checked
from services.python.operations.sameness import is_same

_MOST_TAGS = 4
_VALUES = 10_000_000
_RECORD_WORDS = 5 + _MOST_TAGS
_FORMS = ("data", "records", "document")


def records(count: int, seed: int) -> list[dict[str, Any]]:
    """Records such as services exchange: `{id: int, name: str, value: float, active: bool, tags: [str]}`."""
    drawn = iter(words(f"records/{seed}", count * _RECORD_WORDS))
    return [_record(number, draws) for number, draws in enumerate(zip(*[drawn] * _RECORD_WORDS, strict=True), start=1)]


def _record(number: int, draws: tuple[int, ...]) -> dict[str, Any]:
    first, second, value, active, tags, *chosen = draws
    return {
        "id": number,
        "name": f"{DICTIONARY[below(first, len(DICTIONARY))]} {DICTIONARY[below(second, len(DICTIONARY))]}",
        # Odd ten thousandths: never a whole number, so that every language writes four decimals.
        "value": (2 * below(value, _VALUES) - (_VALUES - 1)) / 10_000,
        "active": below(active, 2) == 1,
        "tags": _some(chosen)[: below(tags, _MOST_TAGS + 1)],
    }


def _some(draws: list[int]) -> list[str]:
    shuffled = list(DICTIONARY)
    for place, draw in enumerate(draws):
        other = place + below(draw, len(shuffled) - place)
        shuffled[place], shuffled[other] = shuffled[other], shuffled[place]
    return shuffled


def _requests(payload: Payload, seed: int) -> base.Make:
    base.expect_kind("echo", payload, "bytes", "records", "json")
    request: base.Request
    if payload.kind == "bytes":
        request = {"data": stream(f"bytes/{seed}", payload.size)}
    elif payload.kind == "records":
        request = {"records": records(payload.count, seed)}
    else:
        try:
            request = {"document": json.loads(read_checked("echo", payload))}
        except ValueError as error:
            raise base.PayloadError(f"{payload.path} is not JSON: {error}") from error
    return lambda _sequence, _wall_clock_ns: request


def _answer(request: base.Request, wall_clock_ns: base.WallClockNs) -> dict[str, Any]:  # noqa: ARG001 - no clock needed
    for form in _FORMS:
        if form in request:
            return {form: request[form]}
    raise ValueError(f"an echo carries one of {', '.join(_FORMS)}; this one carries {sorted(request)}")


def _verify(request: base.Request, reply: base.Reply) -> str | None:
    for form in _FORMS:
        if form in request:
            if is_same(form, request[form], reply.get(form)):
                return None
            return f"{form} came back as {base.shorten(reply.get(form))}"
    raise ValueError(f"an echo carries one of {', '.join(_FORMS)}")


OPERATION = base.Operation(
    name="echo", message=ECHO, payloads=("bytes", "records", "json"), requests=_requests, answer=_answer, verify=_verify
)
