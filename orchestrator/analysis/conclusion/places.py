"""Where something holds: over which distance, and in what the settings of a run differ, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.analysis import words
from orchestrator.analysis.conclusion.arena import Arena
from orchestrator.analysis.summary import CellSummary
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import BY_NAME, FACTORS, STACK
from orchestrator.experiment.providers import PROVIDERS

SUBJECT = "subject"  # which stack it is, where a factor is compared
_PLACEMENT = "placement"
_FAR_MS = 1.0  # from here on a round trip is worth a word
_OF_PAYLOADS = ("bytes", "reply_bytes", "records", "per_second")


@dataclass(frozen=True)
class Distances:
    """The round trips of a run's placements, and whether they are emulated."""

    is_emulated: bool
    kinds: dict[str, str]  # by placement's id
    wanted: dict[str, float | None]  # ms

    @classmethod
    def of(cls, plan: dict[str, Any]) -> Distances:
        """Those of a plan as it is stored; nothing is known without one."""
        provider = PROVIDERS.get(str(plan.get("provider")))
        places = plan.get("placements") or ()
        return cls(
            is_emulated=provider is not None and provider.distance == "emulated",
            kinds={str(place["id"]): str(place.get("kind")) for place in places},
            wanted={str(place["id"]): (place.get("link") or {}).get("rtt_ms") for place in places},
        )

    def rtt(self, cell: CellSummary) -> float | None:
        """The round trip in ms: the one asked for, else the one that ping measured; None of both ends on one machine."""
        if self.kinds.get(cell.placement_id) == "local":
            return None
        return self.wanted.get(cell.placement_id) or cell.ping_floor

    def far(self, cell: CellSummary) -> float | None:
        """The round trip where it is long enough to say it."""
        rtt = self.rtt(cell)
        return rtt if rtt is not None and rtt >= _FAR_MS else None

    def text(self, cell: CellSummary) -> str:
        """`an emulated 35 ms`; `one machine`; the placement's name where its distance is not known."""
        if self.kinds.get(cell.placement_id) == "local":
            return "one machine"
        rtt = self.rtt(cell)
        if rtt is None:
            return cell.placement
        return f"an emulated {words.ms(rtt)}" if self.is_emulated else words.ms(rtt)

    def trip(self, cell: CellSummary) -> str:
        """`an emulated round trip of 35 ms`; `one machine`, or the placement's name, where there is none."""
        rtt = self.rtt(cell)
        if rtt is None or self.kinds.get(cell.placement_id) == "local":
            return self.text(cell)
        return f"{'an emulated' if self.is_emulated else 'a'} round trip of {words.ms(rtt)}"

    def over(self, cell: CellSummary) -> str:
        """` over an emulated 35 ms`, to stand behind a clause; nothing of one machine, and of a way that no plan names."""
        is_known = cell.placement_id in self.kinds and self.rtt(cell) is not None
        return f" over {self.text(cell)}" if is_known else ""

    def at(self, cell: CellSummary) -> str:
        """`over 35 ms`, `on one machine`, `at same-zone`."""
        text = self.text(cell)
        return f"on {text}" if text == "one machine" else f"at {text}" if self.rtt(cell) is None else f"over {text}"


@dataclass(frozen=True)
class Axis:
    """One thing in which settings differ: a factor, or the stack where a factor is compared."""

    name: str
    distances: Distances

    def value(self, arena: Arena) -> Value:
        """The setting's value."""
        return arena.subject if self.name == SUBJECT else _cell(arena).factors.get(self.name)

    def number(self, arena: Arena) -> float | None:
        """The value as a place on an axis; None of what has no order."""
        if self.name == _PLACEMENT:
            is_here = self.distances.kinds.get(_cell(arena).placement_id) == "local"
            return 0.0 if is_here else self.distances.rtt(_cell(arena))
        value = self.value(arena)
        return float(value) if isinstance(value, int | float) else None

    def plainly(self, arena: Arena) -> str:
        """`4 in flight`, `10 kB`, `a round trip of 20 ms`."""
        if self.name == _PLACEMENT:
            return self.distances.trip(_cell(arena))
        return str(self.value(arena)) if self.name == SUBJECT else BY_NAME[self.name].briefly(self.value(arena))

    def at(self, arena: Arena) -> str:
        """`with 4 in flight`, `at 10 kB`, `on one machine`; of a stack `with rest`."""
        if self.name == _PLACEMENT:
            return self.distances.at(_cell(arena))
        if self.name == SUBJECT:
            return f"with {self.plainly(arena)}"
        return BY_NAME[self.name].compared(self.value(arena))


def _cell(arena: Arena) -> CellSummary:
    return arena.cells[arena.reference]


def axes(found: Sequence[Arena], distances: Distances) -> tuple[Axis, ...]:
    """In what these settings differ, each thing once: not the bytes beside the operation that they belong to."""
    compared = found[0].factor
    names = [SUBJECT] if compared != STACK and len({arena.subject for arena in found}) > 1 else []
    free = (compared, *(BY_NAME[compared].varies_with if compared != STACK else ()))
    for factor in FACTORS:
        values = {_cell(arena).factors.get(factor.name) for arena in found}
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


def where(arena: Arena, differing: Sequence[Axis]) -> str:
    """What is particular to a setting: `on one machine, with 4 in flight`."""
    return ", ".join(axis.at(arena) for axis in differing)
