"""Quantities as the page's markup; how they are written is `orchestrator.quantities`, as in the terminal."""

from __future__ import annotations

import math
import re
from typing import Any

from markupsafe import Markup, escape

from orchestrator.quantities import significant, unbroken

DASH = "—"


def exact(value: float | None, text: str) -> Markup:
    """The text that a reader sees with the summary's own value in the markup; a dash where there is none."""
    if value is None:
        return Markup('<span class="none" title="not enough data to say">{}</span>').format(DASH)
    return Markup('<data value="{}">{}</data>').format(repr(value), text)


def moment(stamp: str) -> str:
    """An ISO 8601 stamp as people read it: `2026-11-21 02:55:00 UTC`."""
    return re.sub(r"(\+00:00|Z)$", " UTC", stamp.replace("T", " "))


_QUOTED = re.compile("`([^`\\n]+)`")


def prose(text: str) -> Markup:
    """A sentence with text in backticks set as code, and numbers kept with their units; everything else is escaped."""
    return Markup(_QUOTED.sub(r"<code>\1</code>", str(escape(unbroken(text)))))  # noqa: S704 - escaped, but for our own tags


def words(value: Any) -> str:
    """A piece of evidence or a setting as text: floats to five significant digits, nothing nested in brackets."""
    match value:
        case None:
            return DASH
        case dict() | list() | tuple() if not value:
            return DASH
        case bool():
            return "yes" if value else "no"
        case float() if math.isfinite(value):
            return f"{significant(value):,.10g}"
        case dict():
            return ", ".join(f"{key} {words(each)}" for key, each in value.items())
        case list() | tuple():
            return ", ".join(words(each) for each in value)
        case _:
            return str(value)
