"""A run's summary as one HTML file: pure rendering, then one atomic write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.analysis import (
    capacity_words,
    load_tables,
    mixed_words,
    requester_hosts,
    spread_tables,
    store_tables,
    words,
)
from orchestrator.analysis.by_size import by_size
from orchestrator.analysis.cost import COSTS
from orchestrator.analysis.counts import counts, in_words
from orchestrator.analysis.event_words import TIMED_OF_EVENTS, of_events
from orchestrator.analysis.evolutions import evolutions, said
from orchestrator.analysis.naming import in_phrases, of_rates
from orchestrator.analysis.opening import NOT_TOLD, STEPS
from orchestrator.analysis.series import MOST_OFF
from orchestrator.analysis.spread import SPREADS
from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.table import leading, notes
from orchestrator.analysis.validity import invalid_cells, is_everywhere
from orchestrator.analysis.words import (
    GOODPUT,
    INTERVALS,
    MILLISECONDS,
    RATIOS_AND_MEDIANS,
    goodput,
    throughput,
)
from orchestrator.experiment.model.factors import STACK
from orchestrator.report.charts import STATISTICS, charts, rate_groups
from orchestrator.report.every_page import marks
from orchestrator.report.groups import Group, anchor, cell_colours, cell_names, compared, floors_beside, groups
from orchestrator.report.page import render_page, write_page
from orchestrator.report.short import MOST_ROWS, short
from orchestrator.report.verdicts import QUIET, check_groups, failed, failed_in_words, shown_evidence
from orchestrator.wording import clients, figure_words, share_words
from orchestrator.wording.answer import answer
from orchestrator.wording.axis_tables import tables
from orchestrator.wording.notes import notes as notes_of
from orchestrator.wording.uncompared import why_uncompared
from services.python.contract.limits import SATURATED

ELSEWHERE = "elsewhere"
_MOST_LETTERS = 60  # of a part of a file's name
COST_HEADS = {
    "responder_cpu": "CPU of responder",
    "requester_cpu": "CPU of requester",
    "responder_memory": "Memory of responder",
    "requester_memory": "Memory of requester",
    "wire_bytes_sent": "Sent",
    "wire_bytes_received": "Received (comparison: both directions)",
    "packets_sent": "Packets out",
    "packets_received": "Packets in (comparison: both directions)",
    "responder_usd": "A million, responder",
    "requester_usd": "A million, requester",
    "traffic_usd": "A million, traffic",
}


@dataclass(frozen=True, kw_only=True)
class Inside:
    """What a report carries: so many of the run's samples."""

    samples: int
    of: int


def write_report(summary: RunSummary, path: Path) -> Path:
    """Write a report without its samples to `path`, whole or not at all; UsageError when the place cannot be written to."""
    return write_page(render(summary), path)


def render(summary: RunSummary, inside: Inside | None = None) -> str:
    """The report's HTML; the same summary gives the same text."""
    found = groups(summary)
    colours = cell_colours(found, summary)
    pictured = compared(found, summary)
    pictures = charts(summary, found, pictured, colours)
    invalid = invalid_cells(summary.cells, summary.checks)
    kinds = {cell.kind for cell in summary.cells}
    is_alone = kinds == {"codec"}
    every = tables(summary)
    along = leading(every, MOST_ROWS)
    return render_page(
        "report.html",
        title=f"{summary.name} · {summary.run_id}",
        charts=True,
        summary=summary,
        inside=inside,
        every_page=marks(summary),
        groups=found,
        compared=pictured,
        pictures=pictures,
        prediction=pictures.prediction,
        short=short(found),
        axis_tables=along,
        axis_tables_left=len(every) - len(along),
        axis_notes=notes(along),
        milliseconds_text=words.ms,
        change=words.change,
        off=words.off,
        answer=answer(summary),
        notes=notes_of(summary),
        axes=pictures.axes,
        links=[link for link in summary.links if link.wanted is not None] if summary.curves else [],
        round_trips_text=_round_trips_text,
        bytes_text=words.number,
        not_told=NOT_TOLD,
        opening_steps=STEPS,
        most_off=MOST_OFF,
        is_folded=bool(summary.curves),
        legend_entries=_legend(found, colours),
        colours=colours,
        cell_names=cell_names(found),
        checks=check_groups(summary),
        checks_in_words=in_words(counts(summary.checks)),
        quiet_verdicts=QUIET,
        failed_checks=failed(summary),
        invalid=invalid,
        invalid_everywhere=is_everywhere(summary.cells, invalid),
        failed_in_words=failed_in_words(summary),
        shown_evidence=shown_evidence,
        floors_beside=floors_beside(found),
        uncompared=_uncompared(found, summary),
        ratios_and_medians=RATIOS_AND_MEDIANS,
        intervals=words.of_samples(INTERVALS, kinds.pop()) if len(kinds) == 1 else INTERVALS,
        throughput=throughput([c.kind for c in summary.cells if c.stream is None] or ["stream"]),
        of_events=of_events,
        timed_of_events=TIMED_OF_EVENTS,
        share_views=pictures.shares,
        share_words=share_words,
        series_heads=load_tables.heads,
        series_rows=load_tables.rows,
        series_dash=load_tables.DASH,
        saturated=SATURATED,
        rate_groups=rate_groups(summary),
        in_phrases=in_phrases,
        of_rates=of_rates,
        rate_references={row.reference_cell for row in summary.rate_comparisons},
        rate_row=capacity_words.row,
        rate_path=capacity_words.path,
        scorecards=_scorecards(summary),
        rate_notes=capacity_words.NOTES,
        path_heads=capacity_words.PATH_HEADS,
        sample=words.sample(cell.kind for cell in summary.cells),
        samples=words.sample((cell.kind for cell in summary.cells), "s"),
        is_alone=is_alone,
        statistics=STATISTICS,
        cost_names=COSTS,
        cost_heads=COST_HEADS,
        cost_text=words.cost,
        costs_words=words.COSTS,
        whole_life=words.OF_WHOLE_LIFE,
        prices_words=words.PRICES,
        sizes=by_size(summary.cells),
        evolutions=evolutions(summary.cells),
        rule_heads=figure_words.HEADS,
        rule_row=figure_words.row,
        rule_note=figure_words.NOTE,
        client_share_rows=clients.rows(summary.client_shares),
        client_share_heads=clients.HEADS,
        client_share_note=clients.NOTE,
        store_rows=store_tables.rows(summary.cells),
        store_heads=store_tables.HEADS,
        store_note=store_tables.NOTE,
        goodput_words=GOODPUT,
        goodput=goodput,
        milliseconds=MILLISECONDS,
        said=said,
        mixed_note=mixed_words.NOTE,
        requester_note=requester_hosts.NOTE,
        requester_heads=requester_hosts.heads,
        requester_figures=requester_hosts.figures,
        mixed_heads=mixed_words.heads,
        mixed_figures=mixed_words.figures,
        spread_groups=[group for group in found if any(cell.spreads for cell in group.cells)]
        if summary.plan.get("stability")
        else [],
        spreads_by_factors=[row for row in summary.spreads if row.factor != STACK],
        spread_names=SPREADS,
        spread_heads=spread_tables.heads,
        spread_value=spread_tables.value,
        spread_note=spread_tables.NOTE,
        spread_is_vague=any(words.is_vague(of.interval) for cell in summary.cells for of in cell.spreads.values()),
    )


def default_path(summary: RunSummary, reports: Path, origin: str = "") -> Path:
    """`<reports>/<name>-<date>-<run-id>.html`, with nothing in it that a path cannot carry.

    `origin` tells a folder from elsewhere from all others, whatever run it says it is of: its report lies in
    `<reports>/elsewhere/`, where it can replace none but its own.
    """
    return path_of(summary.name, summary.started_at, summary.run_id, reports, origin)


def path_of(name: str, started_at: str, run_id: str, reports: Path, origin: str = "") -> Path:
    """`default_path` of a run of which that much is known."""
    parts = (anchor(name), anchor(started_at[:10]), anchor(run_id))
    if not origin:
        return reports / f"{'-'.join(parts)}.html"
    return reports / ELSEWHERE / f"{'-'.join(part[:_MOST_LETTERS] for part in parts)}-{origin}.html"


def _scorecards(summary: RunSummary) -> list[dict[str, Any]]:
    """The tables of the settings, as what a section folds."""
    of = summary.scorecard.settings if summary.scorecard else ()
    return [
        {"slug": f"s{number}", "title": in_phrases(table.setting, summary.cells), "of": table}
        for number, table in enumerate(of, start=1)
    ]


def _round_trips_text(value: float) -> str:
    return f"{value:.3f}"


def _uncompared(found: tuple[Group, ...], summary: RunSummary) -> list[tuple[str, list[str]]]:
    """Why groups have no comparison, each reason with the captions of those groups."""
    reasons: dict[str, list[str]] = {}
    cells = {cell.id: cell for cell in summary.cells}
    for group in found:
        if not group.comparisons and not group.contrasted:
            for why in dict.fromkeys(why_uncompared(cells[cell.id], summary) for cell in group.cells):
                reasons.setdefault(why, []).append(group.caption)
    return [(why, where) for why, where in reasons.items() if why]


def _legend(found: tuple[Group, ...], colours: dict[str, int]) -> list[tuple[str, int]]:
    labels = {cell.stack: cell.stack_label for group in found for cell in group.cells}
    return [(labels[stack], number) for stack, number in colours.items() if stack in labels]
