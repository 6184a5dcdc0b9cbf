"""Makes the summary of a cell from its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from orchestrator import quantities
from orchestrator.evidence import host_noise, store_times
from orchestrator.evidence.run_evidence import CellEvidence, RunEvidence, TrialEvidence
from orchestrator.experiment.plan.plan import Cell, Operation
from orchestrator.findings.block_values import by_block
from orchestrator.findings.compare import error_of
from orchestrator.findings.summary import (
    CellSummary,
    Counts,
    Details,
    Floors,
    FloorSummary,
    Labels,
    Sizes,
    TrialSummary,
)
from orchestrator.findings.trial_values import COUNTED_BY, GOODPUT, over_trials
from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import Mean
from orchestrator.statistics.terms import Interval
from services.python.contract.requester_lines import Wire


def summarise_cells(run: RunEvidence) -> tuple[CellSummary, ...]:
    """Every planned cell, those without a sample too."""
    return tuple(_summarise(cell, run) for cell in run.cells)


def _summarise(cell: CellEvidence, run: RunEvidence) -> CellSummary:
    trials = tuple(replace(t.summary, held_up=host_noise.held_up(cell, t)) for t in cell.trials if t.summary)
    errors = sum((Counter(trial.errors) for trial in cell.trials), Counter[str]())
    return CellSummary(
        id=cell.cell.id,
        stack=cell.stack.id,
        operation=cell.operation.id,
        placement=cell.placement.id,
        labels=Labels(
            stack=cell.stack.label,
            operation=cell.operation.label,
            placement=cell.placement.name,
            load=quantities.of_load(cell.cell.load, cell.cell.kind, cell.cell.calls, at_once=cell.cell.is_at_once),
        ),
        factors=dict(cell.cell.factors),
        kind=cell.cell.kind,
        distribution=cell.distribution,
        median_interval=_median_interval(trials, run),
        trials=trials,
        counts=Counts(
            planned_trials=cell.planned,
            failed_trials=len(cell.failed),
            requests=sum(t.totals.ok for t in cell.trials) + errors.total(),
            errors=dict(errors),
            not_sent=sum(t.not_sent for t in cell.trials),
        ),
        throughput_per_s=_throughput(cell.trials),
        sizes=Sizes(
            body=_body_bytes(cell.trials),
            wire=_per_request(cell.trials, "bytes_sent", "bytes_received"),
            packets=_per_request(cell.trials, "segments_sent", "segments_received"),
        ),
        floors=Floors(tcp=_floor(run.floors, "tcp", cell), ping=_floor(run.floors, "ping", cell)),
        means=over_trials([trial.values for trial in trials])
        | ({GOODPUT: mean} if (mean := goodput(content(cell.operation, cell.cell), trials)) else {}),
        details=_details(cell, has_errors=bool(errors)),
    )


def _details(cell: CellEvidence, *, has_errors: bool) -> Details:
    parts = [part for trial in cell.trials for part in trial.parts]
    outcomes = sum((Counter(part.done.outcomes) for part in parts), Counter[str]())
    return Details(
        replies=replace(cell.replies, curve=()) if cell.replies and has_errors else None,
        strip=cell.strip,
        parts=cell.parts_ms,
        mixed=cell.mixed,
        stream=cell.stream,
        connections=_connections(cell),
        outcomes=dict(outcomes),
        store_times=store_times.of_cell([trial.record for trial in cell.trials]),
        over_fetched_bytes=_middle(part.done.over_fetched_bytes for part in parts),
    )


def _median_interval(trials: Sequence[TrialSummary], run: RunEvidence) -> Interval | None:
    """Return the interval of the median between trials; None where a trial's median is not known."""
    medians = list(by_block(trials, "median").values())
    if not medians or any("median" in trial.censored for trial in trials):
        return None
    return intervals.of_trials(medians).interval(error_of(run.plan))


def _connections(cell: CellEvidence) -> float | None:
    trials = [[p.seen[COUNTED_BY] for p in trial.parts if COUNTED_BY in p.seen] for trial in cell.trials]
    counts = [sum(seen.connections for seen in of_trial) for of_trial in trials if of_trial]
    return _middle(counts) if cell.cell.kind in ("call", "task") and any(counts) else None


def _middle(values: Iterable[float | None]) -> float | None:
    """The median over trials: one number per trial, so that a long trial weighs no more than a short one."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _throughput(trials: Iterable[TrialEvidence]) -> float | None:
    """Right replies of all trials over the sum of their windows, less pauses: pooled like the mean latency beside it."""
    known = [(t.totals.ok, t.totals.window_s) for t in trials if t.summary and t.totals.window_s]
    total_s = sum(window_s for _, window_s in known)
    return sum(ok for ok, _ in known) / total_s if total_s else None


def _floor(floors: Iterable[FloorSummary], kind: str, cell: CellEvidence) -> float | None:
    for floor in floors:
        if floor.kind == kind and floor.is_beside(cell.placement.id, cell.cell.id) and floor.distribution:
            return floor.distribution.median  # what a ping or an echo lost is counted apart
    return None


def _body_bytes(trials: Sequence[TrialEvidence]) -> Interval | None:
    ok = sum(t.totals.ok for t in trials)
    sent, received = [t.totals.body_sent for t in trials], [t.totals.body_received for t in trials]
    if not ok or None in sent or None in received:
        return None
    return sum(b or 0 for b in sent) / ok, sum(b or 0 for b in received) / ok


def _per_request(trials: Sequence[TrialEvidence], *keys: str) -> Interval | None:
    """Two TCP_INFO counters per measured request (failed ones travelled too), of a stream per event delivered.

    None where a system has none.
    """
    counters: list[Wire] = []
    requests = 0
    for part in (part for trial in trials for part in trial.parts):
        if part.done.wire is None:
            return None
        counters.append(part.done.wire)
        requests += part.done.events.delivered if part.done.events else part.done.requests
    if not requests:
        return None
    sent, received = (sum(getattr(wire, key) for wire in counters) / requests for key in keys)
    return sent, received


_VERIFIED = ("bytes", "records", "json", "transfer")  # kinds of payload whose every byte is compared


def content(operation: Operation, cell: Cell) -> tuple[int, int] | None:
    """Bytes of content in one sample's request and in its reply; None where not all of it is verified.

    Of bytes their number, of records 90 each (what one takes as compact JSON, on average), of a JSON document its file: the
    same for every stack, so that a codec that writes less of it is not the poorer for it. A task has that of all its calls.
    """
    if operation.payload.get("kind") not in _VERIFIED or cell.kind == "stream":
        return None
    return operation.request_bytes * operation.calls, operation.reply_bytes * operation.calls


def goodput(sizes: tuple[int, int] | None, trials: Sequence[TrialSummary]) -> Mean | None:
    """Return verified content in 10^6 bytes a second; None where a trial has no right reply, or nothing is verified.

    It is from each trial's right replies over its window, less the requester's own pauses.
    """
    rates = [trial.throughput_per_s for trial in trials]
    if not sizes or not sum(sizes) or not rates or min(rates) <= 0:
        return None
    return intervals.of_trials([rate * sum(sizes) / 1e6 for rate in rates]).as_mean
