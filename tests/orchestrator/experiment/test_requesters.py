"""How a load is divided among requester hosts and processes."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from orchestrator.experiment.plan.cells import connections_in, in_all, seed_of, share, share_of
from services.python.contract.lines import Load
from services.python.load.phases import arrivals
from tests.support.experiments import planner


@pytest.mark.parametrize("processes", [1, 2, 5])
@pytest.mark.parametrize("hosts", [1, 2, 3, 8])
@pytest.mark.parametrize(
    "load", [Load(concurrency=64, requests=1001), Load(concurrency=43, rate_per_s=500.0, duration_s=10.0)]
)
def test_the_shares_add_up_and_hosts_differ_by_one_in_flight(load: Load, hosts: int, processes: int) -> None:
    of = {"requesters": hosts, "processes": processes}
    shares = {(h, p): share_of(of, load, h, p) for h, p in product(range(hosts), range(processes))}
    assert len(shares) == in_all(of)
    assert sum(each.concurrency for each in shares.values()) == load.concurrency
    each_host = [sum(each.concurrency for (h, _), each in shares.items() if h == host) for host in range(hosts)]
    assert max(each_host) - min(each_host) <= 1
    if load.requests is not None:
        assert sum(each.requests or 0 for each in shares.values()) == load.requests
    if load.rate_per_s is not None:
        assert sum(each.rate_per_s or 0.0 for each in shares.values()) == pytest.approx(load.rate_per_s, rel=1e-12)


@pytest.mark.parametrize("hosts", [2, 4])
def test_the_arrivals_of_all_hosts_are_together_poisson_at_the_whole_rate(hosts: int) -> None:
    """Every language draws the same arrivals (`protos/payloads.md`), so this holds for all of them."""
    load = Load(concurrency=64, rate_per_s=2000.0, duration_s=10.0)
    of = {"requesters": hosts, "processes": 1}
    each = [
        np.asarray(arrivals(share_of(of, load, host, 0), seed_of(641, host)), dtype=np.int64) for host in range(hosts)
    ]
    assert all(due[0] == 0 for due in each)  # every one begins with its first request
    together = np.sort(np.concatenate([due[1:] for due in each]))
    count, expected = together.size, 2000 * 10
    assert abs(count - expected) < 5 * expected**0.5
    gaps_s = np.diff(together) / 1e9
    assert stats.kstest(gaps_s, "expon", args=(0, 1 / 2000)).pvalue > 0.001
    bins = np.linspace(0, 10e9, 501)
    counts = [np.histogram(due, bins)[0] for due in each]
    assert max(abs(np.corrcoef(one, other)[0, 1]) for one, other in combinations(counts, 2)) < 0.2


def test_shared_connections_are_divided_and_never_more_than_a_process_has_in_flight(tmp_path: Path) -> None:
    text = "stacks: grpc\nconnections: [4, 7]\nprocesses: 3\nload: {concurrency: 7, requests: 100}\n"
    for cell in planner("name: x\nquestion: Why?\noperations: add\n")(tmp_path, text).cells:
        kept = [connections_in(cell, 0, number) for number in range(3)]
        assert sum(kept) == cell.factors["connections"]
        assert all(k <= share(cell.load, 3, n).concurrency for n, k in enumerate(kept))
