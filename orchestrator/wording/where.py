"""Where something holds: over which distance, and in what the settings of a run differ, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator import quantities
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import BY_NAME, FACTORS, STACK
from orchestrator.findings.grid import Distances
from orchestrator.findings.ranking import Ranking
from orchestrator.findings.summary import CellSummary

SUBJECT = "subject"  # which stack it is, where a factor is compared
_PLACEMENT = "placement"
_OF_PAYLOADS = ("bytes", "reply_bytes", "records", "per_second")


def _name(distances: Distances, cell: CellSummary) -> str:
    """`an emulated 35 ms`; `one machine`; the placement's name where its distance is not known."""
    if distances.is_local(cell):
        return "one machine"
    rtt = distances.rtt(cell)
    if rtt is None:
        return cell.labels.placement
    return f"an emulated {quantities.ms(rtt)}" if distances.is_emulated else quantities.ms(rtt)


def name_of_place(distances: Distances, cell: CellSummary) -> str:
    """`loopback`, `emulated 35 ms`; the placement's name where its distance is not known."""
    if distances.is_local(cell):
        return "loopback"
    rtt = distances.rtt(cell)
    if rtt is None:
        return cell.labels.placement
    return f"emulated {quantities.ms(rtt)}" if distances.is_emulated else f"{quantities.ms(rtt)} round trip"


def over(distances: Distances, cell: CellSummary) -> str:
    """` over an emulated 35 ms`, to follow a clause; empty on one machine, and where the distance is not known."""
    is_known = cell.placement in distances.kinds and distances.rtt(cell) is not None
    return f" over {_name(distances, cell)}" if is_known else ""


def _at(distances: Distances, cell: CellSummary) -> str:
    """`over 35 ms`, `on one machine`, `at same-zone`."""
    preposition = "on" if distances.is_local(cell) else "at" if distances.rtt(cell) is None else "over"
    return f"{preposition} {_name(distances, cell)}"


@dataclass(frozen=True)
class Axis:
    """One thing in which settings differ: a factor, or the stack where a factor is compared."""

    name: str
    distances: Distances

    def value(self, ranking: Ranking) -> Value:
        """The setting's value."""
        return ranking.subject if self.name == SUBJECT else _cell(ranking).factors.get(self.name)

    def number(self, ranking: Ranking) -> float | None:
        """The value as a place on an axis; None of what has no order."""
        if self.name == _PLACEMENT:
            cell = _cell(ranking)
            return 0.0 if self.distances.is_local(cell) else self.distances.rtt(cell)
        value = self.value(ranking)
        return float(value) if isinstance(value, int | float) else None

    def plainly(self, ranking: Ranking) -> str:
        """`4 in flight`, `10 kB`, `a round trip of 20 ms`."""
        if self.name == _PLACEMENT:
            return _name(self.distances, _cell(ranking))
        return str(self.value(ranking)) if self.name == SUBJECT else BY_NAME[self.name].briefly(self.value(ranking))

    def at(self, ranking: Ranking) -> str:
        """`with 4 in flight`, `at 10 kB`, `on one machine`; of a stack `with rest`."""
        if self.name == _PLACEMENT:
            return _at(self.distances, _cell(ranking))
        if self.name == SUBJECT:
            return f"with {self.plainly(ranking)}"
        return BY_NAME[self.name].compared(self.value(ranking))


def _cell(ranking: Ranking) -> CellSummary:
    return ranking.cells[ranking.reference]


def axes(rankings: Sequence[Ranking], distances: Distances) -> tuple[Axis, ...]:
    """In what these settings differ, each thing once: not the bytes beside the operation that they belong to."""
    compared = rankings[0].factor
    names = [SUBJECT] if compared != STACK and len({ranking.subject for ranking in rankings}) > 1 else []
    free = (compared, *(BY_NAME[compared].varies_with if compared != STACK else ()))
    for factor in FACTORS:
        values = {_cell(ranking).factors.get(factor.name) for ranking in rankings}
        if len(values) > 1 and factor.belongs_to != "stack" and factor.name not in free:
            names.append(factor.name)
    sizes = [name for name in names if name in _OF_PAYLOADS]
    if "payload" in names and len(sizes) == 1 and "operation" not in names:
        names.remove("payload")
    kept: list[str] = []
    for name in names:
        if not any(name in BY_NAME[other].varies_with for other in kept if other in BY_NAME):
            kept.append(name)
    if "rate" in kept and "concurrency" in kept:
        kept.remove("concurrency")
    return tuple(Axis(name, distances) for name in kept)


def where(ranking: Ranking, differing: Sequence[Axis]) -> str:
    """What is particular to a setting: `on one machine, with 4 in flight`."""
    return ", ".join(axis.at(ranking) for axis in differing)
