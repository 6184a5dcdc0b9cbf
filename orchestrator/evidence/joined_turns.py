"""A trial in turns as if its turns had followed one another: what all later analysis reads.

Turns that others disturbed count as warm-up: their rows are in no percentile, and their counts in no sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from orchestrator import record_layout
from orchestrator.evidence.run_evidence import Samples
from orchestrator.results.manifest import RequesterRecord, TrialRecord
from services.python.contract.lines import STATUSES
from services.python.contract.requester_lines import Wire

Columns = Mapping[str, npt.NDArray[Any]]
Integers = npt.NDArray[np.int64]
_STAMPS = ("intended_ns", "sent_ns", "received_ns")
_WARM_UP, _MEASURED = 0, 1
_PART = record_layout.KINDS.index("part")
_OF_A_SHARE = ("entering_s", "body_bytes_sent", "body_bytes_received")


def joined(columns: Columns, record: TrialRecord) -> dict[str, npt.NDArray[Any]]:
    """The columns without the time between turns: the whole warm-up first, then one turn behind the other.

    A row of the warm-up that lies within a turn stays there. One more column, `turn`, has the place of each row's turn.
    """
    turns, lost = record.turns, np.array(record.disturbed_turns)
    begins, ends = (np.array([getattr(t, name) for t in turns], dtype=np.int64) for name in ("begin_ns", "end_ns"))
    sent, received = columns["sent_ns"], columns["received_ns"]
    place = np.clip(np.searchsorted(begins, sent, side="right") - 1, 0, len(turns) - 1)
    inside = (sent >= begins[place]) & (sent <= ends[place])
    is_lost = inside & lost[place]
    warm = is_lost | ~inside
    shift: Integers = np.zeros(sent.size, dtype=np.int64)
    order = np.flatnonzero(warm)[np.argsort(sent[warm], kind="stable")]
    warm_end = int(begins[0])
    if order.size:
        answered = np.maximum.accumulate(received[order])
        idle = np.concatenate(([0], np.maximum(0, sent[order][1:] - answered[:-1])))
        shift[order] = np.cumsum(idle)
        warm_end = int((received[order] - shift[order]).max())
    lengths = np.where(lost, 0, ends - begins)
    moved = begins - (warm_end + np.concatenate(([0], np.cumsum(lengths)[:-1])))
    shift[~warm] = moved[place[~warm]]
    shifted = {name: values - shift if name in _STAMPS else values for name, values in columns.items()}
    shifted["phase"] = np.where(is_lost & (columns["phase"] == _MEASURED), _WARM_UP, columns["phase"])
    shifted["turn"] = place
    return shifted


def turn_medians(samples: Samples, record: TrialRecord) -> tuple[tuple[int, float], ...]:
    """When each turn that counts began (ns), and the median latency of its requests (ms); none where failures are median."""
    begun = samples.intended_ns if samples.is_open_loop else samples.sent_ns
    latency_ms = np.where(samples.ok, (samples.received_ns - begun) / 1e6, np.inf)
    by_turn = np.argsort(samples.turn, kind="stable")
    places, first = np.unique(samples.turn[by_turn], return_index=True)
    each = zip(places, np.split(latency_ms[by_turn], first[1:]), strict=True)
    medians = [(int(record.turns[place].begin_ns), float(np.median(values))) for place, values in each]
    return tuple(sorted(medians)) if all(np.isfinite(median) for _, median in medians) else ()


def counted(
    part: RequesterRecord, record: TrialRecord, before: Columns, after: Columns, in_flight: int = 1
) -> RequesterRecord:
    """The requester's part with a `done` line of the turns that count: `before` and `after` are as `joined` has them."""
    measured = (before["phase"] == _MEASURED) & (before["kind"] != _PART)
    left_out = measured & (after["phase"] == _WARM_UP)
    requests = int(left_out.sum())
    if not requests:
        return part
    done, lost = part.done, record.disturbed_turns
    share = 1 - requests / done.requests
    statuses, counts = np.unique(before["status"][left_out], return_counts=True)
    gone = {STATUSES[status]: int(count) for status, count in zip(statuses, counts, strict=True)}
    errors = {name: count - gone.get(name, 0) for name, count in done.errors.items() if count > gone.get(name, 0)}
    cpu_s = sum(turn.cpu_s for turn, is_lost in zip(record.turns, lost, strict=True) if not is_lost)
    lengths_s = [(turn.length_s, is_lost) for turn, is_lost in zip(record.turns, lost, strict=True)]
    share_of_time = sum(s for s, is_lost in lengths_s if not is_lost) / sum(s for s, _ in lengths_s)
    measured_s = None if done.measured_s is None else done.measured_s * share_of_time
    gaps_s, left_out_s = (_gaps_s(before, after["turn"], rows, in_flight) for rows in (measured, left_out))
    share_of_pauses = 1 - left_out_s / gaps_s if gaps_s else 0.0
    paused_s = None if done.paused_s is None else done.paused_s * share_of_pauses
    scaled = {name: value * share for name in _OF_A_SHARE if (value := getattr(done, name)) is not None}
    scaled |= {name: round(value) for name, value in scaled.items() if isinstance(getattr(done, name), int)}
    line = replace(
        done,
        requests=done.requests - requests,
        warmup_requests=done.warmup_requests + requests,
        errors=errors,
        verified=None if done.verified is None else done.verified - gone.get("ok", 0),
        measured_s=measured_s,
        paused_s=paused_s,
        cpu_s=cpu_s,
        cpu_share=cpu_s / measured_s if measured_s else None,
        wire=None if done.wire is None else Wire(**{name: round(n * share) for name, n in vars(done.wire).items()}),
        **scaled,
    )
    return replace(part, done=line)


def _gaps_s(columns: Columns, turns: Integers, rows: npt.NDArray[np.bool_], in_flight: int) -> float:
    """The most that a worker can have paused in these rows: from each reply to the request that it makes room for."""
    gaps_ns = 0
    for turn in np.unique(turns[rows]):
        of_turn = rows & (turns == turn)
        sent, received = np.sort(columns["sent_ns"][of_turn]), np.sort(columns["received_ns"][of_turn])
        gaps_ns += int(np.maximum(0, sent[in_flight:] - received[:-in_flight]).sum())
    return gaps_ns / 1e9 / in_flight
