"""Content of requests and replies, whatever it is encoded as: how many bytes of it, and how many verified a second."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import intervals
from orchestrator.analysis.summary import TrialSummary
from orchestrator.analysis.terms import Interval
from orchestrator.experiment.plan.plan import Cell, Operation

_VERIFIED = ("bytes", "records", "json", "transfer")  # kinds of payload of which every byte is compared


def content(operation: Operation, cell: Cell) -> tuple[int, int] | None:
    """Bytes of content in one sample's request and in its reply; None where not all of it is verified.

    Of bytes their number, of records 90 each (what one takes as compact JSON, on average), of a JSON document its file: the
    same for every stack, so that a codec that writes less of it is not the poorer for it. A task has that of all its calls.
    """
    if operation.payload.get("kind") not in _VERIFIED or cell.kind == "stream":
        return None
    return operation.request_bytes * operation.calls, operation.reply_bytes * operation.calls


def goodput(sizes: tuple[int, int] | None, trials: Sequence[TrialSummary]) -> tuple[float | None, Interval | None]:
    """Verified content a second in 10^6 bytes, both ways together, with its 95 % interval over trials.

    From each trial's right replies over its window, less the requester's own pauses. The value is the trials' geometric
    mean; the interval is None with fewer than three of them. None for both where a trial has no right reply.
    """
    rates = [trial.throughput_per_s for trial in trials]
    if not sizes or not sum(sizes) or not rates or min(rates) <= 0:
        return None, None
    mean = intervals.of_trials([rate * sum(sizes) / 1e6 for rate in rates])
    return mean.ratio, mean.interval()
