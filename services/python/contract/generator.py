"""The generator of `protos/payloads.md`: pseudo-random content that every language makes alike, to the bit."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect
from collections.abc import Iterator
from hashlib import shake_128
from itertools import count
from math import expm1

DICTIONARY = (
    "amber",
    "basalt",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "granite",
    "harbour",
    "indigo",
    "juniper",
    "kelp",
    "lagoon",
)

_WORD_BYTES = 4
_WORD_BITS = 32


def stream(label: str, size: int) -> bytes:
    """The first `size` bytes of the stream of a label, such as `bytes/42`. Some hundred megabytes a second."""
    return shake_128(f"orch payload v1/{label}".encode("ascii")).digest(size)


def words(label: str, number: int) -> array[int]:
    """The first `number` words of a stream, each of 32 bits."""
    drawn_words = array("I", stream(label, _WORD_BYTES * number))
    assert drawn_words.itemsize == _WORD_BYTES  # noqa: S101 - so it is with every C compiler of today
    if sys.byteorder == "big":
        drawn_words.byteswap()
    return drawn_words


def below(word: int, limit: int) -> int:
    """A word as a number from 0 to `limit - 1`."""
    return word * limit >> _WORD_BITS


def _limits(width: float) -> tuple[int, ...]:
    """The limits of a gap's digit whose steps are that wide; those of 2^32 are left out: no word is so large.

    None lies nearer than 0.003 to the middle of two whole numbers: they are the same wherever doubles are.
    """
    every = (round(2**_WORD_BITS * expm1(-step * width) / expm1(-16 * width)) for step in range(1, 16))
    return tuple(limit for limit in every if limit < 2**_WORD_BITS)


# Of four digits, the most significant first: a digit is the number of limits that are not above its word.
EXPONENTIAL_LIMITS = tuple(_limits(2 / 16**row) for row in range(4))
_GAP_WORDS = 5
_GAPS_AT_ONCE = 1024
GAP_BITS = 43


def exponential_gaps(seed: int, label: str = "arrivals") -> Iterator[int]:
    """Independent exponentially distributed integers without end, their mean 2^`GAP_BITS`; about half a microsecond each.

    They come from the streams `<label>/<seed>/0`, `<label>/<seed>/1`, ...
    """
    first, second, third, fourth = EXPONENTIAL_LIMITS
    for part in count():
        drawn = iter(words(f"{label}/{seed}/{part}", _GAPS_AT_ONCE * _GAP_WORDS))
        for a, b, c, d, rest in zip(drawn, drawn, drawn, drawn, drawn, strict=True):
            high = bisect(first, a) << 12 | bisect(second, b) << 8 | bisect(third, c) << 4 | bisect(fourth, d)
            yield high << _WORD_BITS | rest
