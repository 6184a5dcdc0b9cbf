"""Which cells of two runs measure the same thing, and in which factor the others differ from the nearest.

A cell is what its factors say: protocol, both ends, operation and payload, placement and distance, connection, and how
requests are offered. How many requests were sent, for how long, in which turns and after which warm-up says how well it was
measured, not what: cells that differ only in that are compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.summary import CellSummary, RunSummary

Factors = Mapping[str, str]


def match(new: RunSummary, old: RunSummary) -> tuple[list[tuple[CellSummary, CellSummary]], list[str]]:
    """The cells of two runs that measure the same thing, in pairs, whatever their ids and labels are; and what is left over.

    Of each cell without a partner, a clause says by which factor it differs from the nearest cell of the other run.
    """
    by_run = [[(factors(cell, run.plan), cell) for cell in run.cells] for run in (new, old)]
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
        *_alone(alone_new, new.run.id, alone_old or by_run[1]),
        *_alone(alone_old, old.run.id, alone_new or by_run[0]),
    ]
    return pairs, differences


def differing(mine: Factors, theirs: Factors, missing: str = "none") -> list[str]:
    """`factor: this against that` for each factor that differs."""
    return [
        f"{name}: {mine.get(name, missing)} against {theirs.get(name, missing)}"
        for name in dict.fromkeys((*mine, *theirs))
        if mine.get(name) != theirs.get(name)
    ]


def _alone(
    cells: Iterable[tuple[Factors, CellSummary]], run_id: str, others: list[tuple[Factors, CellSummary]]
) -> Iterator[str]:
    for measured, cell in cells:
        text = f"only in {run_id}: {cell.id}"
        if others:
            against, nearest = min(others, key=lambda other: len(differing(measured, other[0])))
            text += f" (nearest {nearest.id}: {'; '.join(differing(measured, against))})"
        yield text


def factors(cell: CellSummary, plan: Plan) -> Factors:
    """What a cell measures, as texts by factor; `plan` is its run's."""
    operation = next(each for each in plan.operations if each.id == cell.operation)
    placement = next(each for each in plan.placements if each.id == cell.placement)
    is_control = any(stack.control_of for stack in plan.stacks if stack.id == cell.stack)
    link = {key: value for key, value in vars(placement.link).items() if key != "source"}
    zones = " to ".join(filter(None, (placement.from_zone, placement.to_zone)))
    arrivals = cell.factors.get("arrivals")
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
        "control": cell.stack if is_control else "no",
        **_each("payload ", operation.payload),
        "placement": f"{placement.kind} {zones}".strip(),
        **_each("link ", link),
        "rate": f"{texts['rate']} ({arrivals})" if arrivals else texts["rate"],
    }


def _each(prefix: str, parts: Mapping[str, Any]) -> dict[str, str]:
    return {f"{prefix}{key}": str(value) for key, value in parts.items() if value is not None}
