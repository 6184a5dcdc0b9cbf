"""What the graded faults do to one trial of a clean run; each takes the draft, the size, and a source of chance."""

from __future__ import annotations

import numpy as np

from benchmarks.checks.realistic import FAR
from orchestrator.evidence.stream_samples import due
from orchestrator.results.turn_times import REST_S, TurnTime
from services.python.contract.lines import STATUSES
from tests.support.event_runs import EVENT, without
from tests.support.runs import Draft


def _latency(draft: Draft) -> np.ndarray:
    return draft.columns["received_ns"] - draft.columns["sent_ns"]


def _measured(draft: Draft) -> np.ndarray:
    return np.flatnonzero(draft.columns["phase"] == 1)


def _some(draft: Draft, share: float, rng: np.random.Generator) -> np.ndarray:
    """Places of measured rows, a share of them by chance, at least one; never the first."""
    rows = _measured(draft)[1:]
    return np.sort(rng.choice(rows, size=max(1, round(share * rows.size)), replace=False))


def _stretch(draft: Draft, factor: np.ndarray | float) -> None:
    """Multiply latencies, and begin each request so much later as those before it took longer."""
    latency = _latency(draft)
    longer = (latency * factor).astype(np.int64)
    shift = np.concatenate([[0], np.cumsum(longer - latency)[:-1]])
    for name in ("sent_ns", "intended_ns"):
        draft.columns[name] = draft.columns[name] + shift
    draft.columns["received_ns"] = draft.columns["sent_ns"] + longer
    for name in ("monotonic_ns", "wall_ns"):
        draft.done["anchor_end"][name] += int(abs(shift[-1])) + int(abs(longer[-1] - latency[-1]))


def stop_early(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Stop the clock before the reply is there; the next request is sent when it was."""
    latency = _latency(draft)
    draft.columns["received_ns"] = draft.columns["received_ns"] - (latency * size).astype(np.int64)


def stop_early_by(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Stop the clock so many microseconds before the reply is there."""
    draft.columns["received_ns"] = draft.columns["received_ns"] - int(size * 1_000)


def stop_early_once(draft: Draft, size: float, rng: np.random.Generator) -> None:
    """The same in one block alone."""
    if draft.block == 2:
        stop_early_by(draft, size, rng)


def remove_round_trips(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Take so many round trips off each call over the distance."""
    if draft.cell.placement == FAR.id:
        draft.columns["received_ns"] -= int(size * (FAR.link.rtt_ms or 0) * 1e6)


def add_round_trips(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Let each call over the distance take so many round trips more."""
    if draft.cell.placement == FAR.id:
        _stretch(draft, 1 + size * (FAR.link.rtt_ms or 0) * 1e6 / _latency(draft))


def outrun_the_link(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Squeeze the trial into a window in which its bodies make this share of the link's rate."""
    rows = _measured(draft)
    first = int(draft.columns["sent_ns"][rows].min())
    window_ns = int(draft.columns["received_ns"][rows].max()) - first
    body_bits = 8 * int(draft.columns["bytes_received"][rows].sum())
    wanted_ns = body_bits / ((FAR.link.rate_mbit or 0) * size) * 1e3
    for name in ("sent_ns", "intended_ns", "received_ns"):
        draft.columns[name] = first + ((draft.columns[name] - first) * (wanted_ns / window_ns)).astype(np.int64)


def send_before_the_reply(draft: Draft, size: float, rng: np.random.Generator) -> None:
    """Send requests halfway through the one before."""
    places = _some(draft, size, rng)
    begun = draft.columns["sent_ns"]
    begun[places] -= (begun[places] - begun[places - 1]) // 2


def grow_with_place(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Let latency grow linearly with the request's place, up to so many times."""
    rows = _measured(draft)
    factor = np.ones(draft.columns["phase"].size)
    factor[rows] = np.linspace(1, size, rows.size)
    _stretch(draft, factor)


def drop_the_slowest(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Leave the slowest requests out of the record, and out of what the requester says of it."""
    slowest = _slowest(draft, int(size))
    draft.columns = {name: np.delete(values, slowest) for name, values in draft.columns.items()}
    for name in ("rows", "requests", "verified"):
        draft.done[name] -= slowest.size


def _slowest(draft: Draft, count: int) -> np.ndarray:
    rows = _measured(draft)
    return rows[np.argsort(_latency(draft)[rows])[-count:]]


def enter_the_slowest_as_warm_up(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Say that the slowest requests belong to the warm-up, in the record and beside it."""
    slowest = _slowest(draft, int(size))
    draft.columns["phase"][slowest] = 0
    draft.done["warmup_requests"] += slowest.size
    for name in ("requests", "verified"):
        draft.done[name] -= slowest.size


def enter_the_slowest_as_not_sent(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Say that the slowest requests were never sent; they reached the responder all the same, whose count is lowered."""
    slowest = _slowest(draft, int(size))
    draft.columns["status"][slowest] = STATUSES.index("not-sent")
    draft.columns["connection"][slowest] = -1
    draft.done |= {"not_sent": int(slowest.size), "not_sent_reason": "connections-busy"}
    for name in ("requests", "verified"):
        draft.done[name] -= slowest.size
    draft.stats["answered"] -= int(slowest.size)


def leave_unverified(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Count replies that nobody compared."""
    draft.done["verified"] -= int(size)


def break_connections(draft: Draft, size: float, rng: np.random.Generator) -> None:
    """The responder closes connections: one request fails by it, the next one opens another."""
    places = _some(draft, size, rng)
    closed = np.zeros(draft.columns["phase"].size, dtype=np.int64)
    closed[places] = 1
    draft.columns["status"][places] = STATUSES.index("closed")
    draft.columns["connection"] += np.concatenate([[0], np.cumsum(closed)[:-1]])
    draft.done["connections_opened"] += places.size
    draft.done["errors"] = {"closed": int(places.size)}
    draft.done["verified"] -= int(places.size)
    draft.stats["peers"] += int(places.size)
    draft.stats["answered"] -= int(places.size)


def keep_connections(draft: Draft, size: float, rng: np.random.Generator) -> None:
    """Send requests over the connection of the one before."""
    places = _some(draft, size, rng)
    draft.columns["connection"][places] = draft.columns["connection"][places - 1]
    draft.done["connections_opened"] -= places.size
    draft.stats["peers"] -= int(places.size)


def put_channels_together(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Carry the requests of so many connections over another one; the requester numbers them all the same."""
    draft.stats["peers"] -= int(size)


def leave_connections_unused(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Use so many connections fewer than declared, and say so."""
    last = draft.cell.load.concurrency - int(size) - 1
    draft.columns["connection"] = np.minimum(draft.columns["connection"], last)
    draft.stats["peers"] -= int(size)


def send_too_slowly(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Fall behind the schedule more and more."""
    latency = _latency(draft)
    first = int(draft.columns["intended_ns"].min())
    draft.columns["sent_ns"] = first + ((draft.columns["sent_ns"] - first) / (1 - size)).astype(np.int64)
    draft.columns["received_ns"] = draft.columns["sent_ns"] + latency


def enter_the_schedule_late(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Say of every request that it was due so many microseconds later."""
    draft.columns["intended_ns"] = draft.columns["intended_ns"] + int(size * 1_000)


def start_slowly(draft: Draft, size: float, rng: np.random.Generator) -> None:
    """Begin to measure one stack before it is warm."""
    if draft.cell.stack.startswith("grpc"):
        begin_cold(draft, size, rng)


def begin_cold(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Begin to measure before the stack is warm."""
    rows = _measured(draft)
    factor = np.ones(draft.columns["phase"].size)
    factor[rows[: rows.size // 5]] = 1 + size
    _stretch(draft, factor)


def work_beside(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Use the CPU for something else."""
    after, before = draft.done["host_after"], draft.done["host_before"]
    elapsed_s = (after["monotonic_ns"] - before["monotonic_ns"]) / 1e9
    after["cpu_ticks"]["busy"] += int(size * elapsed_s * after["tick_hz"])


def count_coarsely(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Take stamps from a clock with large steps."""
    step = max(1, int(size * float(np.median(_latency(draft)[_measured(draft)]))))
    for name in ("sent_ns", "intended_ns", "received_ns"):
        draft.columns[name] = draft.columns[name] // step * step


def carry_less(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Let bodies be smaller than their payload."""
    for name in ("bytes_sent", "bytes_received"):
        draft.columns[name] = (draft.columns[name] * (1 - size)).astype(np.int64)


def prefer_the_control(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Slow down the second entry of the reference."""
    if "-aa" in draft.cell.stack:
        _stretch(draft, 1 + size)


def wait_for_an_acknowledgement(draft: Draft, size: float, rng: np.random.Generator) -> None:
    """Let requests wait for a delayed acknowledgement, 40 ms."""
    factor = np.ones(draft.columns["phase"].size)
    places = _some(draft, size, rng)
    factor[places] = 1 + 40e6 / _latency(draft)[places]
    _stretch(draft, factor)


def lose_packets(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Count packets that TCP sent again; latencies are left as they are."""
    draft.done["wire"]["retransmits"] += round(size * draft.done["requests"])


def fill_the_responders_core(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Let the responder compute for this share of the time."""
    elapsed_s = float(draft.columns["received_ns"].max() - draft.columns["sent_ns"].min()) / 1e9
    draft.stats["cpu_s"] = draft.stats_before["cpu_s"] + size * elapsed_s


def fill_the_requesters_time(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Let the requester verify and record for this share of the time."""
    draft.done["entering_s"] = size * draft.done["measured_s"]


def work_while_idle(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Let the responder of a cell in turns use so much of a CPU while all ends rest."""
    rows = _measured(draft)
    begin_ns, end_ns = int(draft.columns["sent_ns"][rows].min()), int(draft.columns["received_ns"][rows].max())
    turn = TurnTime(requests=rows.size, warm_up=0, begin_ns=begin_ns, end_ns=end_ns, cpu_s=draft.done["cpu_s"])
    draft.record |= {"turns": (turn,), "rest_cpu_s": size * REST_S}


def decode_late(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Let one stack stop its clock before it decodes: so much of the latency is work after it, as the requester says."""
    if not draft.cell.stack.startswith("grpc"):
        return
    latency = _latency(draft)
    late = (latency * size).astype(np.int64)
    draft.columns["received_ns"] = draft.columns["received_ns"] - late
    draft.done["paused_s"] += float(late[_measured(draft)].sum()) / 1e9


def _events(draft: Draft) -> np.ndarray:
    """Where a stream's measured events stand."""
    return np.flatnonzero((draft.columns["kind"] == EVENT) & (draft.columns["phase"] == 1))


def drop_events(draft: Draft, share: float, source: np.random.Generator) -> None:
    """Of a stream's measured events, some never come."""
    events = _events(draft)
    keep = np.ones(draft.columns["sequence"].size, dtype=bool)
    keep[source.choice(events, size=round(share * events.size), replace=False)] = False
    without(draft, keep)


def repeat_events(draft: Draft, share: float, source: np.random.Generator) -> None:
    """Some events come again, right behind themselves."""
    events = _events(draft)
    again = source.choice(events, size=max(1, round(share * events.size)), replace=False)
    rows = {name: np.concatenate([values, values[again]]) for name, values in draft.columns.items()}
    rows["received_ns"][-again.size :] += 1_000
    draft.columns = rows
    _in_order_of_receipt(draft)


def send_events_late(draft: Draft, share: float, source: np.random.Generator) -> None:
    """Some events are sent one and a half intervals late, and those behind them right after."""
    _send_late(draft, share, 1.5, source)


def _send_late(draft: Draft, share: float, intervals: float, source: np.random.Generator) -> None:
    rows, late_ns = draft.columns, int(intervals * due(draft.cell)[0])
    for mine in _each_subscription(draft):
        may_be_late = mine[:-5]  # or else the subscription would end before its last event
        late = source.choice(may_be_late, size=max(1, round(share * may_be_late.size)), replace=False)
        took = rows["received_ns"][mine] - rows["sender_ns"][mine]
        rows["sender_ns"][late] += late_ns
        rows["sender_ns"][mine] = np.maximum.accumulate(rows["sender_ns"][mine])
        rows["received_ns"][mine] = np.maximum.accumulate(rows["sender_ns"][mine] + took)
    _in_order_of_receipt(draft)


def stamp_events_late(draft: Draft, size_ms: float, source: np.random.Generator) -> None:
    """One event in a hundred is stamped so many milliseconds after it was sent, by a clock of another host."""
    rows = draft.columns
    for mine in _each_subscription(draft):
        late = source.choice(mine, size=max(1, mine.size // 100), replace=False)
        rows["sender_ns"][late] += int(size_ms * 1e6)


def slow_the_sender_down(draft: Draft, share: float, _source: np.random.Generator) -> None:
    """The sender keeps less than its rate, by this share."""
    rows = draft.columns
    for mine in _each_subscription(draft):
        sender = rows["sender_ns"][mine]
        later = ((sender - sender[0]) * share / (1 - share)).astype(np.int64)
        rows["sender_ns"][mine] += later
        rows["received_ns"][mine] += later
        _end_behind(draft, mine)
    _in_order_of_receipt(draft)


def _end_behind(draft: Draft, mine: np.ndarray) -> None:
    """Let the subscription of these events end after the last of them."""
    rows = draft.columns
    its_own = (rows["kind"] != EVENT) & (rows["sequence"] == rows["parent"][mine[0]])
    rows["received_ns"][its_own] = rows["received_ns"][mine].max() + 1_000_000


def _each_subscription(draft: Draft) -> list[np.ndarray]:
    """Where the measured events of each subscription stand, in the order in which they were sent."""
    events, rows = _events(draft), draft.columns
    of = [events[rows["parent"][events] == parent] for parent in np.unique(rows["parent"][events])]
    return [mine[np.argsort(rows["sequence"][mine], kind="stable")] for mine in of]


def _in_order_of_receipt(draft: Draft) -> None:
    order = np.argsort(draft.columns["received_ns"], kind="stable")
    draft.columns = {name: values[order] for name, values in draft.columns.items()}
