"""Requester processes of one host: their samples have one clock, and are put together by it. Hosts have none in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orchestrator.evidence.run_evidence import Samples
from orchestrator.results.manifest import RequesterRecord
from orchestrator.statistics import quantiles as st

_COUNTED_BY_EACH = ("sequence", "connection")  # from 0 or 1 on by every process for itself
_STAMPS = ("intended_ns", "sent_ns", "received_ns")
_NEVER_SENT = -1  # the connection of what was due and not sent


@dataclass(frozen=True, kw_only=True)
class OnHost:
    """The requester processes of one host in one trial, and what they recorded as one record.

    `host` is its name; `whole` the record of the only process, where there is one.
    """

    host: str
    records: tuple[RequesterRecord, ...]
    parts: tuple[Samples, ...]
    whole: Samples

    @property
    def paused_s(self) -> float:
        """How long each of the host's workers paused, on average (`paused_s` of protos/process.md)."""
        workers = sum(samples.in_flight for samples in self.parts)
        paused_s = sum((r.done.paused_s or 0.0) * s.in_flight for r, s in zip(self.records, self.parts, strict=True))
        return paused_s / workers if workers else 0.0

    @property
    def rate_per_s(self) -> float | None:
        """Replies per second of the time in which the host's workers asked, or could have: from its first to its last.

        What a worker did between two requests for our sake (`paused_s` of protos/process.md) is no time of the stack's. Of
        what is no part of the window nothing is taken off: the check Little's law fails, and the trial is there to be shown.
        """
        samples, paused_s = self.whole, self.paused_s
        if not 0 <= paused_s < samples.span_ns / 1e9:
            paused_s = 0.0
        return st.per_second(int(samples.ok.sum()), samples.span_ns / 1e9 - paused_s)


def by_host(requesters: Iterable[tuple[RequesterRecord, Samples]]) -> tuple[OnHost, ...]:
    """A trial's requesters by the host that they ran on, in the order of their first."""
    hosts: dict[str, list[tuple[RequesterRecord, Samples]]] = {}
    for record, samples in requesters:
        hosts.setdefault(record.host, []).append((record, samples))
    return tuple(
        OnHost(
            host=host,
            records=tuple(record for record, _ in members),
            parts=tuple(samples for _, samples in members),
            whole=put_together([samples for _, samples in members]),
        )
        for host, members in hosts.items()
    )


def put_together(parts: Sequence[Samples]) -> Samples:
    """What several processes recorded by one clock as one record, of all their requests in flight; itself of one.

    Sequence numbers and connections are numbered on from one process to the next, so that none occurs twice.
    """
    if len(parts) == 1:
        return parts[0]
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    for name in _COUNTED_BY_EACH:
        numbered, following = [], 0
        for part in parts:
            own = part.columns[name]
            numbered.append(np.where(own == _NEVER_SENT, own, own.astype(np.int64) + following))
            following += int(own.max()) + 1 if own.size else 0
        columns[name] = np.concatenate(numbered)
    return Samples(columns, is_open_loop=parts[0].is_open_loop, in_flight=sum(part.in_flight for part in parts))


def from_its_begin(hosts: Sequence[Samples]) -> Samples:
    """The records of several hosts as one, each host's stamps counted from its own first due request; itself of one.

    No clock is compared with another: what lies between two stamps of a host stays what it is, to the nanosecond, and
    that all hosts began at the same moment is what *requesters together* looks at.
    """
    if len(hosts) == 1:
        return hosts[0]
    moved = []
    for host in hosts:
        due = np.concatenate([host.intended_ns, host.never_sent_ns])
        begin_ns = int(due.min()) if due.size else 0
        columns = {name: values - begin_ns if name in _STAMPS else values for name, values in host.columns.items()}
        moved.append(Samples(columns, is_open_loop=host.is_open_loop, in_flight=host.in_flight))
    return put_together(moved)


def seen_in_all(hosts: Sequence[Samples], of_whole: Mapping[str, Callable[[Samples], Any]]) -> dict[str, Any]:
    """What observers see in the requests of all hosts that measured any."""
    if not hosts or not of_whole:
        return {}
    whole = from_its_begin(hosts)
    return {name: see(whole) for name, see in of_whole.items()}


def busiest(requesters: Iterable[RequesterRecord], cpus_of_hosts: Mapping[str, int | None]) -> float | None:
    """How busy the busiest of a trial's requesters was, or the CPUs that several of them shared; None where none says.

    A process that asks with one core's worth at most is its own limit from there on; processes on the same CPUs are that
    together: what they used, over how many CPUs there are.
    """
    shares = [
        (r.host, r.cpus, r.done.cpu_share) for r in requesters if r.done.cpu_share is not None and r.samples is not None
    ]
    groups: dict[tuple[str, str | None], list[float]] = {}
    for host, cpus, share in shares:
        groups.setdefault((host, cpus), []).append(share)
    known = [share for *_, share in shares]
    for (host, cpus), of_group in groups.items():
        count = cpus_of_hosts.get(host) if cpus is None else 1
        if count:
            known.append(sum(of_group) / count)
    return max(known, default=None)
