"""From what both ends counted to the cost of requests: of each trial, of a cell, and in US dollars on a priced machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.experiment.machines import MACHINES, usd_per_hour
from orchestrator.experiment.plan.estimate import usd_per_gib
from orchestrator.experiment.plan.plan import Placement, Plan
from orchestrator.experiment.plan.topology import region_of, topology
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.findings.cost import PER, SHOWN, CellCost, TrialCost
from orchestrator.findings.summary import TrialSummary
from orchestrator.results.manifest import TrialRecord
from orchestrator.statistics import intervals
from services.python.contract.lines import Since

_GIB = 2**30
_MILLION = 1_000_000


def of_trial(record: TrialRecord) -> TrialCost | None:
    """What a trial took, by what both ends said at its end; None without a sample."""
    ends = [requester.done for requester in record.requesters]
    samples = sum(done.events.delivered if done.events else done.requests for done in ends)
    if not samples:
        return None
    wires = [done.wire for done in ends]
    memory, since = _largest_host(record)
    stats = record.stats if record.stats_warm else None  # a peak that begins with the trial's requests is of no phase
    return TrialCost(
        samples=samples,
        responder_cpu=_each(record.responder_measured_cpu_s, samples),
        requester_cpu=_each(_total([done.cpu_s for done in ends]), samples),
        responder_memory=stats.memory_bytes if stats else None,
        responder_memory_since=stats.memory_since if stats else None,
        requester_memory=memory,
        requester_memory_since=since,
        wire_bytes_sent=_each(_total([wire.bytes_sent if wire else None for wire in wires]), samples),
        wire_bytes_received=_each(_total([wire.bytes_received if wire else None for wire in wires]), samples),
        packets_sent=_each(_total([wire.segments_sent if wire else None for wire in wires]), samples),
        packets_received=_each(_total([wire.segments_received if wire else None for wire in wires]), samples),
    )


def of_cell(trials: Sequence[TrialSummary], paid: Prices | None) -> dict[str, CellCost]:
    """Each quantity that every trial of the cell has, and what a million samples cost where there are prices."""
    costs = [trial.cost for trial in trials]
    costs_of_cell: dict[str, CellCost] = {}
    for name in SHOWN:
        values = [getattr(cost, name) if cost else None for cost in costs]
        known = [float(value) for value in values if value is not None and value > 0]
        if known and len(known) == len(values):
            mean = intervals.of_trials(known)
            costs_of_cell[name] = CellCost(
                value=mean.ratio,
                interval=mean.interval(),
                is_whole_life=any(getattr(cost, f"{name}_since", None) == "process" for cost in costs),
            )
    return costs_of_cell | ({} if paid is None else paid.of(costs_of_cell))


class Prices:
    """What a second of CPU time and a GiB cost at the two ends of a placement, in US dollars; None where not known.

    A second of CPU is paid for as if the machine did nothing but answer, all the time: its price per hour over its cores.
    """

    def __init__(self, plan: Plan, placement: Placement) -> None:
        wanted = topology(plan)
        ends = wanted.ends[placement.id]
        zones = {host.name: host.zone for host in wanted.hosts}
        self._responder = usd_per_cpu_s(plan.machine, zones[ends.responder])
        self._requester = usd_per_cpu_s(plan.machine, zones[ends.requesters[0]])
        self._gib = usd_per_gib(zones[ends.requesters[0]], zones[ends.responder])

    def of(self, costs: Mapping[str, CellCost]) -> dict[str, CellCost]:
        """What a million samples cost by these quantities; what lacks a price or a count is left out."""
        priced: dict[str, CellCost] = {}
        for end, price in (("responder", self._responder), ("requester", self._requester)):
            cpu = costs.get(f"{end}_cpu")
            if cpu is not None and price is not None:
                priced[f"{end}_usd"] = _times(cpu, price * _MILLION / PER)
        sent, received = costs.get("wire_bytes_sent"), costs.get("wire_bytes_received")
        if sent and received and self._gib:
            both = (sent.value + received.value) * self._gib / _GIB * _MILLION / PER
            priced["traffic_usd"] = CellCost(value=both, interval=None)
        return priced


def prices(plan: Plan, placement: Placement) -> Prices | None:
    """The prices of a placement; None where none is known, or nobody sends a bill."""
    is_paid_for = PROVIDERS[plan.provider].has_prices and plan.machine is not None and placement.kind != "external"
    return Prices(plan, placement) if is_paid_for else None


def usd_per_cpu_s(machine: str | None, zone: str) -> float | None:
    """What a second of CPU costs on a machine that is busy all the time; None for one without a known price.

    >>> round(usd_per_cpu_s("e2-standard-2", "us-central1-a") * 1e6, 2)
    10.0
    """
    price = usd_per_hour(machine or "", region_of(zone))
    return None if price is None or machine not in MACHINES else price / (3600 * MACHINES[machine].cores)


def _times(cost: CellCost, factor: float) -> CellCost:
    low_high = cost.interval and (cost.interval[0] * factor, cost.interval[1] * factor)
    return CellCost(value=cost.value * factor, interval=low_high)


def _each(total: float | None, samples: int) -> float | None:
    return None if total is None else total * PER / samples


def _total(values: Sequence[float | None]) -> float | None:
    """The sum; None when some are unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _largest_host(record: TrialRecord) -> tuple[int | None, Since | None]:
    """The peak of the host that had the largest, and since when it counts: the process's start if any does.

    The peaks of a host's processes are added up. None when some are unknown.
    """
    hosts: dict[str, int] = {}
    for requester in record.requesters:
        if requester.done.memory_bytes is None:
            return None, None
        hosts[requester.host] = hosts.get(requester.host, 0) + requester.done.memory_bytes
    is_whole_life = any(requester.done.memory_since == "process" for requester in record.requesters)
    return max(hosts.values(), default=None), "process" if is_whole_life else "phase"
