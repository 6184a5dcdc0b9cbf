"""`image`: a picture in, its width and height out, as an upload service would do it.

Pillow opens the picture: reading the header is the default; `full_decode` also decodes every pixel.
"""

from __future__ import annotations

import io
from typing import Any

from services.python.contract.lines import Payload
from services.python.contract.messages import IMAGE
from services.python.operations import base
from services.python.operations.files import read_checked


def _size(data: bytes, *, full_decode: bool) -> tuple[int, int]:
    # Only the responder that is really asked for an image pays for the import.
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as picture:
            if full_decode:
                picture.load()
            return picture.size
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"not a picture that Pillow can open: {error}") from error


def _requests(payload: Payload, seed: int) -> base.Make:  # noqa: ARG001 - the picture is the only content
    base.expect_kind("image", payload, "image")
    data = read_checked("image", payload)
    try:
        size = _size(data, full_decode=payload.full_decode)
    except ValueError as error:
        raise base.PayloadError(f"image: {payload.path}: {error}") from error
    request = _Picture({"data": data, "full_decode": payload.full_decode}, size=size)
    return lambda _sequence, _wall_clock_ns: request


class _Picture(dict[str, Any]):
    """The request, with what its reply must be: the requester opens the picture once, not once per reply."""

    def __init__(self, content: dict[str, Any], *, size: tuple[int, int]) -> None:
        super().__init__(content)
        self.size = size


def _runs(request: base.Request) -> base.Runs:
    """Decoding a whole picture takes milliseconds and lets go of the interpreter lock; a header takes microseconds."""
    return "pool" if request["full_decode"] else "inline"


def _answer(request: base.Request, wall_clock_ns: base.WallClockNs) -> dict[str, Any]:  # noqa: ARG001 - no clock needed
    width, height = _size(request["data"], full_decode=request["full_decode"])
    return {"width": width, "height": height}


def _verify(request: base.Request, reply: base.Reply) -> str | None:
    wanted = request.size if isinstance(request, _Picture) else _size(request["data"], full_decode=False)
    if (got := (reply.get("width"), reply.get("height"))) != wanted:
        return f"the picture of {wanted[0]} x {wanted[1]} came back as {base.shorten(got)}"
    return None


OPERATION = base.Operation(
    name="image", message=IMAGE, payloads=("image",), runs=_runs, requests=_requests, answer=_answer, verify=_verify
)
