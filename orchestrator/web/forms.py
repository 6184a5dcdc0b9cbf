"""Forms as browsers send them: fields by name, and the token that says that the form is ours."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import Request
from starlette.responses import RedirectResponse

from orchestrator.web.guard import require_form
from orchestrator.web.refused import Refused

_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 100


async def fields(request: Request) -> dict[str, str]:
    """The fields of a form of ours, each once; Refused for what is no such form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        raise Refused(400, "this takes a form", hint=f"send {_FORM}, or use /api")
    try:
        sent = parse_qs(
            (await request.body()).decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
        )
    except ValueError as error:
        raise Refused(400, "the form cannot be read", hint="load the page again, then try again") from error
    found = {name: values[-1] for name, values in sent.items()}
    require_form(request, found.get("form_token"))
    return found


def back_to(path: str) -> RedirectResponse:
    """To a page of ours, so that loading it again changes nothing more."""
    return RedirectResponse(path, status_code=303)
