"""What a report shows: the typed view that its templates read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.findings.validity import invalid_cells, is_everywhere
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.axes.find import Curves
from orchestrator.questions.distance.find import QUESTION as DISTANCE
from orchestrator.questions.distance.find import Delivered
from orchestrator.report.charts import Charts
from orchestrator.report.check_groups import CheckGroup, check_groups, failed
from orchestrator.report.groups import anchor, cell_names
from orchestrator.wording.answer import Answer, answer
from orchestrator.wording.notes import notes
from orchestrator.wording.tables import question_tables
from orchestrator.wording.tables.more_tables import tables as more_tables
from orchestrator.wording.tables.raw_tables import tables as raw_tables
from orchestrator.wording.tables.result_tables import tables
from orchestrator.wording.tables.table import Table, leading

MOST_ROWS = 24
"""Rows of the table of the first part, which has two pages."""


@dataclass(frozen=True, kw_only=True)
class Fold:
    """A part of the page below the first: its name, its place, its templates and tables."""

    name: str
    id: str
    templates: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    is_open: bool = False  # what the run was made for


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report: the summary, and what each part of the page shows of it, computed once."""

    summary: RunSummary
    samples_inside: int = 0  # those of the whole run, or none

    @cached_property
    def charts(self) -> Charts:
        """Every picture."""
        return Charts(self.summary)

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        """What this run says of further questions, then tail and time, cost, checks, method and raw figures."""
        summary = self.summary
        parts: list[Fold] = []
        if self.charts.prediction:
            parts.append(Fold(name="Prediction", id="of-prediction", templates=("_prediction.html",), is_open=True))
        if self.curves or self.links:
            parts.append(Fold(name="Along the axis", id="of-curves", templates=("_curves.html",)))
        for name, tables_of in question_tables.TABLES.items():
            parts.append(Fold(name=name, id=anchor(name), tables=tables_of(summary)))
        failures = ("_failures.html",) if summary.run.failed_trials else ()
        parts += [
            Fold(name="Tail and time", id="tail", templates=("_distribution.html", "_timings.html")),
            Fold(name="Cost and bytes", id="cost", tables=more_tables(summary)),
            Fold(name="Checks", id="all-checks", templates=("_checks.html",)),
            Fold(name="Method and conditions", id="about", templates=("_facts.html", "_method.html")),
            Fold(name="Raw figures", id="raw", templates=failures, tables=raw_tables(summary)),
        ]
        return tuple(fold for fold in parts if fold.templates or fold.tables)

    # ---- samples

    @property
    def is_alone(self) -> bool:
        """Whether only codecs were measured, without a network."""
        return {cell.kind for cell in self.summary.cells} == {"codec"}

    @property
    def samples(self) -> str:
        """What several samples are called."""
        return quantities.sample((cell.kind for cell in self.summary.cells), "s")

    # ---- checks

    @cached_property
    def checks(self) -> tuple[CheckGroup, ...]:
        """The checks by name, the worst first."""
        return check_groups(self.summary)

    @property
    def is_invalid_everywhere(self) -> bool:
        """Whether checks failed, and left no valid cell."""
        cells, checks = self.summary.cells, self.summary.checks
        return bool(failed(self.summary)) and is_everywhere(cells, invalid_cells(cells, checks))

    @cached_property
    def cell_names(self) -> dict[str, str]:
        """What to call each cell, by id."""
        return cell_names(self.charts.groups)

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
    def tables(self) -> tuple[Table, ...]:
        """The tables of the result that have room in the first part, with every column."""
        mark = "not valid" if self.answer.cannot_answer else ""
        return leading(tables(self.summary, is_full=True, mark=mark), MOST_ROWS)

    @property
    def legend(self) -> list[tuple[str, int]]:
        """Each stack's label and the number of its colour, in the order of the tables."""
        labels = {cell.stack: cell.labels.stack for group in self.charts.groups for cell in group.cells}
        return [(label, self.charts.colours[stack]) for stack, label in labels.items()]

    @property
    def curves(self) -> list[Curves]:
        """The axes along which something is compared."""
        return [curves for curves in AXES.of(self.summary) if any(panel.gaps for panel in curves.panels)]

    @property
    def links(self) -> list[Delivered]:
        """Distances that were emulated along an axis, and what they were."""
        links = DISTANCE.of(self.summary) if AXES.of(self.summary) else ()
        return [link for link in links if link.wanted is not None]
