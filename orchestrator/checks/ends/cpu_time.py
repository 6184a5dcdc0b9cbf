"""CPU time: whether what the ends count of themselves agrees with what their cgroups, or else their hosts, count.

A process cannot have used more than the cgroup that it is in, or than all CPUs of its host together. Less is no fault: other
processes are in the group, the other end may be one of them, and the kernel works for the network outside of any process.
In turns, an end that uses CPU time while it is idle takes it from another stack.
Only a warning: latencies do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator import quantities
from orchestrator.checks.base import CALLS, STREAMS, Check, Finding, cannot_tell, passes, warns
from orchestrator.evidence.host_noise import elapsed_s as elapsed
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence
from orchestrator.results.turn_times import REST_S
from services.python.contract.counters import HostCounters
from services.python.contract.requester_lines import Done

_TOO_MUCH = 1.05
_SLACK_S = 0.03  # the two are not read at the same moment
_TICKS_TOO_MUCH = 1.2  # a host counts by samples, some hundred a second
_TICKS_SLACK_S = 0.1
MOST_IDLE = 0.05
"""Of a CPU: what an idle end may use."""


def judge(cell: CellEvidence) -> Iterator[Finding]:
    """The trial and end that disagrees most, or used most while it was idle."""
    for trial in cell.trials:
        yield from (_finding(trial, *end) for end in _ends(trial))
    yield from idle_ends(cell)


def _ends(trial: TrialEvidence) -> Iterator[tuple[str, float, str, float]]:
    """Each end with its CPU seconds of the measured phase, who else counted, and how much."""
    record = trial.record
    own_s = record.responder_measured_cpu_s
    if own_s is not None and record.stats_warm is not None and record.stats is not None:
        yield from (("responder", own_s, *c) for c in _counted(record.stats_warm.host, record.stats.host))
    hosts: dict[str, list[Done]] = {}
    for part in trial.parts:
        hosts.setdefault(part.host, []).append(part.done)
    for dones in hosts.values():
        own = [done.cpu_s for done in dones if done.cpu_s is not None]
        if len(own) == len(dones):  # one count holds all processes of a host, from the first's start to the last's end
            before = min(
                (d.host_before for d in dones if d.host_before), key=lambda c: c.monotonic_ns or 0, default=None
            )
            after = max((d.host_after for d in dones if d.host_after), key=lambda c: c.monotonic_ns or 0, default=None)
            end = "requester" if len(dones) == 1 else "requester with its processes"
            yield from ((end, sum(own), *c) for c in _counted(before, after))


def _counted(before: HostCounters | None, after: HostCounters | None) -> Iterator[tuple[str, float]]:
    """What the cgroup counted between two readings, or else the host; nothing where neither does."""
    if before is None or after is None:
        return
    if before.cgroup_cpu_us is not None and after.cgroup_cpu_us is not None:
        yield "cgroup", (after.cgroup_cpu_us - before.cgroup_cpu_us) / 1e6
    elif before.cpu_ticks and after.cpu_ticks and after.tick_hz:
        busy = [reading.cpu_ticks.get("busy") for reading in (before, after) if reading.cpu_ticks]
        if busy[0] is not None and busy[1] is not None:
            yield "host", (busy[1] - busy[0]) / after.tick_hz


def _finding(trial: TrialEvidence, end: str, own_s: float, by: str, counted_s: float) -> Finding:
    evidence = {"trial": trial.record.index, "end": end, "process_s": own_s, "counted_by": by, "counted_s": counted_s}
    by_process, by_other = quantities.ms(own_s * 1e3), quantities.ms(counted_s * 1e3)
    factor, slack_s = (_TOO_MUCH, _SLACK_S) if by == "cgroup" else (_TICKS_TOO_MUCH, _TICKS_SLACK_S)
    if own_s > counted_s * factor + slack_s:
        return warns(
            f"The {end} says that it used {by_process} of CPU time in {trial.called}, and its {by} counted {by_other}, "
            "in which that should be: one of the two is wrong.",
            "Do not rely on CPU time per request here; latencies are not affected.",
            evidence,
            weight=own_s / counted_s if counted_s > 0 else own_s / slack_s,
        )
    rest_s = max(0.0, counted_s - own_s)
    return passes(
        f"The {end}'s own count, {by_process}, lies within that of its {by}, {by_other}; what else is in that used "
        f"{quantities.ms(rest_s * 1e3)}.",
        evidence,
        weight=rest_s,
    )


def idle_ends(cell: CellEvidence) -> list[Finding]:
    """What each end used while another stack had its turn, of a cell in turns; none of another cell.

    After the turns of a block all ends rest: what the responder uses then, it used beside the others' turns, too. A
    requester's own counters hold its turns and the time between them.
    """
    return [_idle_end(trial, *share) for trial in cell.trials if trial.record.turns for share in _shares(trial)]


def _shares(trial: TrialEvidence) -> Iterator[tuple[str, float]]:
    """Each end, and what it used of a CPU while it was idle."""
    record = trial.record
    if record.rest_cpu_s is not None:
        yield "responder", record.rest_cpu_s / REST_S
    for part in record.requesters:
        before, after = part.done.host_before, part.done.host_after
        elapsed_s = elapsed(before, after)
        if before is None or after is None or not before.process or not after.process:
            continue
        work = [turn.cpu_s * (turn.requests + turn.warm_up) / max(1, turn.requests) for turn in record.turns]
        idle_s = elapsed_s - sum(turn.length_s for turn in record.turns)
        used_s = after.process.get("cpu_s", 0.0) - before.process.get("cpu_s", 0.0) - sum(work)
        if idle_s > 1:
            yield "requester", max(0.0, used_s) / idle_s


def _idle_end(trial: TrialEvidence, end: str, share: float) -> Finding:
    evidence = {"trial": trial.record.index, "end": end, "share": share}
    used = f"The {end} used {quantities.percent(share)} of a CPU while it was idle"
    if share <= MOST_IDLE:
        return passes(f"{used}.", evidence, weight=share)
    return warns(
        f"{used}, in {trial.called}: the other stacks had less of it in their turns.",
        "Give `turn: 'off'`, or look for what it does without requests: a thread that polls, a timer.",
        evidence,
        weight=share,
    )


CHECK = Check(
    name="CPU time",
    severity="note",
    kinds=CALLS | STREAMS,
    judge=judge,
    otherwise=cannot_tell(
        "There is nothing to compare the ends' CPU time with: they, their cgroups and hosts do not count it.",
        "Measure on Linux, where all of them do.",
    ),
)
