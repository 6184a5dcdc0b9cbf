"""The tables of docs/validation on published sentences: which of them the committed summaries agree with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from benchmarks.published.held import Figures, Finding, hold
from benchmarks.published.kept import Cell, Kept, read
from benchmarks.published.specs import KEPT, ROOT, SPECS, TABLES, Table
from benchmarks.simulated import as_csv
from orchestrator import quantities
from orchestrator.audit.examine import AuditResult, examine
from orchestrator.audit.model import AuditFile, Row
from orchestrator.audit.model import read as read_audit

NOT_RUN = "not run yet"
_HEADS = {
    "samples": "n",
    "sd": "SD",
    "concurrency": "in flight",
    "throughput_per_s": "replies/s",
    "offered_per_s": "events/s offered",
    "delivered_per_s": "events/s delivered",
}


def kept(folder: Path = KEPT) -> dict[str, Kept]:
    """The summaries that are there, by the name of their run; ValueError for a file that is none."""
    return {spec.name: read(path) for spec in SPECS if (path := folder / f"{spec.name}.json").is_file()}


def sentences(kept_runs: Mapping[str, Kept]) -> str:
    """Every published sentence beside ours, as CSV: the runs first, then a head of its own for each publication."""
    return as_csv(line for part in (_runs(kept_runs), *(_table(table, kept_runs) for table in TABLES)) for line in part)


def figures(found: Mapping[str, Kept]) -> str:
    """Every published row beside ours, as CSV; a head of its own for each publication."""
    return as_csv(line for table in TABLES for line in _side_by_side(table, _published(table.audit)[0], found))


# ---- runs


def _runs(found: Mapping[str, Kept]) -> Iterator[str]:
    yield "| run | experiment | made | minutes | on | checks |"
    for spec in SPECS:
        one = found.get(spec.name)
        made = NOT_RUN if one is None else f"{one.started_at[:16].replace('T', ' ')}, orch {one.orch}"
        on = spec.needs or "two cores" if one is None else one.machine
        checks = "–" if one is None else one.checks
        took = f"about {spec.minutes}" if one is None else f"{_minutes(one):.0f}"
        yield f"| {spec.name} | {spec.experiment} | {made} | {took} | {on} | {checks} |"


def _minutes(of: Kept) -> float:
    from datetime import datetime

    if of.ended_at is None:
        return 0.0
    return (datetime.fromisoformat(of.ended_at) - datetime.fromisoformat(of.started_at)).total_seconds() / 60


# ---- one table


@cache
def _published(path: str) -> tuple[AuditFile, AuditResult]:
    file = read_audit(ROOT / path)
    return file, examine(file)


def _table(table: Table, found: Mapping[str, Kept]) -> Iterator[str]:
    file, audited = _published(table.audit)
    figures = Figures(table=table, kept=found)
    title = f"{file.title}{f': {table.servers}' if table.servers else ''}"
    yield f"| {title} | {table.audit} | differs from it: {'; '.join(table.differs)} |"
    if missing := [name for name in table.runs if name not in found]:
        yield f"| {NOT_RUN} | {', '.join(missing)} |"
    yield "| published sentence | audit | ours | by which figures | what may explain it |"
    for claim, assessment in zip(file.claims, audited.claims, strict=True):
        finding = hold(figures, claim.text, claim.tests)
        entries = (claim.text, assessment.verdict, finding.verdict, finding.text, _why(table, claim.text, finding))
        yield f"| {' | '.join(entries)} |"


def _why(table: Table, sentence: str, finding: Finding) -> str:
    if finding.verdict in ("agrees", "not asked here", "not run yet"):
        return ""
    return table.why.get(sentence, "")


def _side_by_side(table: Table, file: AuditFile, found: Mapping[str, Kept]) -> Iterator[str]:
    """Each row twice: as published, and ours; then the pings."""
    heads = [_HEADS.get(column, column) for column in table.columns]
    yield f"| {table.slug} | whose | {' | '.join(heads)} | note |"
    published = {row.name: row for row in file.results}
    for name in (*published, *(name for name in table.rows if name not in published)):
        if (row := published.get(name)) is not None:
            values = [_as_published(row, column) for column in table.columns]
            yield f"| {name} | published | {' | '.join(values)} | {row.missing or ''} |"
        ours, note = _ours(table, name, found)
        yield f"| {name} | ours | {' | '.join(ours)} | {note} |"
    yield from _pings(table, file, found)


def _as_published(row: Row, column: str) -> str:
    value = getattr(row, column)
    return "–" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)


def _ours(table: Table, name: str, found: Mapping[str, Kept]) -> tuple[list[str], str]:
    """Our figures of a row in the order of the columns, and a note that belongs to them."""
    blank = ["–"] * len(table.columns)
    of = table.rows.get(name, "no row of ours stands beside it")
    if isinstance(of, str):
        return blank, of
    if of.run not in found:
        return [NOT_RUN] * len(table.columns), ""
    cell = found[of.run].cell(of.asked)
    if cell is None:
        return blank, f"the run {of.run} has no such cell"
    notes = []
    if cell.invalid:
        notes.append(f"invalid, as {', '.join(cell.invalid)} failed")
    if cell.errors:
        notes.append(f"{cell.errors:,} without a right reply")
    values = [_figure(cell, column) for column in table.columns]
    if "too few" in values:
        notes.append("too few requests in a trial for that percentile")
    return values, ", ".join(notes)


def _figure(cell: Cell, column: str) -> str:
    if column == "concurrency":
        return str(cell.factors["concurrency"])
    if cell.events is not None:
        return _of_events(cell, column)
    if column in ("offered_per_s", "delivered_per_s"):
        return "–"
    value = getattr(cell, column)
    if value is None:
        return "too few" if column in ("p95", "p99") and cell.samples else "–"
    if column == "samples":
        return f"{value:,}"
    return quantities.rate(value) if column.endswith("per_s") else f"{value:.3f}"


def _of_events(cell: Cell, column: str) -> str:
    """A stream has no replies, and its p99 is of gaps."""
    events = cell.events
    if events is None or column == "throughput_per_s":
        return "–"
    if column == "p99":
        return f"{events.gap_p99:.3f}" if events.gap_p99 is not None else "–" if events.dropped else "too few"
    delivered = events.per_s
    if delivered is None or not events.delivered:
        return "–"
    return quantities.rate(delivered * events.offered / events.delivered if column == "offered_per_s" else delivered)


def _pings(table: Table, file: AuditFile, found: Mapping[str, Kept]) -> Iterator[str]:
    if not table.pings:
        return
    ours = found[table.pings].pings if table.pings in found else {}
    yield f"| {table.slug}: ping, mean | {' | '.join(place.name for place in file.placements)} |"
    yield f"| published | {' | '.join(f'{place.ping_ms:g}' for place in file.placements if place.ping_ms is not None)} |"
    shown = [f"{ours[place.name]:.3f}" if place.name in ours else NOT_RUN for place in file.placements]
    yield f"| ours | {' | '.join(shown)} |"
