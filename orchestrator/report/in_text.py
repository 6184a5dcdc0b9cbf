"""Bytes as text that stands in an HTML file: five letters for four bytes, where base64 takes five and a third.

The digits are those of Python's base85 (RFC 1924), but for `<`, `>` and `&`, which HTML reads: `.`, `:` and `,` stand for
them. `assets/page.js` reads the same text.
"""

from __future__ import annotations

import numpy as np

DIGITS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;.=:?@^_`{|}~"
_BYTES, _LETTERS = 4, 5
_NONE = 255
_DIGITS = np.frombuffer(DIGITS, dtype=np.uint8)
_VALUES = np.full(256, _NONE, dtype=np.uint8)
_VALUES[_DIGITS] = np.arange(len(DIGITS), dtype=np.uint8)
_PLACES = len(DIGITS) ** np.arange(_LETTERS - 1, -1, -1, dtype=np.int64)


def written(content: bytes) -> str:
    """The bytes as text without spaces and without any letter that HTML reads."""
    spare = -len(content) % _BYTES
    words = np.frombuffer(content + bytes(spare), dtype=">u4").astype(np.int64)
    letters = _DIGITS[words[:, None] // _PLACES % len(DIGITS)].tobytes()
    return str(letters[: len(letters) - spare], "ascii")


def read(text: str) -> bytes:
    """The inverse of `written`; ValueError for anything that it does not write."""
    try:
        letters = text.encode("ascii")
    except UnicodeEncodeError as error:
        raise ValueError("it has letters that are no digits") from error
    spare = -len(letters) % _LETTERS
    values = _VALUES[np.frombuffer(letters + DIGITS[-1:] * spare, dtype=np.uint8)]
    if spare == _BYTES or (values == _NONE).any():
        raise ValueError("it is cut off" if spare == _BYTES else "it has letters that are no digits")
    words = values.reshape(-1, _LETTERS).astype(np.int64) @ _PLACES
    if (words >> 32).any():
        raise ValueError("five of its letters are no four bytes")
    content = words.astype(">u4").tobytes()
    return content[: len(content) - spare]
