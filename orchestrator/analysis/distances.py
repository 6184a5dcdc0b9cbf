"""The round trips of a run's placements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orchestrator.analysis.summary import CellSummary
from orchestrator.experiment.providers import PROVIDERS

_FAR_MS = 1.0  # from here on a round trip is worth a word


@dataclass(frozen=True)
class Distances:
    """The wanted round trip in ms and the kind of each placement, by its id, and whether distance is emulated."""

    is_emulated: bool
    kinds: dict[str, str]
    wanted: dict[str, float | None]

    @classmethod
    def of(cls, plan: dict[str, Any]) -> Distances:
        """Return those of a plan as it is stored; nothing is known without one."""
        provider = PROVIDERS.get(str(plan.get("provider")))
        places = plan.get("placements") or ()
        return cls(
            is_emulated=provider is not None and provider.distance == "emulated",
            kinds={str(place["id"]): str(place.get("kind")) for place in places},
            wanted={str(place["id"]): (place.get("link") or {}).get("rtt_ms") for place in places},
        )

    def is_local(self, cell: CellSummary) -> bool:
        """Whether both ends run on one machine."""
        return self.kinds.get(cell.placement_id) == "local"

    def rtt(self, cell: CellSummary) -> float | None:
        """Return the wanted round trip in ms, else the one that ping measured; None with both ends on one machine."""
        return None if self.is_local(cell) else self.wanted.get(cell.placement_id) or cell.ping_floor

    def far(self, cell: CellSummary) -> float | None:
        """Return the round trip where it is at least 1 ms."""
        rtt = self.rtt(cell)
        return rtt if rtt is not None and rtt >= _FAR_MS else None
