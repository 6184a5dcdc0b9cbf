"""What trials show beside latency and rate: costs at both ends, spreads of latency, times of opening connections.

A trial has each of them as a number by its name; a name is missing where it is not known. A cell has the geometric mean
of its trials'. Costs are of the measured phase, requests without a right reply included; CPU time (s), bytes and packets
are for 1,000 samples, memory is the peak of a process (bytes). SD, IQR, the first request and the steps of opening a
connection are ms; p99 and the first request over the median are factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias, get_args

from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import Mean

CostName: TypeAlias = Literal[
    "responder_cpu", "requester_cpu", "responder_memory", "requester_memory", "wire_bytes", "packets"
]
SpreadName: TypeAlias = Literal["sd", "iqr", "p99_to_p50"]

COST_NAMES: Final[tuple[CostName, ...]] = get_args(CostName)
COSTS: Final[Mapping[str, str]] = {
    "responder_cpu": "CPU time of the responder",
    "requester_cpu": "CPU time of the requester",
    "responder_memory": "peak memory of the responder",
    "requester_memory": "peak memory of the requester",
    "wire_bytes": "bytes on the wire",
    "packets": "packets",
}
"""What is compared with the reference, and what it is called in running text."""

SPREAD_NAMES: Final[tuple[SpreadName, ...]] = get_args(SpreadName)
SPREADS: Final[Mapping[str, str]] = {"sd": "SD", "iqr": "IQR", "p99_to_p50": "p99/p50"}

PER: Final = 1_000  # samples

FIRST: Final = "first_to_steady"
"""The first request of a connection over the median: shown beside the spreads, and not compared."""

SHOWN_COSTS: Final = (
    "responder_cpu",
    "requester_cpu",
    "responder_memory",
    "requester_memory",
    "wire_bytes_sent",
    "wire_bytes_received",
    "packets_sent",
    "packets_received",
)
SHOWN_SPREADS: Final = (*SPREAD_NAMES, FIRST)
STEPS: Final = ("connect", "tls")  # of opening a connection: TCP's handshake, and that of TLS behind it
FIRST_REQUEST: Final = "first_request"  # of a connection
GOODPUT: Final = "goodput"  # of a cell: verified content of requests and replies, 10^6 bytes a second
COUNTED_BY: Final = "connections"  # the check that counts by how many connections requests came


def over_trials(trials: Sequence[Mapping[str, float]]) -> dict[str, Mean]:
    """Return the mean of each value that every trial has above zero, by its name."""
    names = [name for name in (trials[0] if trials else ()) if all(trial.get(name, 0.0) > 0 for trial in trials)]
    return {name: intervals.of_trials([trial[name] for trial in trials]).as_mean for name in names}
