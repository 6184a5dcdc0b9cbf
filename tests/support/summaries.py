"""Run summaries made by hand: what the report's tests and benchmark draw, without a run.

The samples are random with a fixed seed; every number is computed from them here, so that a summary hangs together.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cache

import numpy as np

from orchestrator.experiment.model.factors import DEFAULTS
from orchestrator.experiment.plan.plan import Limits, Plan
from orchestrator.findings.check_result import CheckResult, Point
from orchestrator.findings.condition import Condition
from orchestrator.findings.summary import (
    CellSummary,
    Comparison,
    Counts,
    Details,
    Floors,
    FloorSummary,
    Labels,
    MeasuredRun,
    RunSummary,
    Sizes,
    Strip,
    TrialSummary,
)
from orchestrator.results.manifest import TrialRecord
from orchestrator.statistics.equivalence import reason, standing
from orchestrator.statistics.quantiles import Distribution

STACKS = (
    # id, label, protocol, responder, client, cost over the tcp floor
    ("grpc", "grpc", "grpc", "grpcio", "grpcio", 2.6),
    ("rest-fastapi", "rest (fastapi)", "rest", "fastapi", "pycurl", 4.0),
    ("rest-flask", "rest (flask, requests)", "rest", "flask", "requests", 11.0),
    ("graphql", "graphql", "graphql", "strawberry", "pycurl", 9.5),
    ("socketio", "socketio", "socketio", "python-socketio", "python-socketio", 5.1),
    ("cbor", "cbor", "cbor", "fastapi", "pycurl", 4.02),
)
PLACEMENTS = (("local", 0.045), ("cross-region", 34.0))
OPERATIONS = (("add", "add", 16, 8), ("image", "image 1.58 MB", 1_580_000, 24))
TRIALS = 5


PLAN = Plan(
    name="six_protocols",
    question="",
    provider="local",
    machine=None,
    pin="apart",
    stacks=(),
    operations=(),
    placements=(),
    cells=(),
    trials=(),
    repeats=TRIALS,
    seed=7,
    limits=Limits(wall_s=600.0, cost_usd=0.0, ttl_s=3_600.0),
)
"""A plan that says nothing of stacks and placements."""


@cache
def a_run(
    *,
    stacks: int = 6,
    placements: int = 1,
    operations: int = 1,
    samples: int = 1000,
    name: str = "six_protocols",
    question: str = "Which of six protocols answers a small question soonest on this machine?",
) -> RunSummary:
    """A complete run of so many stacks, placements and operations, with every kind of content a report can show.

    The same one each time: change it with `replace`.
    """
    random = np.random.default_rng(7)
    cells: list[CellSummary] = []
    floors: list[FloorSummary] = []
    comparisons: list[Comparison] = []
    for placement, rtt in PLACEMENTS[:placements]:
        floors.append(_floor("ping", placement, rtt, random))
        for operation in OPERATIONS[:operations]:
            found = [_cell(stack, operation, placement, rtt, samples, random) for stack in STACKS[:stacks]]
            tcp = _floor("tcp", placement, found[0].floors.tcp or rtt, random)
            ids = tuple(cell.id for cell in found)
            floors.append(replace(tcp, send_bytes=operation[2], receive_bytes=operation[3], cells=ids))
            cells += found
            reference = found[min(1, len(found) - 1)]
            comparisons += [_comparison(cell, reference, random) for cell in found if cell is not reference]
    return RunSummary(
        run=MeasuredRun(
            id="20261121-025500-4f3a",
            name=name,
            question=question,
            started_at="2026-11-21T02:55:00Z",
            ended_at="2026-11-21T03:01:12Z",
            state="complete",
            warnings=("The CPU's frequency is not fixed: the governor is schedutil.",),
            failed_trials=(),
            repeat_command="orch run results/20261121-025500-4f3a/experiment.yaml",
            manifest_sha256="9f" * 32,
        ),
        plan=PLAN,
        conditions=(
            Condition("CPU", "2 × Example CPU at 2.4 GHz, governor performance"),
            Condition("Kernel", "Linux 6.1.0"),
            Condition("CPU pinning", "responder on CPU 0, requester on CPU 1"),
            Condition("Provider", "local: both ends on this machine"),
            Condition("Placement", "loopback", "local"),
        ),
        cells=tuple(cells),
        floors=tuple(floors),
        comparisons=tuple(comparisons),
        checks=_checks(cells[0].id),
        settings={"grpc": {"grpcio": "1.76.0", "compression": "off"}, "rest (fastapi)": {"uvicorn": "0.38.0"}},
    )


def failed_run() -> RunSummary:
    """A run whose checks refuse it, with a trial that failed and a stack that never answered."""
    run = a_run(stacks=3)
    silent = replace(
        run.cells[2],
        distribution=None,
        counts=replace(run.cells[2].counts, errors={"timeout": 12, "wrong-reply": 1}, failed_trials=5),
        median_interval=None,
        throughput_per_s=None,
        sizes=Sizes(),
        details=Details(),
        trials=(),
    )
    floor = CheckResult(
        name="floor",
        verdict="fail",
        severity="fatal",
        cell=run.cells[0].id,
        evidence={"fastest_ms": 0.012, "ping_minimum_ms": 0.031},
        points=(
            Point(
                kind="impossible",
                values={
                    "work": "call",
                    "quickest_ns": 12_000,
                    "bound": "ping",
                    "least_ns": 31_000,
                    "uncertain_ns": 2_000,
                },
            ),
        ),
    )
    trial = TrialRecord(
        index=8,
        block=2,
        cell=silent.id,
        attempt=0,
        outcome="failed",
        started_wall_ns=1,
        ended_wall_ns=2,
        overhead_s=20.0,
        failure={
            "stage": "start",
            "kind": "responder-hung",
            "message": "the responder was not ready within 20 s",
            "last_words": "Traceback (most recent call last):\nOSError: [Errno 98] Address already in use",
        },
    )
    return replace(
        run,
        cells=(*run.cells[:2], silent),
        comparisons=tuple(row for row in run.comparisons if row.cell != silent.id),
        checks=(*run.checks, floor),
        run=replace(run.run, failed_trials=(asdict(trial),)),
    )


def distribution(values: np.ndarray) -> Distribution:
    """What analysis says of samples in milliseconds; percentiles only with ten samples beyond them."""
    ordered = np.sort(values)
    n = len(ordered)

    def percentile(share: float) -> float | None:
        return float(np.quantile(ordered, share)) if n * (1 - share) >= 10 else None

    ranks = sorted({*np.linspace(1, n, min(n, 300)).astype(int).tolist(), *range(max(1, n - 199), n + 1)})
    return Distribution(
        n=n,
        minimum=float(ordered[0]),
        mean=float(ordered.mean()),
        median=float(np.median(ordered)),
        p90=percentile(0.9),
        p95=percentile(0.95),
        p99=percentile(0.99),
        p999=percentile(0.999),
        maximum=float(ordered[-1]),
        sd=float(ordered.std(ddof=1)),
        cv=float(ordered.std(ddof=1) / ordered.mean()),
        iqr=float(np.quantile(ordered, 0.75) - np.quantile(ordered, 0.25)),
        curve=tuple((rank / n, float(ordered[rank - 1])) for rank in ranks),
    )


def strip(trials: list[np.ndarray], bins: int = 40) -> Strip:
    """Samples of each trial in time order, as analysis bins them."""
    entries: list[tuple[float, int, float, float, float]] = []
    slowest: list[tuple[float, float]] = []
    start = 0.0
    for index, values in enumerate(trials):
        at = start + np.cumsum(values) / 1000
        for times, part in zip(np.array_split(at, bins), np.array_split(values, bins), strict=True):
            if len(part):
                low, median, high = float(part.min()), float(np.median(part)), float(np.quantile(part, 0.99))
                entries.append((float(times[0]), index, low, median, high))
        slowest += [(float(at[place]), float(values[place])) for place in np.argsort(values)[-40:]]
        start = float(at[-1])
    return Strip(bins=tuple(entries), slowest=tuple(sorted(slowest)))


def _samples(centre: float, n: int, random: np.random.Generator) -> np.ndarray:
    values = centre * random.lognormal(0.0, 0.05, n)
    late = random.random(n) < 0.004
    return np.where(late, values + centre * random.exponential(2.0, n), values)


def _floor(kind: str, placement: str, centre: float, random: np.random.Generator) -> FloorSummary:
    return FloorSummary(
        kind="ping" if kind == "ping" else "tcp",
        placement=placement,
        placement_id=placement,
        method="icmp-datagram" if kind == "ping" else "tcp",
        distribution=distribution(_samples(centre, 400, random)),
        lost=1 if kind == "ping" else 0,
    )


def _cell(
    stack: tuple[str, str, str, str, str, float],
    operation: tuple[str, str, int, int],
    placement: str,
    rtt: float,
    samples: int,
    random: np.random.Generator,
) -> CellSummary:
    stack_id, label, protocol, responder, client, cost = stack
    _, operation_label, sent, received = operation
    tcp = rtt * 1.15 + sent / 1e6
    centre = tcp + 0.1 * cost
    trials = [_samples(centre * random.normal(1, 0.01), samples, random) for _ in range(TRIALS)]
    of = distribution(np.concatenate(trials))
    return CellSummary(
        id=f"{stack_id}-{operation[0]}-{placement}",
        stack=stack_id,
        factors={
            "protocol": protocol,
            "responder": responder,
            "client": client,
            "operation": operation[0],
            "placement": placement,
            **DEFAULTS,
            "concurrency": 1,
            "rate": None,
        },
        operation=operation[0],
        placement=placement,
        labels=Labels(
            stack=label, operation=operation_label, placement=placement, load=f"{samples:,} requests, 1 in flight"
        ),
        distribution=of,
        counts=Counts(failed_trials=0, requests=of.n, errors={}),
        trials=tuple(_trial(index, values) for index, values in enumerate(trials)),
        median_interval=(of.median * 0.98, of.median * 1.02),
        throughput_per_s=1000 / of.mean,
        sizes=Sizes(body=(float(sent), float(received)), wire=(sent + 120.0, received + 90.0), packets=(1.0, 1.0)),
        floors=Floors(tcp=tcp, ping=rtt),
        details=Details(strip=strip(trials)),
    )


def _trial(index: int, values: np.ndarray) -> TrialSummary:
    return TrialSummary(
        index=index,
        block=index,
        n=len(values),
        errors=0,
        median=float(np.median(values)),
        p99=float(np.quantile(values, 0.99)),
        mean=float(values.mean()),
        minimum=float(values.min()),
        throughput_per_s=float(1000 / values.mean()),
        cpu_share=0.6,
        started_wall_ns=1_795_000_000_000_000_000 + index * 10**10,
    )


def _comparison(cell: CellSummary, reference: CellSummary, random: np.random.Generator) -> Comparison:
    pairs = zip(cell.trials, reference.trials, strict=True)
    by_block = tuple(mine.median / theirs.median for mine, theirs in pairs)
    ratio = float(np.exp(np.mean(np.log(by_block))))
    interval = (ratio * 0.97, ratio * 1.03)
    return Comparison(
        cell=cell.id,
        reference_cell=reference.id,
        group=f"{cell.labels.operation}, {cell.labels.placement}, {cell.connection}, {cell.labels.load}",
        stack=cell.stack,
        stack_label=cell.labels.stack,
        reference_label=reference.labels.stack,
        statistic="median",
        ratio=ratio,
        interval=interval,
        p_value=0.4 if interval[0] <= 1 <= interval[1] else 0.0004,
        by_block=by_block,
        blocks=tuple(trial.block for trial in cell.trials),
        standing=standing(interval),
        reason=reason(interval),
    )


def _checks(cell: str) -> tuple[CheckResult, ...]:
    return (
        CheckResult(
            name="in flight",
            verdict="pass",
            severity="fatal",
            cell=cell,
            evidence={"declared": 1, "seen": 1},
            points=(Point(kind="as-declared", values={"most": 1}),),
        ),
        CheckResult(
            name="noise",
            verdict="warn",
            severity="serious",
            cell=None,
            evidence={"steal_share": 0.03},
            points=(Point(kind="steal", values={"steal": 0.03}),),
        ),
        CheckResult(
            name="round-trips",
            verdict="cannot tell",
            severity="serious",
            cell=cell,
            evidence={"rtt_ms": 0.045},
            points=(Point(kind="no-ping"),),
        ),
    )
