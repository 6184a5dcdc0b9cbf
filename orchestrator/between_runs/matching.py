"""Which cells of two runs measure the same thing, and where none does, in which factor they differ.

A cell is what its factors say: protocol, both ends, operation and payload, placement and distance, connection, and how
requests are offered. How many requests were sent, for how long and after which warm-up says how well it was measured,
not what: cells that differ only in that are compared, and the difference is named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.findings.summary import CellSummary, RunSummary

Factors = Mapping[str, str]

# What `_factors` and `effort` read of a plan's cell.
_KNOWN = frozenset({"id", "stack", "operation", "placement", "factors", "load", "warmup", "timeout_s", "kind"})


@dataclass(frozen=True, kw_only=True)
class Matching:
    """The cells of two runs: in pairs (new, old) where they measure the same thing, and those left over."""

    pairs: tuple[tuple[CellSummary, CellSummary], ...]
    differences: tuple[str, ...]  # of cells without a partner: which factor differs from the nearest cell of the other


class _Plan:
    """A run's plan, its parts by id."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self._parts = {
            kind: {part["id"]: part for part in plan.get(kind, ())}
            for kind in ("stacks", "operations", "placements", "cells")
        }

    def of(self, kind: str, identity: str) -> Mapping[str, Any]:
        part: Mapping[str, Any] = self._parts[kind].get(identity, {})
        return part


def factors(cell: CellSummary, plan: Mapping[str, Any]) -> Factors:
    """What a cell measures, as texts by factor; `plan` is its run's (`RunSummary.plan`)."""
    return _factors(cell, _Plan(plan))


def effort(cell: CellSummary, plan: Mapping[str, Any]) -> Factors:
    """How much a cell was asked to measure, as texts: requests, duration, warm-up, time-out."""
    planned = _Plan(plan).of("cells", cell.id)
    load = {key: planned.get("load", {}).get(key) for key in ("requests", "duration_s")}
    return {
        **_each("", load),
        **_each("warm-up ", planned.get("warmup", {})),
        "time-out": str(planned.get("timeout_s")),
    }


def match(new: RunSummary, old: RunSummary) -> Matching:
    """Pair the cells of two runs by what they measure, whatever their ids and labels are."""
    plans = {id(run): _Plan(run.plan) for run in (new, old)}
    by_run = [[(_factors(cell, plans[id(run)]), cell) for cell in run.cells] for run in (new, old)]
    waiting: dict[frozenset[tuple[str, str]], list[CellSummary]] = defaultdict(list)
    for measured, cell in by_run[1]:
        waiting[frozenset(measured.items())].append(cell)
    pairs, alone_new = [], []
    for measured, cell in by_run[0]:
        partners = waiting[frozenset(measured.items())]
        if partners:
            partner = next((other for other in partners if other.id == cell.id), partners[0])
            partners.remove(partner)
            pairs.append((cell, partner))
        else:
            alone_new.append((measured, cell))
    paired = {partner.id for _, partner in pairs}
    alone_old = [(measured, cell) for measured, cell in by_run[1] if cell.id not in paired]
    differences = [
        *_alone(alone_new, new.run_id, alone_old or by_run[1]),
        *_alone(alone_old, old.run_id, alone_new or by_run[0]),
    ]
    return Matching(pairs=tuple(pairs), differences=tuple(differences))


def differing(mine: Factors, theirs: Factors) -> list[str]:
    """`factor: this against that` for each factor that differs."""
    return [
        f"{name}: {mine.get(name, 'none')} against {theirs.get(name, 'none')}"
        for name in dict.fromkeys((*mine, *theirs))
        if mine.get(name) != theirs.get(name)
    ]


def different_values(new: RunSummary, old: RunSummary) -> list[str]:
    """Why two runs have no cell in common, each factor once: `protocol: grpc against cbor, rest`.

    Named are the factors without a value that both runs share. Where there is none (values are shared, in other
    combinations), those in which each cell of `new` differs from the cell of `old` that is most like it.
    """
    plans = _Plan(new.plan), _Plan(old.plan)
    sides = [[_factors(cell, plan) for cell in run.cells] for run, plan in zip((new, old), plans, strict=True)]
    if not all(sides):
        return []
    differences = []
    for name in dict.fromkeys(name for side in sides for cell in side for name in cell):
        mine, theirs = (dict.fromkeys(cell.get(name, "none") for cell in side) for side in sides)
        if not mine.keys() & theirs.keys():
            differences.append(f"{name}: {_few(mine)} against {_few(theirs)}")
    nearest = (min((differing(cell, other) for other in sides[1]), key=len) for cell in sides[0])
    return differences or list(dict.fromkeys(text for texts in nearest for text in texts))


def _few(values: Iterable[str], most: int = 4) -> str:
    """The first of some values, sorted; how many more there are."""
    every = sorted(values)
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")


def _alone(
    cells: Iterable[tuple[Factors, CellSummary]], run_id: str, others: list[tuple[Factors, CellSummary]]
) -> Iterator[str]:
    for measured, cell in cells:
        text = f"only in {run_id}: {cell.id}"
        if others:
            against, nearest = min(others, key=lambda other: len(differing(measured, other[0])))
            text += f" (nearest {nearest.id}: {'; '.join(differing(measured, against))})"
        yield text


def _factors(cell: CellSummary, plan: _Plan) -> Factors:
    operation, placement = plan.of("operations", cell.operation_id), plan.of("placements", cell.placement_id)
    planned = plan.of("cells", cell.id)
    load = planned.get("load", {})
    zones = [placement[key] for key in ("from_zone", "to_zone") if placement.get(key)]
    link = {key: value for key, value in placement.get("link", {}).items() if key != "source"}
    control = plan.of("stacks", cell.stack).get("control_of")
    texts = {name: BY_NAME[name].text(value) if name in BY_NAME else str(value) for name, value in cell.factors.items()}
    for name in (
        "payload",
        "bytes",
        "reply_bytes",
        "records",
        "per_second",
        "schema_change",
        "arrivals",  # with the rate
    ):  # what is sent is in the operation's payload, to the byte
        texts.pop(name, None)
    for name in ("think", "thinking"):  # only where requests wait, and unusually
        if not cell.factors.get("think") or BY_NAME[name].is_usual(cell.factors.get(name)):
            texts.pop(name, None)
    return {
        **texts,
        "control": cell.stack if control else "no",
        **_each("payload ", operation.get("payload", {})),
        "placement": " ".join([placement.get("kind", cell.placement), " to ".join(zones)]).strip(),
        **_each("link ", link),
        "rate": texts["rate"] if load.get("rate_per_s") is None else f"{texts['rate']} ({load.get('arrivals')})",
        **{key: str(value) for key, value in planned.items() if key not in _KNOWN},
    }


def _each(prefix: str, parts: Mapping[str, Any]) -> dict[str, str]:
    return {f"{prefix}{key}": str(value) for key, value in parts.items() if value is not None}
