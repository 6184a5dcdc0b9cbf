"""noise: what else the hosts did while a trial ran. A noisy machine is a warning: its numbers are valid, but spread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TypeAlias

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import CALLS, CODECS, STREAMS, Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence, TrialEvidence
from orchestrator.experiment.plan.databases import ask_postgresql
from orchestrator.results.manifest import TrialRecord
from services.python.contract.counters import HostCounters

_STEAL, _THROTTLED, _PRESSURE, _FOREIGN = 0.01, 0.01, 0.20, 0.25
_FEWEST_TICKS = 3  # steal is counted in ticks of 10 ms: one or two are rounding in a short trial


Counters: TypeAlias = Mapping[str, int | None] | None


@dataclass(frozen=True, kw_only=True)
class Noise:
    """Shares of the time between two readings; None where the system does not count it.

    `steal` and `foreign` are in cores: 0.25 is a quarter of one CPU. `pressure` is the time in which something waited for
    a CPU, and no more of it than others ran: processes of the measurement that wait for each other are its own load.
    """

    where: str
    steal: float | None
    throttled: float | None
    pressure: float | None
    foreign: float | None
    elapsed_s: float = 0.0

    @property
    def held_up(self) -> float:
        """The share of the time in which something could not run: it waited for a CPU, was throttled, or had none."""
        return sum(share or 0.0 for share in (self.steal, self.throttled, self.pressure))

    @property
    def is_loud(self) -> bool:
        """Whether that is worth a warning."""
        limits = ((self.steal, _STEAL), (self.throttled, _THROTTLED), (self.pressure, _PRESSURE))
        return any(share is not None and share > limit for share, limit in limits)


def between(where: str, before: HostCounters | None, after: HostCounters | None, own_cpu_s: float) -> Noise | None:
    """What a host's counters say happened; None without two readings.

    `own_cpu_s` is what the measurement itself used on that host; the rest of the busy time is foreign.
    """
    if before is None or after is None or not before.monotonic_ns or not after.monotonic_ns:
        return None
    elapsed_s = (after.monotonic_ns - before.monotonic_ns) / 1e9
    if elapsed_s <= 0:
        return None

    ticks_per_s = after.tick_hz or 100
    steal, busy = (_grown(before.cpu_ticks, after.cpu_ticks, key) for key in ("steal", "busy"))
    if steal is not None and steal < _FEWEST_TICKS:
        steal = 0.0
    throttled = _grown(before.throttling, after.throttling, "throttled_us")
    pressure = _grown(before.pressure_us, after.pressure_us, "cpu")
    foreign_s = None if busy is None else max(0.0, (busy - (steal or 0.0)) / ticks_per_s - own_cpu_s)
    waited_s = None if pressure is None else pressure / 1e6
    if waited_s is not None and foreign_s is not None:
        waited_s = min(waited_s, foreign_s + (steal or 0.0) / ticks_per_s)
    return Noise(
        where=where,
        steal=None if steal is None else steal / ticks_per_s / elapsed_s,
        throttled=None if throttled is None else throttled / 1e6 / elapsed_s,
        pressure=None if waited_s is None else waited_s / elapsed_s,
        foreign=None if foreign_s is None else foreign_s / elapsed_s,
        elapsed_s=elapsed_s,
    )


def _grown(before: Counters, after: Counters, key: str) -> float | None:
    first, last = (before or {}).get(key), (after or {}).get(key)
    return None if first is None or last is None else float(last - first)


def judge(cell: CellEvidence) -> Finding | None:
    """The loudest trial, at either end."""
    seen = [(trial, noise) for trial in cell.trials for noise in noises(cell, trial)]
    findings = [_finding(trial, noise) for trial, noise in seen]
    if not findings:
        return Finding(
            verdict="cannot tell",
            explanation="The hosts have no counters for steal, throttling or pressure.",
            action="Measure on Linux, which has them, or make sure that nothing else runs.",
        )
    loudest = worst(findings)
    assert loudest is not None  # noqa: S101 - narrows the type
    if loudest.verdict == "pass" and (cell.is_external or cell.is_link_a_program or _has_a_database_beside(cell)):
        loudest = _of_one_end(cell, loudest)
    return replace(loudest, evidence={**loudest.evidence, "in_a_third": _in_a_third(seen)})


def _in_a_third(seen: Sequence[tuple[TrialEvidence, Noise]]) -> dict[str, float]:
    """By kind, the share that a third of the trials reach or exceed: one loud trial is no loud machine."""
    found = {}
    for kind in ("steal", "throttled", "pressure", "foreign"):
        by_trial: dict[int, float] = {}
        for trial, noise in seen:
            by_trial[trial.record.index] = max(by_trial.get(trial.record.index, 0.0), getattr(noise, kind) or 0.0)
        found[kind] = sorted(by_trial.values(), reverse=True)[ceil(len(by_trial) / 3) - 1]
    return found


def noises(cell: CellEvidence, trial: TrialEvidence) -> Iterator[Noise]:
    """What the hosts' counters say of a trial: of each requester's host, and of the responder's."""
    record = trial.record
    stats_before, stats = record.stats_before, record.stats
    responder_s = record.responder_cpu_s or 0.0
    measured_s = record.responder_measured_cpu_s  # a requester looks at its host when the warm-up is over
    requester_s = [part.done.cpu_s or 0.0 for part in trial.parts]
    database_s = _database_s(record) if ask_postgresql([cell.cell]) else 0.0
    both_s = (responder_s if measured_s is None else measured_s) + sum(requester_s) + (database_s or 0.0)
    of_host: dict[str, float] = {}
    for part, own_s in zip(trial.parts, requester_s, strict=True):
        of_host[part.host] = of_host.get(part.host, 0.0) + own_s
    for part in trial.parts:
        own_s = both_s if cell.is_one_machine else of_host[part.host]
        noise = between(part.host, part.done.host_before, part.done.host_after, own_s)
        if noise and cell.is_one_machine and (cell.is_external or cell.is_link_a_program or database_s is None):
            # Whose time that is, and who waited for it, is not known.
            noise = replace(noise, foreign=None, pressure=None)
        if noise:
            yield noise
    noise = between("responder", stats_before.host, stats.host, responder_s) if stats and stats_before else None
    if noise and cell.is_one_machine:  # the requester's reading holds all of it but the responder's own quota
        noise = replace(noise, steal=None, pressure=None, foreign=None)
    if noise:
        yield noise


def _database_s(record: TrialRecord) -> float | None:
    """The most that a database's server used: it works while a connection is lent. None where that is not told."""
    before = record.stats_warm.store if record.stats_warm else None
    after = record.stats.store if record.stats else None
    return None if before is None or after is None else float(after.database_s - before.database_s)


def _has_a_database_beside(cell: CellEvidence) -> bool:
    """Whether a database's server, whose work is not counted by itself, is on the requester's machine."""
    return cell.is_one_machine and ask_postgresql([cell.cell])


def _of_one_end(cell: CellEvidence, quiet: Finding) -> Finding:
    """What a quiet requester's host says where the responder's work, the database's or the link's is not known."""
    if cell.is_link_a_program and not cell.is_external:
        return replace(
            quiet,
            verdict="cannot tell",
            explanation="Little CPU time was stolen or throttled; what others used is not told from the work of the program"
            " that emulates the distance here.",
            action="See for yourself that nothing else runs here, or use a kernel with netem.",
        )
    if not cell.is_external:
        return replace(
            quiet,
            verdict="cannot tell",
            explanation="Little CPU time was stolen or throttled; what others used is not told from what the database's"
            " server did while it was asked.",
            action="See for yourself that nothing else runs here, or give the database a host of its own.",
        )
    return replace(
        quiet,
        verdict="cannot tell",
        explanation=f"The requester's host was quiet; what disturbed the responder is not known: {words.NOT_OURS}.",
        action="See for yourself that nothing else runs where it answers.",
    )


def _finding(trial: TrialEvidence, noise: Noise) -> Finding:
    evidence = {"trial": trial.record.index, **noise.__dict__}
    loud = [
        (share / limit, text.format(words.percent(share)))
        for share, limit, text in (
            (noise.steal, _STEAL, "the hypervisor took {} of a core away"),
            (noise.throttled, _THROTTLED, "the CPU quota stopped it for {} of the time"),
            (noise.pressure, _PRESSURE, "something waited for a CPU that others used for {} of the time"),
            (noise.foreign, _FOREIGN, "other processes used {} of a core"),
        )
        if share is not None and share > limit
    ]
    if loud:
        return Finding(
            verdict="warn",
            evidence=evidence,
            explanation=f"On {noise.where}, during {trial.called}: {'; '.join(text for _, text in loud)}.",
            weight=max(excess for excess, _ in loud),
            action="Trust differences within a block, not absolute numbers, or repeat on a quiet machine.",
        )
    if all(share is None for share in (noise.steal, noise.throttled, noise.pressure, noise.foreign)):
        return Finding(
            verdict="cannot tell",
            evidence=evidence,
            explanation=f"{noise.where[:1].upper()}{noise.where[1:]} counts neither steal, throttling nor pressure.",
            action="Measure on Linux, which does, or make sure that nothing else runs.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation="The hosts were quiet.")


CHECK = Check(name="noise", severity="note", kinds=CALLS | CODECS | STREAMS, judge=judge)
