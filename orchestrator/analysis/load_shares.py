"""What each requester of a trial was asked, by its host and its number there: its share of what the cell declares."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.experiment.plan.cells import connections_in, seed_of, share_of
from orchestrator.experiment.plan.plan import Cell
from orchestrator.results.manifest import TrialRecord
from services.python.contract.lines import Load


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one requester was asked: its part of the cell's load, connections to keep, and the seed of both its draws."""

    load: Load
    connections: int
    seed: int


def shares_of(cell: Cell, record: TrialRecord, seed: int) -> list[Share]:
    """The share of each requester of a trial, in the trial's order: host by host, process by process."""
    hosts = list(dict.fromkeys(of.host for of in record.requesters))
    return [
        Share(
            load=share_of(cell.factors, cell.load, hosts.index(of.host), of.process),
            connections=connections_in(cell, hosts.index(of.host), of.process) * (cell.mixed or 1),
            seed=seed_of(seed, number),
        )
        for number, of in enumerate(record.requesters)
    ]
