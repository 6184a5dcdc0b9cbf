"""What requests cost at both ends: CPU time, memory, bytes and packets on the wire. One list for all that shows it.

What counts is what the measured phase took, so no warm-up is in it, and requests without a right reply are: they travelled,
too. CPU time, bytes and packets are per 1,000 samples (requests, tasks, events, messages); memory is the peak of a process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from services.python.contract.lines import Since

CostName: TypeAlias = Literal[
    "responder_cpu", "requester_cpu", "responder_memory", "requester_memory", "wire_bytes", "packets"
]

COSTS: Final[Mapping[str, str]] = {
    "responder_cpu": "CPU time of the responder",
    "requester_cpu": "CPU time of the requester",
    "responder_memory": "peak memory of the responder",
    "requester_memory": "peak memory of the requester",
    "wire_bytes": "bytes on the wire",
    "packets": "packets",
}
"""What is compared with the reference, and what it is called in running text."""

COST_NAMES: Final[tuple[CostName, ...]] = get_args(CostName)

PER: Final = 1_000  # samples


@dataclass(frozen=True, kw_only=True)
class TrialCost:
    """What one trial took. CPU seconds, bytes and packets per 1,000 samples; None for what was not counted.

    Of several requesters CPU, bytes and packets are their sums, memory is that of the host with the most, all its processes
    together. Sent and received are the requester's. `*_since`: the time of a peak of memory, the measured `phase` or
    of the whole `process`.
    """

    samples: int
    responder_cpu: float | None = None
    requester_cpu: float | None = None
    responder_memory: int | None = None
    requester_memory: int | None = None
    responder_memory_since: Since | None = None
    requester_memory_since: Since | None = None
    wire_bytes_sent: float | None = None
    wire_bytes_received: float | None = None
    packets_sent: float | None = None
    packets_received: float | None = None

    @property
    def wire_bytes(self) -> float | None:
        """Both directions together."""
        return _sum(self.wire_bytes_sent, self.wire_bytes_received)

    @property
    def packets(self) -> float | None:
        """Both directions together."""
        return _sum(self.packets_sent, self.packets_received)


@dataclass(frozen=True, kw_only=True)
class CellCost:
    """One quantity of a cell: the geometric mean of its trials', and its 95 % interval (None with fewer than three).

    `is_whole_life`: a peak of memory that is, in some trial, of the process's whole life, as the kernel cannot begin anew.
    """

    value: float
    interval: tuple[float, float] | None
    is_whole_life: bool = False


SHOWN: Final = (
    "responder_cpu",
    "requester_cpu",
    "responder_memory",
    "requester_memory",
    "wire_bytes_sent",
    "wire_bytes_received",
    "packets_sent",
    "packets_received",
)
"""What a table shows, in this order; keys of `CellSummary.costs`."""

PRICED: Final = ("responder_usd", "requester_usd", "traffic_usd")
"""US dollars for a million samples, where machines have a price; further keys of `CellSummary.costs`."""


def _sum(first: float | None, other: float | None) -> float | None:
    return None if first is None or other is None else first + other
