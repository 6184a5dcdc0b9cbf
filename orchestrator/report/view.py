"""What a report shows: the typed view that its templates read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from orchestrator import quantities
from orchestrator.experiment.model.factors import STACK
from orchestrator.findings.check_result import CheckResult, counts, in_words
from orchestrator.findings.naming import in_phrases
from orchestrator.findings.summary import CellSummary, Comparison, FloorSummary, RunSummary
from orchestrator.findings.validity import invalid_cells, is_everywhere
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.capacity.find import FoundRate
from orchestrator.questions.clients.find import QUESTION as CLIENTS
from orchestrator.questions.distance.find import QUESTION as DISTANCE
from orchestrator.questions.distance.links import Delivered
from orchestrator.questions.evolution.words import Evolutions, evolutions
from orchestrator.questions.registry import QUESTIONS
from orchestrator.questions.saturation.find import QUESTION as SATURATION
from orchestrator.questions.scorecard import words as score_words
from orchestrator.questions.scorecard.find import QUESTION as SCORECARD
from orchestrator.questions.stability.find import QUESTION as STABILITY
from orchestrator.questions.timing_rules.find import QUESTION as TIMING_RULES
from orchestrator.report.charts import STATISTICS, Charts, charts
from orchestrator.report.check_groups import CheckGroup, check_groups, failed, failed_in_words
from orchestrator.report.groups import Group, cell_colours, cell_names, compared, floors_beside, groups, rate_groups
from orchestrator.wording.answer import Answer, answer
from orchestrator.wording.axis_tables import tables
from orchestrator.wording.notes import notes
from orchestrator.wording.table import Table, leading
from orchestrator.wording.table import notes as table_notes
from orchestrator.wording.uncompared import why_uncompared

MOST_ROWS = 24
"""Rows of the table of the first part, which has two pages."""
_MOST_COLUMNS = 7


@dataclass(frozen=True, kw_only=True)
class Inside:
    """What a report carries: so many of the run's samples."""

    samples: int
    of: int


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the details: its template, its place in the page, and its name in the contents (empty: not there)."""

    template: str
    id: str
    name: str


@dataclass(frozen=True, kw_only=True)
class SettingRow:
    """A setting of the matrix: the cell of each stack in it, None where it was not measured."""

    group: Group
    cells: tuple[CellSummary | None, ...]


@dataclass(frozen=True, kw_only=True)
class Short:
    """Groups with a row for each cell; or, of many settings, a row for each, and a column for each stack."""

    listed: tuple[Group, ...] = ()
    has_floors: bool = False
    stacks: tuple[tuple[str, str], ...] = ()  # look, label
    rows: tuple[SettingRow, ...] = ()
    left_out: int = 0  # settings that only the details have

    @property
    def unit(self) -> str:
        """The unit of every latency in it, where all have the same; else empty."""
        names = {group.unit.name for group in self.listed}
        return names.pop() if len(names) == 1 else ""


def short(every: Sequence[Group]) -> Short:
    """Return whatever fits: all cells with their floors, all cells, a matrix of settings, or the first settings."""
    cells, floors = sum(len(group.cells) for group in every), sum(len(group.floors) for group in every)
    heads = len(every) if len(every) > 1 else 0
    if cells + heads <= MOST_ROWS:
        return Short(listed=tuple(every), has_floors=cells + heads + floors <= MOST_ROWS)
    stacks = {cell.stack: cell.stack_label for group in every for cell in group.cells}
    if len(every) > 1 and 1 < len(stacks) <= _MOST_COLUMNS:
        rows = []
        for group in every[:MOST_ROWS]:
            by_stack = {cell.stack: cell for cell in reversed(group.cells)}
            rows.append(SettingRow(group=group, cells=tuple(by_stack.get(stack) for stack in stacks)))
        return Short(stacks=tuple(stacks.items()), rows=tuple(rows), left_out=len(every) - len(rows))
    fitting: list[Group] = []
    for group in every:
        if fitting and sum(len(each.cells) + 1 for each in (*fitting, group)) > MOST_ROWS:
            break
        fitting.append(group)
    return Short(listed=tuple(fitting), left_out=len(every) - len(fitting))


@dataclass(frozen=True)
class CardSetting:
    """The scorecard of a setting, as a part that folds."""

    slug: str
    title: str
    lines: tuple[score_words.Line, ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report: the summary, and what each part of the page shows of it, computed once."""

    summary: RunSummary
    inside: Inside | None = None

    @cached_property
    def findings(self) -> dict[str, Any]:
        """What each question found, by its name."""
        return {question.name: question.of(self.summary) for question in QUESTIONS}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Cells of one table each."""
        return groups(self.summary)

    @cached_property
    def compared(self) -> tuple[Group, ...]:
        """Comparisons of one picture each."""
        return compared(self.groups, self.summary)

    @cached_property
    def colours(self) -> dict[str, int]:
        """The number of each stack's colour, by id."""
        return cell_colours(self.groups, self.summary)

    @cached_property
    def charts(self) -> Charts:
        """Every picture."""
        return charts(self.summary, self.groups, self.compared, self.colours)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The parts of the details, in their order; those about which this run has something."""
        summary = self.summary
        parts: tuple[tuple[str, str, str, object], ...] = (
            ("prediction", "prediction", "Prediction", self.charts.prediction),
            ("conditions", "conditions", "Conditions", True),
            ("capacity", "capacity", "Highest rate", CAPACITY.of(summary).rates),
            ("shares", "shares", "Language and protocol", self.charts.shares),
            (
                "curves",
                "curves",
                "Curves",
                AXES.of(summary) or DISTANCE.of(summary).round_trips or DISTANCE.of(summary).windows,
            ),
            ("table", "table", "Table", True),
            ("evolutions", "evolutions", "Changed schemas", self.evolutions),
            ("timing_rules", "timing-rules", "Timing rules", TIMING_RULES.of(summary)),
            ("stores", "stores", "Responder's time", any(cell.store_times for cell in summary.cells)),
            ("clients", "clients", "Client's share", CLIENTS.of(summary)),
            ("streams", "streams", "Events", any(group.is_stream for group in self.groups)),
            ("stability", "stability", "Stability", self.spread_groups),
            ("saturation", "saturation", "Saturation", SATURATION.of(summary)),
            ("comparison", "comparison", "Comparison", True),
            ("scorecard", "scorecard", "Scorecard", SCORECARD.of(summary)),
            ("floor", "floor", "Floor", self.calls),
            ("distribution", "distribution", "Distribution", True),
            ("timings", "timings", "Time", True),
            ("first", "first", "First request", self.calls),
            ("checks", "checks", "Checks", True),
            ("failures", "failures", "", summary.failed_trials),
            ("method", "method", "Method", True),
        )
        return tuple(
            Section(template=f"_{name}.html", id=id_, name=title) for name, id_, title, content in parts if content
        )

    # ---- samples

    @property
    def is_alone(self) -> bool:
        """Whether only codecs were measured, without a network."""
        return {cell.kind for cell in self.summary.cells} == {"codec"}

    @property
    def sample(self) -> str:
        """What one sample is called."""
        return quantities.sample(cell.kind for cell in self.summary.cells)

    @property
    def samples(self) -> str:
        """What several samples are called."""
        return quantities.sample((cell.kind for cell in self.summary.cells), "s")

    @property
    def calls(self) -> tuple[Group, ...]:
        """The groups of requests over a network."""
        return () if self.is_alone else tuple(group for group in self.groups if not group.is_stream)

    # ---- checks

    @cached_property
    def checks(self) -> tuple[CheckGroup, ...]:
        """The checks by name, the worst first."""
        return check_groups(self.summary)

    @property
    def checks_in_words(self) -> str:
        """How many checks came to which verdict."""
        return in_words(counts(self.summary.checks))

    @cached_property
    def failed_checks(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return failed(self.summary)

    @property
    def failed_in_words(self) -> str:
        """How many checks failed, in how many cells."""
        return failed_in_words(self.summary)

    @cached_property
    def invalid(self) -> dict[str, tuple[str, ...]]:
        """The checks that a cell failed, by its id."""
        return {cell: tuple(names) for cell, names in invalid_cells(self.summary.cells, self.summary.checks).items()}

    @property
    def is_invalid_everywhere(self) -> bool:
        """Whether no cell is valid."""
        return is_everywhere(self.summary.cells, invalid_cells(self.summary.cells, self.summary.checks))

    @cached_property
    def cell_names(self) -> dict[str, str]:
        """What to call each cell, by id."""
        return cell_names(self.groups)

    # ---- the answer and its figures

    @cached_property
    def answer(self) -> Answer:
        """The answer of the run."""
        return answer(self.summary)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the answer, a sentence each."""
        return notes(self.summary)

    @cached_property
    def short(self) -> Short:
        """The table of the first part, where neither rates nor an axis have one."""
        return short(self.groups)

    @cached_property
    def axis_tables(self) -> Sequence[Table]:
        """The tables of the first part of a run along an axis."""
        return leading(tables(self.summary), MOST_ROWS)

    @property
    def axis_tables_left(self) -> int:
        """How many such tables have no room there."""
        return len(tables(self.summary)) - len(self.axis_tables)

    @property
    def axis_notes(self) -> Sequence[str]:
        """What is below these tables."""
        return table_notes(self.axis_tables)

    @cached_property
    def rate_groups(self) -> list[tuple[str, str, list[FoundRate]]]:
        """Rates that were searched: setting, goals, and the rate of each stack."""
        return rate_groups(self.summary)

    @property
    def rate_references(self) -> set[str]:
        """The cells that rates are compared with."""
        return {row.reference_cell for row in CAPACITY.of(self.summary).comparisons}

    @property
    def has_figures(self) -> bool:
        """Whether the first part has a table."""
        return bool(self.rate_groups or self.axis_tables or self.short.listed or self.short.rows)

    @property
    def legend(self) -> list[tuple[str, int]]:
        """Each stack's label and the number of its colour."""
        labels = {cell.stack: cell.stack_label for group in self.groups for cell in group.cells}
        return [(labels[stack], number) for stack, number in self.colours.items() if stack in labels]

    # ---- single sections

    @property
    def links(self) -> list[Delivered]:
        """Distances that were emulated along an axis, and what they were."""
        return (
            [link for link in DISTANCE.of(self.summary).links if link.wanted is not None]
            if AXES.of(self.summary)
            else []
        )

    @property
    def intervals(self) -> str:
        """What the intervals of medians are."""
        kinds = {cell.kind for cell in self.summary.cells}
        return quantities.of_samples(quantities.INTERVALS, kinds.pop()) if len(kinds) == 1 else quantities.INTERVALS

    @property
    def throughput(self) -> str:
        """What a rate is of."""
        return quantities.throughput([cell.kind for cell in self.summary.cells if cell.stream is None] or ["stream"])

    @cached_property
    def floors_beside(self) -> dict[str, tuple[tuple[FloorSummary, ...], tuple[Group, ...]]]:
        """By a group's slug, the floors of its table, and the groups whose tables have its others."""
        return floors_beside(self.groups)

    @cached_property
    def evolutions(self) -> tuple[Evolutions, ...]:
        """What became of changed schemas."""
        return evolutions(self.summary.cells)

    @property
    def spread_groups(self) -> list[Group]:
        """The groups of which the spread is a question of the run."""
        is_asked = bool(self.summary.plan.get("stability"))
        return [group for group in self.groups if is_asked and any(cell.spreads for cell in group.cells)]

    @property
    def spreads_by_factors(self) -> list[Comparison]:
        """Spreads of one stack with two values of a factor."""
        return [row for row in STABILITY.of(self.summary) if row.factor != STACK]

    @property
    def has_vague_spreads(self) -> bool:
        """Whether the interval of some spread is a star."""
        return any(quantities.is_vague(of.interval) for cell in self.summary.cells for of in cell.spreads.values())

    @property
    def statistics(self) -> tuple[str, ...]:
        """The statistics by which stacks are compared."""
        return STATISTICS

    @cached_property
    def uncompared(self) -> list[tuple[str, list[str]]]:
        """Why groups have no comparison, each reason with the captions of those groups."""
        reasons: dict[str, list[str]] = {}
        cells = {cell.id: cell for cell in self.summary.cells}
        for group in self.groups:
            if not group.comparisons and not group.contrasted:
                for why in dict.fromkeys(why_uncompared(cells[cell.id], self.summary) for cell in group.cells):
                    reasons.setdefault(why, []).append(group.caption)
        return [(why, where) for why, where in reasons.items() if why]

    @property
    def scorecards(self) -> list[CardSetting]:
        """The scorecard of each setting."""
        card = SCORECARD.of(self.summary)
        every = [table for table in card.settings if table.rows] if card else []
        return [
            CardSetting(f"s{n}", in_phrases(score_words.title(table), self.summary.cells), score_words.lines(table))
            for n, table in enumerate(every, start=1)
        ]
