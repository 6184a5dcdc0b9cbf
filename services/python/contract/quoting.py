"""Words of somebody else (a responder, a library that quotes one) as they may stand in a line of the contract."""

from __future__ import annotations

from typing import Final

MOST_CHARACTERS: Final = 900


def quotable(text: str) -> str:
    """The text, cut to 900 characters; what has no shape of its own, half a surrogate pair say, stands as its escape.

    >>> quotable(f"gone{chr(7)}") == "gone" + chr(92) + "x07"
    True
    """
    if len(text) > MOST_CHARACTERS:
        text = f"{text[: MOST_CHARACTERS - 3]}..."
    if text.isprintable():
        return text
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return shown if len(shown) <= MOST_CHARACTERS else f"{shown[: MOST_CHARACTERS - 3]}..."
