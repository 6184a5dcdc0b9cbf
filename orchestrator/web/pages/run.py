"""A run: its short answer, figures and distributions, its checks and conditions, its notes, and its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import Response

from orchestrator.analysis import words
from orchestrator.analysis.counts import counts, in_words
from orchestrator.analysis.in_short import sentences
from orchestrator.analysis.summary import CellSummary, Distribution
from orchestrator.analysis.validity import invalid_cells, sentence
from orchestrator.analysis.words import Unit
from orchestrator.errors import OrchError
from orchestrator.exports.formats import FORMATS
from orchestrator.history import noted
from orchestrator.history.filters import Filters
from orchestrator.history.live import IN_PROGRESS, live
from orchestrator.history.record import Listed
from orchestrator.report.groups import Group, cell_colours, cell_names, groups
from orchestrator.report.quantities import DASH
from orchestrator.report.verdicts import QUIET, check_groups
from orchestrator.web.context import Context, context
from orchestrator.web.judged import Judged, path_of
from orchestrator.web.refused import Refused

router = APIRouter(include_in_schema=False)
POOLED_MARK, VAGUE_MARK = "†", "*"
PERCENTILES = (("p50", "median"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99"), ("p99.9", "p999"), ("max", "maximum"))


@dataclass(frozen=True, kw_only=True)
class Line:
    """A cell in the table of a group: texts, in the order of its heads."""

    label: str
    id: str
    is_invalid: bool
    interval: str
    percentiles: tuple[str, ...]
    rate: str
    requests: str
    errors: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """A group: its caption, unit and lines, what its floors are, and its pictures as SVG."""

    caption: str
    slug: str
    unit: str
    rate_head: str
    lines: tuple[Line, ...]
    floors: tuple[tuple[str, str], ...]
    pictures: tuple[tuple[str, Markup], ...]

    @property
    def marks(self) -> tuple[tuple[str, str], ...]:
        """The marks that stand in it, and what they mean."""
        known = ((POOLED_MARK, "of all requests pooled, as some trial has too few for it"), (VAGUE_MARK, words.VAGUE))
        shown = [text for line in self.lines for text in (line.interval, *line.percentiles)]
        return tuple((mark, meaning) for mark, meaning in known if any(text.endswith(mark) for text in shown))


def tables(run: Judged) -> tuple[Table, ...]:
    """The run's groups as tables, with pictures of their distributions."""
    return run.once("tables", lambda: _tables(run))


def _tables(run: Judged) -> tuple[Table, ...]:
    from orchestrator.report.figures.distribution import ecdf, percentile_curve  # which imports Plotly

    found = groups(run.summary)
    colours = cell_colours(found, run.summary)
    invalid = invalid_cells(run.summary.cells, run.summary.checks)
    made = []
    for group in found:
        figures = (
            ("Latency by percentile", percentile_curve(group, colours)),
            ("Share of requests within each latency", ecdf(group, colours)),
        )
        made.append(
            Table(
                caption=group.caption,
                slug=group.slug,
                unit=group.unit.name,
                rate_head=group.rate_head,
                lines=tuple(_line(cell, group.unit, is_invalid=cell.id in invalid) for cell in group.cells),
                floors=tuple(_floors(group)),
                pictures=tuple((title, of.drawing) for title, of in figures if of is not None),
            )
        )
    return tuple(made)


def _line(cell: CellSummary, unit: Unit, *, is_invalid: bool) -> Line:
    of = cell.distribution
    return Line(
        label=cell.stack_label,
        id=cell.id,
        is_invalid=is_invalid,
        interval=_interval(cell, unit),
        percentiles=tuple(DASH if of is None else _percentile(of, name, unit) for _, name in PERCENTILES),
        rate=DASH if cell.throughput_per_s is None else words.rate(cell.throughput_per_s),
        requests=words.number(cell.requests),
        errors=words.number(cell.failed) if cell.failed else "0",
    )


def _interval(cell: CellSummary, unit: Unit) -> str:
    if cell.median_interval is None:
        return DASH
    return VAGUE_MARK if words.is_vague(cell.median_interval) else " – ".join(map(unit.text, cell.median_interval))


def _percentile(of: Distribution, name: str, unit: Unit) -> str:
    """In the group's unit, marked where it is of all requests; beyond the time-out where it falls among lost ones."""
    if name in of.censored:
        return DASH if of.limit is None else f"> {words.ms(of.limit)}"
    value: float | None = getattr(of, name)
    return DASH if value is None else unit.text(value) + POOLED_MARK * (name in of.pooled)


def _floors(group: Group) -> list[tuple[str, str]]:
    return [
        (f"{floor.kind}, {floor.method}", group.unit.text(floor.distribution.median))
        for floor in group.floors
        if floor.distribution is not None and floor.distribution.median is not None
    ]


def listed_of(of: Context, name: str) -> Listed:
    """The run as the list has it; Refused where the index does not know it yet."""
    found = of.runs.read(("run", name), lambda index, _: index.runs(Filters(run=name, limit=1)))
    if not found:
        of.runs.forget()
        raise Refused(404, f"no run {name!r} is listed", hint="load the page again in a moment")
    return live(found[0])


def _values(of: Context, name: str) -> dict[str, Any]:
    """What the page shows. A run that cannot be judged has its row of the list, and why."""
    path = path_of(of.workspace, name)
    try:
        row = listed_of(of, path.name)
    except Refused:
        row = listed_of(of, path.name)  # it has only just been made
    written = noted.read(of.workspace.notes, path.name)
    values: dict[str, Any] = {
        "run": row,
        "notes": written.notes,
        "tags": written.tags,
        "most_letters": noted.MOST_CHARACTERS,
        "is_live": row.state == IN_PROGRESS,
        "formats": FORMATS.values(),
        "judged": None,
        "trouble": "",
    }
    try:
        found = of.judged.judged(path.name)
        values |= _of_summary(found)
    except OrchError as error:
        values |= {"trouble": f"{error.message}{f' ({error.hint})' if error.hint else ''}"}
    return values


def _of_summary(found: Judged) -> dict[str, Any]:
    summary = found.summary
    invalid = invalid_cells(summary.cells, summary.checks)
    return {
        "judged": summary,
        "tables": tables(found),
        "heads": [head for head, _ in PERCENTILES],
        "remarks": (*found.remarks, *summary.warnings),
        "sentences": sentences(summary),
        "invalid": sentence(summary.cells, summary.checks) if invalid else "",
        "checks": check_groups(summary),
        "quiet": QUIET,
        "checks_in_words": in_words(counts(summary.checks)),
        "cell_names": cell_names(groups(summary), in_full=True),
    }


@router.get("/runs/{run}")
async def run(request: Request, run: str) -> Response:
    """The page of a run."""
    of = context(request)
    return await of.work.heavy(_page, request, of, run)


def _page(request: Request, of: Context, run: str) -> Response:
    return of.templates.TemplateResponse(request, "run.html", _values(of, run))
