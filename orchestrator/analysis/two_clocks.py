"""How far apart the clocks of two hosts can be, by the stamps of a stream alone: a bound, and no estimate.

A subscription is asked for by the receiver's clock and taken, later, by the sender's: that bounds the offset from above. An
event is stamped by the sender's and received, later, by the receiver's: that bounds it from below. Between both lies every
offset that is possible, about a round trip wide; how an estimate would divide it up nobody knows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator.analysis.statistics import Nanoseconds

DRIFT = 5_000
"""Two clocks of hosts drift apart by at most one part in so many: 100 ppm each, which a crystal without care may have."""


@dataclass(frozen=True, kw_only=True)
class Offset:
    """The sender's clock less the receiver's: `middle_ns`, and for every event of the stream at most `bound_ns` off."""

    middle_ns: int
    bound_ns: int


def offset(
    asked_ns: npt.NDArray[np.int64], begun_ns: npt.NDArray[np.int64], sender_ns: Nanoseconds, received_ns: Nanoseconds
) -> Offset | None:
    """What the stamps leave open; None where they contradict each other.

    Of each subscription `asked_ns`, by the receiver's clock, and `begun_ns`, by the sender's, no earlier than it was taken;
    of each event both stamps. There is at least one of either.
    """
    begin_ns = int(asked_ns.min())
    most = int((begun_ns - asked_ns + (asked_ns - begin_ns) // DRIFT).min())
    least = int((sender_ns - received_ns - np.abs(received_ns - begin_ns) // DRIFT).max())
    if most < least:
        return None
    drifted_ns = int(np.abs(received_ns - begin_ns).max()) // DRIFT
    return Offset(middle_ns=(least + most) // 2, bound_ns=(most - least + 1) // 2 + drifted_ns)
