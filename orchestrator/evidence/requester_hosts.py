"""Figures of each requester host where there are several."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

from orchestrator.evidence.one_clock import OnHost
from orchestrator.findings.summary import OfTrial, RequesterHost
from orchestrator.statistics import quantiles as st


def of_trial(hosts: Sequence[OnHost]) -> tuple[OfTrial, ...]:
    """Each host of a trial; none where there is one."""
    if len(hosts) < 2:
        return ()
    return tuple(_of_host(host) for host in hosts)


def _of_host(host: OnHost) -> OfTrial:
    ordered, failed = host.whole.ordered_ns, int(host.whole.failed.sum())
    shares = [record.done.cpu_share for record in host.records if record.done.cpu_share is not None]
    return OfTrial(
        host=host.host,
        processes=len(host.records),
        requests=host.whole.measured,
        throughput_per_s=host.rate_per_s if host.whole.measured else None,
        median=st.quantile(ordered, 0.5, failed) / st.NS_PER_MS if ordered.size + failed else None,
        p99=st.supported_quantile(ordered, 0.99, failed),
        cpu_share=max(shares, default=None),
    )


def of_cell(trials: Iterable[Sequence[OfTrial]]) -> tuple[RequesterHost, ...]:
    """Each host of a cell over its trials, in the order of their first."""
    by_host: dict[str, list[OfTrial]] = {}
    for trial in trials:
        for part in trial:
            by_host.setdefault(part.host, []).append(part)
    requests = sum(part.requests for each in by_host.values() for part in each)
    return tuple(
        RequesterHost(
            host=host,
            processes=max(part.processes for part in each),
            requests=sum(part.requests for part in each),
            share=sum(part.requests for part in each) / requests if requests else 0.0,
            throughput_per_s=_middle(part.throughput_per_s for part in each),
            median=_middle(part.median for part in each),
            p99=_middle(part.p99 for part in each),
            cpu_share=max((part.cpu_share for part in each if part.cpu_share is not None), default=None),
        )
        for host, each in by_host.items()
    )


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    middle = median(known) if known else None
    return None if middle is None or math.isinf(middle) else middle
