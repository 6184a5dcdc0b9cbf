"""What else the hosts did while a trial ran, by their counters, and what of it the machine type intends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from orchestrator.evidence import store_times
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence, round_trips_to_open
from orchestrator.experiment.plan.cells import ask_postgresql
from orchestrator.experiment.plan.topology import Limit
from orchestrator.findings.disturbed import MOST
from services.python.contract.counters import HostCounters

LIMITS = {"steal": 0.01, "throttled": 0.01, "pressure": 0.20, "foreign": 0.25}
"""What the check *noise* warns beyond, by the share of `Noise`."""

_RESPONDER = "responder"
_QUIET = 0.10  # of a core, or of the time: so much passes on a quiet machine, in which trials do not differ
_TICKS_PER_S = 100
_FEWEST_TICKS = 3  # steal is counted in ticks of 10 ms: one or two are rounding in a short trial

Counters: TypeAlias = Mapping[str, int | None] | None


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Shares of the time between two readings; None where the system does not count it.

    `steal` and `foreign` are in cores: 0.25 is a quarter of one CPU. `pressure` is the time in which something waited for
    a CPU, and no more of it than others ran: processes of the measurement that wait for each other are its own load.
    `cpus`: of the machine; `used`: cores that were busy on it.
    """

    where: str
    steal: float | None
    throttled: float | None
    pressure: float | None
    foreign: float | None
    cpus: float = 1.0
    used: float = 0.0
    elapsed_s: float = 0.0

    @property
    def held_up(self) -> float:
        """The share of the time in which something could not run: it waited for a CPU, was throttled, or had none."""
        return sum(share or 0.0 for share in (self.steal, self.throttled, self.pressure))

    @property
    def is_loud(self) -> bool:
        """Whether what held it up deserves a warning."""
        return any((getattr(self, kind) or 0.0) > LIMITS[kind] for kind in ("steal", "throttled", "pressure"))

    def beyond(self, limit: Limit | None) -> Noise:
        """Without what the machine type intends: throttling by its quota, steal from what is more than its share."""
        if limit is None:
            return self
        if limit.by == "quota":
            return replace(self, throttled=None if self.throttled is None else 0.0)
        lacked = max(0.0, limit.cores - self.used)
        return replace(self, steal=None if self.steal is None else min(self.steal, lacked))

    def taken(self, limit: Limit | None) -> float:
        """The share of what a trial could use here that others took beyond what the machine type intends."""
        noise = self.beyond(limit)
        waited = max(0.0, (noise.pressure or 0.0) - _QUIET, ((noise.foreign or 0.0) - _QUIET) / noise.cpus)
        return (noise.steal or 0.0) + (noise.throttled or 0.0) + waited


def between(where: str, before: HostCounters | None, after: HostCounters | None, own_cpu_s: float) -> Noise | None:
    """Return the noise between two readings of a host's counters; None without both.

    `own_cpu_s` is what the measurement itself used on that machine; the rest of the busy time is foreign.
    """
    lasted_s = elapsed_s(before, after)
    if before is None or after is None or not lasted_s:
        return None
    ticks_per_s = after.tick_hz or _TICKS_PER_S
    steal, busy, total = (_grown(before.cpu_ticks, after.cpu_ticks, key) for key in ("steal", "busy", "total"))
    if steal is not None and steal < _FEWEST_TICKS:
        steal = 0.0
    throttled = _grown(before.throttling, after.throttling, "throttled_us")
    pressure = _grown(before.pressure_us, after.pressure_us, "cpu")
    used_s = None if busy is None else (busy - (steal or 0.0)) / ticks_per_s
    foreign_s = None if used_s is None else max(0.0, used_s - own_cpu_s)
    waited_s = None if pressure is None else pressure / 1e6
    if waited_s is not None and foreign_s is not None:
        waited_s = min(waited_s, foreign_s + (steal or 0.0) / ticks_per_s)
    return Noise(
        where=where,
        steal=None if steal is None else steal / ticks_per_s / lasted_s,
        throttled=None if throttled is None else throttled / 1e6 / lasted_s,
        pressure=None if waited_s is None else waited_s / lasted_s,
        foreign=None if foreign_s is None else foreign_s / lasted_s,
        cpus=max(1.0, (total or 0.0) / ticks_per_s / lasted_s),
        used=(used_s or 0.0) / lasted_s,
        elapsed_s=lasted_s,
    )


def elapsed_s(before: HostCounters | None, after: HostCounters | None) -> float:
    """The time between two readings; 0 without both."""
    if before is None or after is None or not before.monotonic_ns or not after.monotonic_ns:
        return 0.0
    return max(0.0, (after.monotonic_ns - before.monotonic_ns) / 1e9)


def _grown(before: Counters, after: Counters, key: str) -> float | None:
    first, last = (before or {}).get(key), (after or {}).get(key)
    return None if first is None or last is None else float(last - first)


def noises(cell: CellEvidence, trial: TrialEvidence) -> Iterator[Noise]:
    """What the hosts' counters say of a trial: of each requester's host, and of the responder's, which comes last."""
    record = trial.record
    if record.turns:
        yield from _in_turns(trial)
        return
    stats_before, stats = record.stats_before, record.stats
    database_s: float | None = 0.0
    if ask_postgresql([cell.cell]):  # its server works while a connection is lent
        counts = store_times.counts(record)
        database_s = None if counts is None else float(counts[1].database_s - counts[0].database_s)
    own: dict[str, float] = {}
    for part in trial.parts:
        own[part.host] = own.get(part.host, 0.0) + (part.done.cpu_s or 0.0)
    responder_s = record.responder_measured_cpu_s
    machine_s = sum(own.values()) + ((record.responder_cpu_s or 0.0) if responder_s is None else responder_s)
    machine_s += (database_s or 0.0) + (record.beside_cpu_s or 0.0)
    for part in trial.parts:
        own_s = machine_s if cell.is_one_machine else own[part.host]
        noise = between(part.host, part.done.host_before, part.done.host_after, own_s)
        if noise and cell.is_one_machine and (cell.is_external or database_s is None):
            # Whose time that is, and who waited for it, is not known.
            noise = replace(noise, foreign=None, pressure=None)
        if noise:
            yield noise
    if stats is None or stats_before is None:
        return
    noise = between(_RESPONDER, stats_before.host, stats.host, record.responder_cpu_s or 0.0)
    if noise and cell.is_one_machine:  # the requester's reading holds all of it but the throttling
        noise = replace(noise, steal=None, pressure=None, foreign=None)
    if noise:
        yield noise


def _in_turns(trial: TrialEvidence) -> Iterator[Noise]:
    """What was stolen in the turns that count, and how long the requester waited for a CPU that is not its own.

    All else that hosts count is of the other cells' turns, too.
    """
    turns = trial.record.counted_turns
    length_s = sum(turn.length_s for turn in turns)
    stolen = [turn.stolen_s for turn in turns if turn.stolen_s is not None]
    waited = [turn.waited_s for turn in turns if turn.waited_s is not None]
    for part in trial.parts:
        steal = sum(stolen) / length_s if stolen and length_s else None
        pressure = sum(waited) / length_s if waited and length_s and part.load.concurrency == 1 else None
        yield Noise(where=part.host, steal=steal, throttled=None, pressure=pressure, foreign=None, elapsed_s=length_s)


def held_up(cell: CellEvidence, trial: TrialEvidence) -> float:
    """The share of what a trial could use that others took; what the machine type intends is not in it.

    The two ends wait one after the other, so theirs add up. Of several requesters it is that of the one that lost most.
    It is at most the time in which no request was on the network. In turns it is what the turns that count lost to the
    hypervisor: all else disturbs the other cells alike.
    """
    if turns := trial.record.counted_turns:
        stolen_s = sum(turn.stolen_s or 0.0 for turn in turns)
        is_rounding = stolen_s < _FEWEST_TICKS / _TICKS_PER_S
        return 0.0 if is_rounding or cell.limit else min(MOST, stolen_s / sum(turn.length_s for turn in turns))
    shares = [(noise.where, noise.taken(cell.limit)) for noise in noises(cell, trial)]
    asking = max((share for where, share in shares if where != _RESPONDER), default=0.0)
    answering = sum(share for where, share in shares if where == _RESPONDER)
    return min(MOST, asking + answering, 1 - _on_the_network(cell, trial))


def _on_the_network(cell: CellEvidence, trial: TrialEvidence) -> float:
    """The share of the time of a trial's connections that its requests spent on the network: what others cannot take.

    Each took a round trip for every call, and those that opening a connection of its own takes.
    """
    least_ns = min((r.minimum_ns for r in trial.readings_of("ping") if r.minimum_ns), default=0)
    if not least_ns or not trial.totals.window_s:
        return 0.0
    opening = round_trips_to_open(cell.stack) + cell.cell.handshakes if cell.cell.connection == "per-request" else 0
    trips = trial.totals.ok * (cell.cell.in_a_row + opening)
    return min(1.0, trips * least_ns / 1e9 / trial.totals.window_s / max(1, cell.cell.load.concurrency))
