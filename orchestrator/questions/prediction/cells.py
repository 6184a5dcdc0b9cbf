"""Reads what the cost model needs of each cell, and why a run has no model. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from math import inf

import numpy as np

from orchestrator import quantities
from orchestrator.evidence.host_noise import noises
from orchestrator.evidence.run_evidence import CellEvidence, RunEvidence, round_trips_to_open
from orchestrator.experiment.model.factors import phrases
from orchestrator.experiment.plan.cells import window_of
from orchestrator.experiment.plan.plan import Placement
from orchestrator.experiment.plan.schedule import series_id, size_of
from orchestrator.findings.block_values import by_block
from orchestrator.findings.summary import CellSummary
from orchestrator.findings.trial_values import PER
from orchestrator.questions.distance.links import Delivered
from orchestrator.questions.prediction.network import HEADERS, SEGMENT, SEGMENTS_AT_FIRST, on_the_wire
from orchestrator.questions.prediction.shapes import ModelCell, Series
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from services.python.contract.knobs import CONGESTION, IN_FORCE
from services.python.contract.limits import TLS

_THROTTLED = 0.05  # of the time that a quota stopped a host: the check *noise* warns from there on
_SEGMENTS_OF_QUIC = 32  # quic-go's first window (docs/how-to/choose-what-varies.md)
_MOST_CPU_S = 1e9  # of 1,000 requests: a folder from elsewhere may say any number

Floors = Mapping[str, Mapping[int, float]]
"""What ping measured, by placement and block, ms."""


def read(
    run: RunEvidence, cells: Sequence[CellSummary], floors: Floors, invalid: Container[str]
) -> tuple[tuple[Series, ...], tuple[ModelCell, ...], dict[str, str]]:
    """The series of a run, their measured cells, and by series why it is not to be fitted. Invalid cells are left out."""
    by_id = {cell.id: cell for cell in cells}
    of_series: dict[str, list[CellEvidence]] = {}
    for cell in run.cells:
        name = series_id(cell.cell, cell.operation, cell.placement, cell.stack)
        if name is not None:
            of_series.setdefault(name, []).append(cell)
    every: list[Series] = []
    modelled: list[ModelCell] = []
    refused: dict[str, str] = {}
    for name, members in of_series.items():
        every.append(_series(run, name, members))
        for cell in members:
            summary = by_id.get(cell.cell.id)
            if summary is not None and cell.cell.id not in invalid:
                modelled += _model_cell(run, name, cell, summary, floors)
        if why := _unlike_hosts(members):
            refused[name] = why
    return tuple(every), tuple(modelled), refused


def _series(run: RunEvidence, name: str, members: Sequence[CellEvidence]) -> Series:
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
        setting=", ".join(phrases(cell.factors)),
        operation=first.operation.name,
        connection=cell.connection,
        tls=str(cell.factors.get(TLS) or ""),
        opens=(min(fewest, most), most) if is_new else (0, 0),
        first_window=segments * (SEGMENT + HEADERS),
        window=window_of(cell.factors),
        congestion=", ".join(sorted(_congestion(members))),
        machine=run.plan.machine or "",
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
    cpus = [cpu for trial in summary.trials if (cpu := trial.values.get("requester_cpu", inf)) < _MOST_CPU_S]
    is_counted = bool(cpus) and len(cpus) == len(summary.trials)  # of 1,000 requests, s
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
        requester_cpu=float(np.median(cpus)) * 1e3 / PER if is_counted else None,
        is_sealed=cell.cell.id in run.plan.sealed,
    )


def _congestion(members: Sequence[CellEvidence]) -> set[str]:
    """The congestion controls that both ends told of any trial, and what was asked for."""
    controls = {str(member.cell.factors[CONGESTION]) for member in members if member.cell.factors.get(CONGESTION)}
    controls -= {"system"}
    for trial in (trial for member in members for trial in member.trials):
        ready = trial.record.ready.settings.get(IN_FORCE, "") if trial.record.ready else ""
        controls |= {ready, *(part.done.settings.get(IN_FORCE, "") for part in trial.parts)} - {""}
    return controls


def _unlike_hosts(members: Sequence[CellEvidence]) -> str | None:
    """Why trials of one series are not of one kind of host; None where they are."""
    controls = _congestion(members)
    if len(controls) > 1:
        return f"its trials had different congestion controls: {quantities.listed(sorted(controls))}"
    windows = {member.placement.link.initial_window for member in members}
    if len(windows) > 1 and members[0].cell.connection == "per-request" and not members[0].cell.is_over_quic:
        ordered = sorted(windows, key=lambda window: window or 0)
        shown = [f"{window} segments" if window else "the kernel's own" for window in ordered]
        return f"its links have different initial windows: {quantities.listed(shown)}"
    return None


def refusals(run: RunEvidence, links: Sequence[Delivered], modelled: Sequence[ModelCell]) -> tuple[str, ...]:
    """Why the run has no model, a sentence each; empty where it has."""
    if not modelled:
        needed = "calls over a distance that ping measured, in a closed loop, with right replies"
        return (f"none of its cells can be modelled: that takes {needed}.",)
    used = {cell.placement for cell in modelled}
    placements = [placement for placement in run.plan.placements if placement.name in used]
    reasons = [*_links(placements, links), *_throttled(run)]
    blocks = max(len(cell.blocks) for cell in modelled)
    if blocks < FEWEST_BLOCKS:
        few = quantities.count(blocks, "block")
        reasons.append(f"only {few} of at least {FEWEST_BLOCKS} measured: plan more `repeats`.")
    return tuple(reasons)


def _links(placements: Sequence[Placement], links: Sequence[Delivered]) -> Iterator[str]:
    why = {link.placement: link.why_not for link in links}
    for placement in placements:
        if placement.link.loss:
            loses = f"{placement.name} loses {quantities.percent(placement.link.loss)} of its packets"
            yield f"{loses}, and loss is outside of the model: measure without `loss`."
        elif why.get(placement.name):
            yield f"the link of {placement.name} did not deliver what was asked: {why[placement.name]}. Measure it again."


def _throttled(run: RunEvidence) -> Iterator[str]:
    worst: dict[str, float] = {}
    for cell in run.cells:
        for trial in cell.trials:
            for noise in noises(cell, trial):
                worst[noise.where] = max(worst.get(noise.where, 0.0), noise.throttled or 0.0)
    for where, share in worst.items():
        if share > _THROTTLED:
            yield (
                f"{where} was stopped by its CPU quota for up to {quantities.percent(share)} of a trial: the model has no"
                " such waits. Measure on a larger `machine`, or with a smaller load."
            )
