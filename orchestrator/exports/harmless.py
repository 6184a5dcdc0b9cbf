"""Foreign text as a spreadsheet or a sheet's tab may hold it: nothing in it is acted on.

Markdown has `report.markdown_text`.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from orchestrator.unseen import UNSEEN

# What a spreadsheet takes for the beginning of a formula, in their wide forms too, and what may hide one (OWASP).
_FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"
_HIDING = "\t\r\n"
_MOST_OF_TAB = 31
_NOT_IN_TAB = re.compile(r"[\[\]:*?/\\\x00-\x1f\x7f]")


def cell_text(text: str) -> str:
    r"""Text as a cell of a CSV file: behind an apostrophe where a spreadsheet might run it.

    >>> cell_text('=HYPERLINK("x")'), cell_text("grpc")
    ('\'=HYPERLINK("x")', 'grpc')
    """
    is_risky = text[:1] in _HIDING or text.lstrip()[:1] in _FORMULA
    return f"'{text}" if text and text.strip() and is_risky else text


def tab_name(text: str, taken: Collection[str]) -> str:
    """A name that a sheet can have, at most 31 characters, and that none of `taken` has, whatever the case."""
    base = _NOT_IN_TAB.sub("-", UNSEEN.sub("", text)).strip("' ")[:_MOST_OF_TAB] or "sheet"
    known, name, number = {other.casefold() for other in taken}, base, 1
    while name.casefold() in known or name.casefold() == "history":  # which Excel keeps for itself
        number += 1
        name = f"{base[: _MOST_OF_TAB - 1 - len(str(number))]} {number}"
    return name
