"""The generator of `protos/payloads.md`: pseudo-random content that every language makes alike, to the bit."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect
from collections.abc import Iterator
from hashlib import shake_128
from itertools import count

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
    found = array("I", stream(label, _WORD_BYTES * number))
    assert found.itemsize == _WORD_BYTES  # noqa: S101 - so it is with every C compiler of today
    if sys.byteorder == "big":
        found.byteswap()
    return found


def below(word: int, limit: int) -> int:
    """A word as a number from 0 to `limit - 1`."""
    return word * limit >> _WORD_BITS


# A gap's four digits, the most significant first: a digit is the number of limits that are not above its word. Limit d of
# row j is 2^32 (1 - e^-(d+1)w) / (1 - e^-16w), rounded, w being 2 / 16^j; those of 2^32 are left out: no word is so large.
EXPONENTIAL_LIMITS = (
    (
        3_713_706_681,
        4_216_302_226,
        4_284_321_136,
        4_293_526_495,
        4_294_772_305,
        4_294_940_907,
        4_294_963_725,
        4_294_966_813,
        4_294_967_231,
        4_294_967_287,
        4_294_967_295,
    ),
    (
        583_662_026,
        1_098_741_956,
        1_553_298_400,
        1_954_443_053,
        2_308_451_966,
        2_620_863_736,
        2_896_566_156,
        3_139_872_687,
        3_354_589_947,
        3_544_077_264,
        3_711_299_234,
        3_858_872_105,
        3_989_104_706,
        4_104_034_573,
        4_205_459_825,
    ),
    (
        284_449_529,
        566_685_453,
        846_725_001,
        1_124_585_263,
        1_400_283_200,
        1_673_835_638,
        1_945_259_274,
        2_214_570_675,
        2_481_786_278,
        2_746_922_393,
        3_009_995_202,
        3_271_020_762,
        3_530_015_005,
        3_786_993_739,
        4_041_972_648,
    ),
    (
        269_419_616,
        538_707_711,
        807_864_350,
        1_076_889_597,
        1_345_783_516,
        1_614_546_171,
        1_883_177_627,
        2_151_677_947,
        2_420_047_195,
        2_688_285_435,
        2_956_392_732,
        3_224_369_149,
        3_492_214_750,
        3_759_929_599,
        4_027_513_760,
    ),
)
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
