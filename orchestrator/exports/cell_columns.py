"""A row for each run, and one for each of its cells: their columns, and the values out of the run's summary.

See docs/reference/data.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.checks import failed_names
from orchestrator.experiment.model.factors import FACTORS
from orchestrator.experiment.plan.plan import Placement
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.exports.typed_table import Column, Row, Value, number, of_factor, rows_of, text, whole
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.findings.trial_values import FIRST_REQUEST, GOODPUT, PER, STEPS
from orchestrator.findings.validity import failed_in
from orchestrator.results.folder import RunFolder
from orchestrator.wording.answer import answer
from orchestrator.wording.left_out import invalid_numbers, verdicts

Read = Callable[[CellSummary], Value]

BETWEEN = "; "
"""The separator of several names in one value."""

RUN = text("run", "id of the run", lambda run: run.run.id)
CELL = Column(name="cell", type="text", meaning="id of the cell, as in the run's plan")
VALID = Column(name="valid", type="yes/no", meaning="whether no check invalidates the cell's figures")
FAILED = Column(name="failed_checks", type="text", meaning='names of the checks that invalidate the cell, "" if none')
RTT = number(
    "emulated_rtt_ms", "ms", "the round trip that was emulated; empty where none was", lambda link: link.rtt_ms
)


def _failed_names(run: RunSummary) -> str:
    return BETWEEN.join(failed_names(run.checks))


RUN_COLUMNS = (
    RUN,
    text("experiment", "name of the experiment", lambda run: run.run.name),
    text("question", "the question of the experiment", lambda run: run.run.question),
    text("state", "complete, or interrupted", lambda run: run.run.state),
    text("started_at", "when the run began, ISO 8601, UTC", lambda run: run.run.started_at),
    text("ended_at", "when it ended", lambda run: run.run.ended_at),
    text("answer", "the first sentence of its report", lambda run: answer(run).sentence),
    text("checks", "how many checks passed, warn, failed", lambda run: verdicts(run.checks)),
    text("failed_checks", 'names of the checks that failed, "" if none', _failed_names),
    text("invalid", 'what that means for the figures, "" if no check failed', invalid_numbers),
)
"""What an export says of a run beside its cells."""

_OF_RUN = (
    *(column for column in RUN_COLUMNS if column.name in ("run", "experiment", "state", "started_at")),
    text("run_failed_checks", 'names of all checks that failed in the run, "" if none', _failed_names),
)
_OF_LINK = (
    RTT,
    number("emulated_jitter_ms", "ms", "likewise, the jitter", lambda link: link.jitter_ms),
    number("emulated_mbit_per_s", "Mbit/s", "likewise, the link's rate", lambda link: link.rate_mbit),
    number("emulated_loss", "", "likewise, the share of packets that are lost", lambda link: link.loss),
)
_OF_DISTANCE = (
    Column(name="distance", type="text", meaning="none, emulated, real: between the ends of the placement"),
    *_OF_LINK,
)
_OF_FACTORS = tuple(of_factor(factor, factor.name) for factor in FACTORS)


def _either(place: int, read: Callable[[CellSummary], Sequence[float] | None]) -> Read:
    return lambda cell: None if (pair := read(cell)) is None else pair[place]


def _bounds(name: str, unit: str, what: str, read: Callable[[CellSummary], Sequence[float] | None]) -> Iterator[Column]:
    """Both bounds of a 95 % interval: `{}` in `name` becomes `low` or `high`."""
    for place, bound in enumerate(("low", "high")):
        yield number(name.format(bound), unit, f"{bound} bound of the 95 % interval of {what}", _either(place, read))


def _counted(name: str) -> Read:
    return lambda cell: None if cell.details.stream is None else getattr(cell.details.stream, name)


def _mean(key: str) -> Read:
    return lambda cell: cell.means[key].value if key in cell.means else None


def _interval(key: str) -> Callable[[CellSummary], Sequence[float] | None]:
    return lambda cell: cell.means[key].interval if key in cell.means else None


def _of(name: str) -> Read:
    return lambda cell: None if cell.distribution is None else getattr(cell.distribution, name)


def _names(name: str) -> Read:
    return lambda cell: "" if cell.distribution is None else BETWEEN.join(getattr(cell.distribution, name))


def _statistics() -> Iterator[Column]:
    how = "geometric mean of the trials'"
    yield number("median_ms", "ms", f"median latency, {how}", _of("median"))
    yield from _bounds("median_{}_ms", "ms", "the median", lambda cell: cell.median_interval)
    for name in ("p90", "p95", "p99", "p999"):
        title = name.replace("p999", "p99.9")
        yield number(f"{name}_ms", "ms", f"{title} of latency, {how}; empty with too few requests", _of(name))
    for name in ("minimum", "mean", "maximum", "sd", "iqr"):
        title = {"sd": "standard deviation", "iqr": "interquartile range"}.get(name, name)
        yield number(f"{name}_ms", "ms", f"{title} of the latencies of all trials", _of(name))
    yield number("p99_to_p50", "", "p99 over the median, of all trials' requests", _of("p99_to_p50"))
    yield text("censored", "statistics that lie among requests without a right reply: no number", _names("censored"))
    yield number("censored_beyond_ms", "ms", "what those are larger than", _of("limit"))
    yield text("pooled", "percentiles that are those of all requests pooled", _names("pooled"))
    yield number("first_request_ms", "ms", f"first request of a connection, {how}", _mean(FIRST_REQUEST))


def _stream() -> Iterator[Column]:
    what = "of a stream, what its latencies are of: delivery, or gap (between two events)"
    yield text("timed", what, _counted("timed"))
    for name in ("offered", "delivered", "dropped"):
        yield whole(f"events_{name}", f"of a stream: events {name}", _counted(name))


def _rates() -> Iterator[Column]:
    yield number(
        "throughput_per_s", "1/s", "right replies over the measured windows, less pauses", lambda c: c.throughput_per_s
    )
    yield number("goodput_mb_per_s", "MB/s", "verified content both ways, 10^6 bytes a second", _mean(GOODPUT))
    yield from _bounds("goodput_{}_mb_per_s", "MB/s", "the goodput", _interval(GOODPUT))


def _sizes() -> Iterator[Column]:
    for place, way in enumerate(("request", "reply")):
        yield number(f"{way}_body_bytes", "B", f"body of a {way}, mean", _either(place, lambda cell: cell.sizes.body))
    for place, way in enumerate(("sent", "received")):
        what = f"{way} by the requester, per request"
        yield number(f"wire_bytes_{way}", "B", f"bytes of TCP {what}", _either(place, lambda cell: cell.sizes.wire))
        yield number(f"packets_{way}", "", f"packets {what}", _either(place, lambda cell: cell.sizes.packets))


_COSTS: Mapping[str, tuple[str, str, str]] = {
    "responder_cpu": ("s", "responder_cpu_s", f"CPU time of the responder, per {PER:,} requests"),
    "requester_cpu": ("s", "requester_cpu_s", f"CPU time of the requester, per {PER:,} requests"),
    "responder_memory": ("B", "responder_memory_bytes", "peak memory of the responder"),
    "requester_memory": ("B", "requester_memory_bytes", "peak memory of the requester"),
}


def _costs() -> Iterator[Column]:
    for key, (unit, name, meaning) in _COSTS.items():  # bytes and packets are among the sizes, for one request
        yield number(name, unit, meaning, _mean(key))
        yield from _bounds(f"{name}_{{}}", unit, meaning, _interval(key))


def _floors() -> Iterator[Column]:
    yield number("ping_floor_ms", "ms", "median of ping beside the cell", lambda cell: cell.floors.ping)
    yield number("tcp_floor_ms", "ms", "median of a bare TCP exchange of as many bytes", lambda cell: cell.floors.tcp)
    yield number("over_floor_ms", "ms", "the median less the TCP floor", lambda cell: cell.over_floor)
    for step, title in zip(STEPS, ("TCP's handshake", "that of TLS behind it"), strict=True):
        yield number(f"opening_{step}_ms", "ms", f"opening a connection: {title}", _mean(step))


_CELLS_OWN: tuple[Column, ...] = (
    text("stack", "the stack as the report's tables name it", lambda cell: cell.labels.stack),
    text("stack_id", "id of the stack, as in samples", lambda cell: cell.stack),
    text("kind", "call, task, stream or codec: what one sample is of", lambda cell: cell.kind),
    text("load", "the load in words", lambda cell: cell.labels.load),
    whole("planned_trials", "trials that were planned", lambda cell: cell.counts.planned_trials),
    whole("trials", "trials that the figures are of", lambda cell: len(cell.trials)),
    whole("failed_trials", "trials that failed as a whole", lambda cell: cell.counts.failed_trials),
    whole("requests", "measured requests (tasks, events, messages), all trials", lambda cell: cell.counts.requests),
    whole("errors", "of those, without a right reply", lambda cell: cell.counts.failed),
    whole("not_sent", "due in an open loop, and never sent", lambda cell: cell.counts.not_sent),
    *_statistics(),
    *_stream(),
    *_rates(),
    *_sizes(),
    *_costs(),
    *_floors(),
)

COLUMNS: tuple[Column, ...] = (
    *_OF_RUN,
    CELL,
    VALID,
    FAILED,
    *_CELLS_OWN[:3],
    *_OF_FACTORS,
    *_OF_DISTANCE,
    *_CELLS_OWN[3:],
)
"""The columns of a row for each cell, in this order; the same for every run."""


def cell_rows(summary: RunSummary) -> list[Row]:
    """Return a row for each cell of the run, in the order of its plan, with every one of `COLUMNS`."""
    of_run = rows_of(_OF_RUN, [summary])[0]
    distances = distances_of(summary)
    rows = []
    for cell in summary.cells:
        failed = failed_in(cell.id, summary.checks)
        row: dict[str, Value] = {
            **of_run,
            "cell": cell.id,
            "valid": not failed,
            "failed_checks": BETWEEN.join(failed),
            **{factor.name: cell.factors.get(factor.name, factor.default) for factor in FACTORS},
            **distances.get(cell.placement, {}),
            **{column.name: column.read(cell) for column in _CELLS_OWN},
        }
        rows.append({column.name: column.fitting(row.get(column.name)) for column in COLUMNS})
    return rows


def distances_of(summary: RunSummary) -> dict[str, dict[str, Value]]:
    """What the columns of the distance hold, by id of the placement."""
    return {placement.id: _distance(placement, summary.plan.provider) for placement in summary.plan.placements}


def _distance(placement: Placement, provider: str) -> dict[str, Value]:
    kind = "none" if placement.kind == "local" else "real"
    if placement.kind not in ("local", "external"):
        kind = PROVIDERS[provider].distance
    emulated = {column.name: column.read(placement.link) for column in _OF_LINK} if kind == "emulated" else {}
    return {"distance": kind, **emulated}


@dataclass(frozen=True, kw_only=True)
class JudgedRun:
    """The folder that samples are read from, and the summary that all other figures are of."""

    folder: RunFolder
    summary: RunSummary

    def about(self) -> Row:
        """The row of `RUN_COLUMNS`."""
        return rows_of(RUN_COLUMNS, [self.summary])[0]


def file_name(runs: list[JudgedRun]) -> str:
    """What a file of these runs is called, without its suffix: the id of the last one, and how many there are beside it."""
    last = runs[-1].folder.id
    return last if len(runs) == 1 else f"{last}-and-{len(runs) - 1}-more"
