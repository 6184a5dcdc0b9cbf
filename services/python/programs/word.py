"""The line on a requester's stdin by which it may measure."""

from __future__ import annotations

from typing import Final

AT_ONCE: Final = 0
_LATEST_NS = 1 << 62


def may_measure_from(line: str) -> int | None:
    """The moment of the wall clock from which on a line allows to measure, in Unix nanoseconds; None for any other line.

    >>> may_measure_from("measure"), may_measure_from("measure 1700000000000000000"), may_measure_from("measure soon")
    (0, 1700000000000000000, None)
    """
    if line == "measure":
        return AT_ONCE
    word, _, moment = line.partition(" ")
    if word != "measure" or not (moment.isascii() and moment.isdecimal()) or len(moment) > len(str(_LATEST_NS)):
        return None
    return int(moment) if int(moment) <= _LATEST_NS else None
