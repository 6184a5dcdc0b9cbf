"""`requesters: N`: what a file may say, what a plan refuses and where, and how a load is divided among hosts."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from orchestrator.experiment.plan.cells import in_all, seed_of, share_of
from orchestrator.experiment.plan.estimate import hosts_needed
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.topology import topology
from orchestrator.experiment.read.problems import ExperimentError
from services.python.contract.lines import Load
from services.python.load.phases import arrivals
from tests.support.experiments import planner

HEAD = "name: x\nquestion: Why?\noperations: add\nrepeats: 2\nprovider: lab\n"
FAR = "placements: cross-region\n"
EIGHT = "load: {concurrency: 8, requests: 100}\n"

plan_of = planner(HEAD)


def test_hosts_are_made_for_the_cell_with_the_most_requesters(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, f"stacks: rest\nrequesters: [1, 2, 4]\ncompare_by: requesters\n{FAR}{EIGHT}")
    assert [cell.load for cell in plan.cells] == [plan.cells[0].load] * 3  # the load is the cell's, whoever offers it
    assert plan.requesters == 4
    assert len(hosts_needed(plan)) == 5
    assert topology(plan).ends["cross-region"].requesters == tuple(f"requester-{n}" for n in (1, 2, 3, 4))
    assert len({cell.exchange for cell in plan.cells}) == 1
    assert [(c.factor, c.references) for c in plan.contrasts] == [("requesters", (1,))]


def test_the_clients_of_a_stream_are_divided_among_hosts(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    text = "name: x\nquestion: Why?\nprovider: lab\nplacements: same-zone\noperations: events\nstacks: sse\n"
    path.write_text(f"{text}requesters: 3\nload: {{concurrency: 2, duration: 1s}}\n")
    with pytest.raises(ExperimentError, match="`requesters: 3` is more than the 2 clients, which they share"):
        make_plan(path)
    path.write_text(f"{text}requesters: 3\nload: {{concurrency: 4, duration: 1s}}\n")
    (cell,) = make_plan(path).cells
    assert [share_of(cell.factors, cell.load, host, 0).concurrency for host in range(3)] == [2, 1, 1]


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
