"""What a changing request brings along: a few short fields, from one of our own forms or from a program."""

from __future__ import annotations

from urllib.parse import parse_qsl

from fastapi import Request
from starlette.responses import RedirectResponse

from orchestrator.strict_json import parse_json
from orchestrator.web.guard import require_form
from orchestrator.web.refused import Refused

MOST_BYTES = 32 << 10  # the longest note, each of its letters as the twelve of a form, and a little more
MOST_FIELDS = 32
FORM_FIELD = "form_token"


async def fields(request: Request) -> dict[str, str]:
    """The fields of a form (`application/x-www-form-urlencoded`), or of a JSON object of texts, by name.

    Refused with 413 for more than 32 KiB, 415 for another kind of body, 400 for what cannot be read, for more than 32
    fields, and for a field that occurs twice.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise Refused(413, f"a form here has at most {MOST_BYTES:,} bytes")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not body:
        return {}
    if kind == "application/x-www-form-urlencoded":
        return _of_form(bytes(body))
    if kind == "application/json":
        return _of_json(bytes(body))
    raise Refused(415, "send the fields as application/x-www-form-urlencoded or application/json")


def _of_form(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError as error:
        raise Refused(400, "the form cannot be read") from error
    if len({name for name, _ in pairs}) != len(pairs):
        raise Refused(400, "a field of the form occurs twice")
    return dict(pairs)


def _of_json(body: bytes) -> dict[str, str]:
    try:
        found = parse_json(body)
    except ValueError as error:
        raise Refused(400, "the JSON cannot be read") from error
    if not isinstance(found, dict) or len(found) > MOST_FIELDS or not all(isinstance(of, str) for of in found.values()):
        raise Refused(400, "send a JSON object of texts")
    return found


async def changing(request: Request) -> dict[str, str]:
    """`fields` of a request that changes something; Refused with 403 unless it carries what our own pages carry.

    Whether the request may change anything at all was judged before (`guard`); a program that sent the token is done
    with that, and needs no form.
    """
    found = await fields(request)
    require_form(request, found.pop(FORM_FIELD, None))
    return found


def back_to(path: str) -> RedirectResponse:
    """To a page of ours, so that loading it again changes nothing more."""
    return RedirectResponse(path, status_code=303)
