"""The report's section of curves: for each axis its pictures, sentences and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.analysis.axes import TEXTS
from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.words import Unit
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.axes.find import Curves, Difference, Panel, Point
from orchestrator.report.figures.base import Figure
from orchestrator.report.figures.curves import gap_curves, latency_curves, scales
from orchestrator.report.groups import anchor


@dataclass(frozen=True, kw_only=True)
class Row:
    """A stack at one place of the axis; `against` are its differences there, with what each is to."""

    place: str
    stack: str  # id
    label: str
    point: Point
    against: tuple[tuple[str, Difference], ...]


@dataclass(frozen=True, kw_only=True)
class Multiple:
    """One setting: its two pictures, what is said of it, and the rows of its table."""

    slug: str
    panel: Panel
    latency: Figure
    gap: Figure | None
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class AxisView:
    """Everything along one axis; the pictures share their scales."""

    slug: str
    curves: Curves
    unit: Unit
    gap_unit: Unit
    multiples: tuple[Multiple, ...]

    @property
    def has_gaps(self) -> bool:
        """Whether anything is compared along the axis."""
        return any(multiple.gap is not None for multiple in self.multiples)


def axis_views(summary: RunSummary, colours: dict[str, int]) -> tuple[AxisView, ...]:
    """The section's content, an entry for each axis of the run."""
    return tuple(_view(curves, colours) for curves in AXES.of(summary))


def _view(curves: Curves, colours: dict[str, int]) -> AxisView:
    shared, slug = scales(curves), anchor(curves.axis)
    return AxisView(
        slug=slug,
        curves=curves,
        unit=shared.unit,
        gap_unit=shared.gap_unit,
        multiples=tuple(
            Multiple(
                slug=f"{slug}-{number}",
                panel=panel,
                latency=latency_curves(f"curve-{slug}-{number}", panel, shared, colours),
                gap=gap_curves(f"gap-{slug}-{number}", panel, shared, colours),
                rows=tuple(_rows(curves, panel)),
            )
            for number, panel in enumerate(curves.panels, start=1)
        ),
    )


def _rows(curves: Curves, panel: Panel) -> Iterator[Row]:
    """By place, then in the order of the lines."""
    text = TEXTS[curves.axis]
    places = sorted({point.at for line in panel.lines for point in line.points})
    for place in places:
        for line in panel.lines:
            for point in line.points:
                if point.at != place:
                    continue
                yield Row(
                    place=text(place),
                    stack=line.stack,
                    label=line.label,
                    point=point,
                    against=tuple(
                        (gap.reference_label, difference)
                        for gap in panel.gaps
                        if gap.stack == line.stack
                        for difference in gap.points
                        if difference.at == place
                    ),
                )
