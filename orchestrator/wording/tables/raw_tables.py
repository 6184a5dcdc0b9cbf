"""Every figure of a run: percentiles, handshakes, trials and comparisons, a table each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator import quantities
from orchestrator.findings.summary import CellSummary, FloorSummary, RunSummary
from orchestrator.findings.trial_values import STEPS
from orchestrator.statistics.quantiles import Distribution
from orchestrator.wording.phrasing import percentile_text
from orchestrator.wording.reasons import why
from orchestrator.wording.tables.result_tables import floors_beside
from orchestrator.wording.tables.settings import Setting, Settings
from orchestrator.wording.tables.table import Column, Entry, Row, Table, text_table

_FIGURES = ("minimum", "mean", "median", "p90", "p95", "p99", "p999", "maximum", "sd", "iqr")
_HEADS = {"minimum": "min", "p999": "p99.9", "maximum": "max", "sd": "SD", "iqr": "IQR"}
_NAMES = {"median": "median latency", "p99": "99th percentile", "throughput": "throughput (inverted)"}


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return the tables of each setting, then the comparisons by each statistic."""
    settings = Settings(summary)
    every = [table for setting in settings.every for table in _of_setting(setting, settings)]
    return (*every, *_comparisons(summary))


def _of_setting(setting: Setting, settings: Settings) -> Iterator[Table]:
    cells = [(settings.labels[cell.id], cell) for cell in setting.cells]
    yield _percentiles(cells, tuple(floors_beside(settings.summary, setting.cells)), setting)
    if opened := [(label, *_opening(cell)) for label, cell in cells if cell.details.connections is not None]:
        yield text_table(
            f"opening a connection, ms · {setting.title}",
            ("stack", "policy", "connections", "TCP handshake", "TLS handshake"),
            opened,
        )
    yield _trials(cells, setting)


def _percentiles(cells: Sequence[tuple[str, CellSummary]], floors: Sequence[FloorSummary], setting: Setting) -> Table:
    rows = []
    for label, cell in cells:
        entries = [_figure(cell.distribution, name, setting, cell) for name in _FIGURES]
        errors = ", ".join(
            (f"{cell.counts.failed:,}", *(f"{kind} {count:,}" for kind, count in sorted(cell.counts.errors.items())))
        )
        counts = [Entry(text=f"{cell.distribution.n if cell.distribution else 0:,}"), Entry(text=errors)]
        rows.append(Row(label=label, series=cell.stack, entries=(*entries, *counts)))
    for floor in floors:
        entries = [_figure(floor.distribution, name, setting) for name in _FIGURES]
        counts = [Entry(text=f"{floor.distribution.n if floor.distribution else 0:,}"), Entry(text=f"{floor.lost:,}")]
        label = f"{floor.kind} floor, {floor.method}"
        rows.append(Row(label=label, kind="floor", series=floor.kind, entries=(*entries, *counts)))
    heads = (*(_HEADS.get(name, name) for name in _FIGURES), "n", "errors")
    return Table(
        title=f"all figures · {setting.title}",
        unit=setting.unit.name,
        columns=tuple(Column(head=head) for head in heads),
        rows=tuple(rows),
        notes=(quantities.INTERVALS,),
    )


def _figure(distribution: Distribution | None, name: str, setting: Setting, cell: CellSummary | None = None) -> Entry:
    value = getattr(distribution, name) if distribution else None
    if value is None:
        return Entry(text=(percentile_text(cell, name) if cell else "") or "-")
    return Entry(text=setting.unit.text(value), value=value)


def _opening(cell: CellSummary) -> Iterator[str]:
    yield cell.connection
    yield quantities.number(cell.details.connections or 0.0)
    is_there = {"connect": cell.factors.get("http") != "3", "tls": cell.factors.get("tls", "none") != "none"}
    for step in STEPS:
        mean = cell.means.get(step)
        yield quantities.number(mean.value, 3) if mean else "unknown" if is_there[step] else "none"


def _trials(cells: Sequence[tuple[str, CellSummary]], setting: Setting) -> Table:
    def latency(value: float | None, is_beyond: bool = False) -> str:
        return "beyond the replies" if is_beyond else "-" if value is None else setting.unit.text(value)

    rows = [
        (
            label,
            str(trial.block + 1),
            f"{trial.n:,}",
            f"{trial.errors:,}",
            f"{trial.not_sent:,}",
            latency(trial.minimum),
            latency(trial.mean),
            latency(trial.median, "median" in trial.censored),
            latency(trial.p99, "p99" in trial.censored),
            quantities.rate(trial.throughput_per_s),
            *(
                "-" if share is None else quantities.percent(share)
                for share in (trial.cpu_share, trial.responder_cpu_share)
            ),
            "-" if trial.retransmits is None else f"{trial.retransmits:,}",
        )
        for label, cell in cells
        for trial in cell.trials
    ]
    heads = ("stack", "block", "n", "errors", "not sent", "min", "mean", "median", "p99", "per second", "client CPU")
    return text_table(
        f"each trial, {setting.unit.name} · {setting.title}",
        (*heads, "server CPU", "packets sent again"),
        rows,
        (quantities.throughput([cell.kind for _, cell in cells]),),
    )


def _comparisons(summary: RunSummary) -> Iterator[Table]:
    margin = quantities.margin(summary.matters)
    note = (
        f"{quantities.RATIOS_AND_MEDIANS} Intervals are 95 %, corrected by Holm over all comparisons by the same statistic."
        f" Tie: the whole interval lies within {margin}. Faster and slower: it excludes 1×."
    )
    for statistic, name in _NAMES.items():
        rows = [
            (
                row.stack_label,
                row.reference_label,
                "-" if row.ratio is None else quantities.ratio(row.ratio),
                "-" if row.interval is None else " to ".join(f"{bound}×" for bound in quantities.bounds(row.interval)),
                "-" if row.p_value is None else quantities.number(row.p_value, 4),
                row.standing,
                row.group,
                why(row),
                " ".join(
                    f"{block + 1}: {quantities.ratio(value)}"
                    for block, value in zip(row.blocks, row.by_block, strict=False)
                ),
            )
            for row in summary.comparisons
            if row.statistic == statistic
        ]
        if rows:
            heads = ("stack", "against", "ratio", "95 % interval", "p (Holm)", "standing", "setting", "why", "by block")
            yield text_table(f"{name} against the reference", heads, rows, (note,), texts=4)
