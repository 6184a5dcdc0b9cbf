"""What a console of a test has printed."""

from __future__ import annotations

import io
from typing import TextIO


def printed(stream: TextIO) -> str:
    """Return all that was written to this stream, which is in memory."""
    assert isinstance(stream, io.StringIO)
    return stream.getvalue()
