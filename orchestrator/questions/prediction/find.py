"""The cost model of a whole run: read, fitted, and held against its sealed cells. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from orchestrator.evidence.run_evidence import CellEvidence, RunEvidence, round_trips_to_open
from orchestrator.experiment.model.factors import of_the_call, phrases
from orchestrator.experiment.plan.cells import window_of
from orchestrator.experiment.plan.schedule import series_id, size_of
from orchestrator.findings.block_values import by_block
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.base import Basis, Question, is_no_search
from orchestrator.questions.distance.find import QUESTION as DISTANCE
from orchestrator.questions.distance.find import Delivered, floors_by_block
from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.judged import judged
from orchestrator.questions.prediction.network import HEADERS, SEGMENT, SEGMENTS_AT_FIRST, on_the_wire
from orchestrator.questions.prediction.shapes import ModelCell, Modelled, Series
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.terms import Reason, ReasonKind, because


def _find(basis: Basis) -> Modelled | None:
    """Every series with its model, or with the reason why it has none, where the plan or the caller wants the cost model.

    Invalid cells are neither fitted nor sealed.
    """
    run, plan, links = basis.evidence, basis.plan, DISTANCE.of(basis.summary)
    if not (plan.hold_out or basis.is_modelled):
        return None
    series, measured = read(run, basis.summary.cells, floors_by_block(run.readings), basis.invalid)
    if why := tuple(refusals(run, links, measured)):
        return Modelled(series=series, fits=(), judged=None, refusals=why, not_fitted={})
    fits, not_fitted = fit_all(series, measured)
    return Modelled(
        series=series,
        fits=fits,
        judged=judged(fits, measured, run.plan.matters, len(run.plan.sealed)),
        refusals=(),
        not_fitted=not_fitted,
    )


QUESTION: Question[Modelled | None] = Question(
    name="prediction", type=Modelled, empty=None, find=_find, applies=is_no_search
)


# ---- what the model needs of each cell, and why a run has none

_SEGMENTS_OF_QUIC = 32  # quic-go's first window (docs/how-to/choose-what-varies.md)

Floors = Mapping[str, Mapping[int, float]]
"""What ping measured, by placement and block, ms."""


def read(
    run: RunEvidence, cells: Sequence[CellSummary], floors: Floors, invalid: Container[str]
) -> tuple[tuple[Series, ...], tuple[ModelCell, ...]]:
    """The series of a run, and their measured cells. Invalid cells are left out."""
    by_id = {cell.id: cell for cell in cells}
    of_series: dict[str, list[CellEvidence]] = {}
    for cell in run.cells:
        name = series_id(cell.cell, cell.operation, cell.placement, cell.stack)
        if name is not None:
            of_series.setdefault(name, []).append(cell)
    every: list[Series] = []
    modelled: list[ModelCell] = []
    for name, members in of_series.items():
        every.append(_series(name, members))
        for cell in members:
            summary = by_id.get(cell.cell.id)
            if summary is not None and cell.cell.id not in invalid:
                modelled += _model_cell(run, name, cell, summary, floors)
    return tuple(every), tuple(modelled)


def _series(name: str, members: Sequence[CellEvidence]) -> Series:
    first = members[0]
    cell, is_new = first.cell, first.cell.connection == "per-request"
    most = round_trips_to_open(first.stack) + cell.handshakes
    fewest = 1 + cell.handshakes  # what comes after TCP's and TLS's handshakes may travel with them
    windows = {member.placement.link.initial_window for member in members if member.placement.link.initial_window}
    segments = _SEGMENTS_OF_QUIC if cell.is_over_quic else min(windows, default=SEGMENTS_AT_FIRST)
    return Series(
        id=name,
        stack=first.stack.id,
        label=first.stack.label,
        call=of_the_call(cell.factors),
        setting=", ".join(phrases(cell.factors)),
        operation=first.operation.name,
        connection=cell.connection,
        opens=(min(fewest, most), most) if is_new else (0, 0),
        first_window=segments * (SEGMENT + HEADERS),
        window=window_of(cell.factors),
    )


def _model_cell(
    run: RunEvidence, series: str, cell: CellEvidence, summary: CellSummary, floors: Floors
) -> Iterator[ModelCell]:
    """The cell, where it was measured and pinged; nothing otherwise."""
    if any("median" in trial.censored for trial in summary.trials):
        return
    medians, floor = by_block(summary.trials, "median"), floors.get(cell.placement.id, {})
    blocks = sorted(block for block in medians.keys() & floor.keys() if medians[block] > 0 and floor[block] > 0)
    carried = summary.sizes.wire or summary.sizes.body
    if not blocks or carried is None:
        return
    yield ModelCell(
        cell=cell.cell.id,
        series=series,
        placement=cell.placement.name,
        size=size_of(cell.operation),
        up=float(on_the_wire(carried[0])),
        down=float(on_the_wire(carried[1])),
        rate_mbit=cell.placement.link.rate_mbit,
        blocks=tuple(blocks),
        rtt=tuple(floor[block] for block in blocks),
        median=tuple(medians[block] for block in blocks),
        is_sealed=cell.cell.id in run.plan.sealed,
    )


def refusals(run: RunEvidence, links: Sequence[Delivered], modelled: Sequence[ModelCell]) -> Iterator[Reason]:
    """Why the run has no model; nothing where it has."""
    if not modelled:
        own = any(stack.external is not None for stack in run.plan.stacks)
        yield because(ReasonKind.OWN_CALLS if own else ReasonKind.NO_CELLS)
        return
    used, off = {cell.placement for cell in modelled}, {link.placement for link in links if link.why_not}
    for placement in run.plan.placements:
        if placement.name in used and placement.link.loss:
            yield because(ReasonKind.LOSSY, placement.name, share=placement.link.loss)
        elif placement.name in used & off:
            yield because(ReasonKind.LINK, placement.name)
    blocks = max(len(cell.blocks) for cell in modelled)
    if blocks < FEWEST_BLOCKS:
        yield because(ReasonKind.FEW_BLOCKS, blocks=blocks, needed=FEWEST_BLOCKS)
