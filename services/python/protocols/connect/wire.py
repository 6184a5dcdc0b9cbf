"""Connect's unary protocol as both ends have it: names of header fields, codes, and errors as JSON.

Written to the specification of the Connect protocol (version 1): unary requests and responses, and the codes of errors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

MEDIA_TYPE: Final = "application/proto"
VERSION_FIELD: Final = "Connect-Protocol-Version"
VERSION: Final = "1"
ERROR_TYPE: Final = "application/json"

STATUSES: Final[Mapping[str, int]] = {
    "canceled": 499,
    "unknown": 500,
    "invalid_argument": 400,
    "deadline_exceeded": 504,
    "not_found": 404,
    "already_exists": 409,
    "permission_denied": 403,
    "resource_exhausted": 429,
    "failed_precondition": 400,
    "aborted": 409,
    "out_of_range": 400,
    "unimplemented": 501,
    "internal": 500,
    "unavailable": 503,
    "data_loss": 500,
    "unauthenticated": 401,
}
"""Every code of an error, with the HTTP status that it is sent with."""

_BY_STATUS: Final[Mapping[int, str]] = {
    400: "internal",
    401: "unauthenticated",
    403: "permission_denied",
    404: "unimplemented",
    429: "unavailable",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}


def error(code: str, message: str) -> bytes:
    """The body of an error."""
    return json.dumps({"code": code, "message": message}, separators=(",", ":"), ensure_ascii=False).encode()


def read_error(status: int, body: bytes) -> tuple[str, str | None]:
    """Code and message of a reply with another HTTP status than 200; None for the message of what is no error of Connect.

    Without a code that is known it has the one that stands for its status.
    """
    inferred = _BY_STATUS.get(status, "unknown")
    try:
        document: Any = json.loads(body)
    except ValueError:
        return inferred, None
    if not isinstance(document, dict):
        return inferred, None
    code, message = document.get("code"), document.get("message")
    is_known = isinstance(code, str) and code in STATUSES
    return str(code) if is_known else inferred, message if isinstance(message, str) else ""
