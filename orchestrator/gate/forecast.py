"""What earlier gates of this machine found, and how many blocks it takes after them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from orchestrator.disk import writing
from orchestrator.experiment.plan.estimate import estimate
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.power import assumed_sd
from orchestrator.questions.until import find as until


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """How many blocks a call is expected to take, how many there is time for, and the gates that say so (0: none).

    `spread` is the SD over blocks of the log ratio, `block_s` the seconds of a block.
    """

    call: str
    spread: float
    block_s: float
    blocks: int
    room: int
    gates: int

    @property
    def can_decide(self) -> bool:
        """Whether there is time for it."""
        return self.blocks <= self.room


def forecast(call: str, plan: Plan, seconds: float, earlier: Sequence[Mapping[str, Any]]) -> Forecast:
    """What a call takes that has so many seconds, after earlier gates of the experiment."""
    spreads = [float(gate["spreads"][call]) for gate in earlier if gate["spreads"].get(call)]
    lengths = [float(gate["block_seconds"][call]) for gate in earlier if gate["block_seconds"].get(call)]
    spread = median(spreads) if spreads else assumed_sd(plan)
    expected = estimate(plan)
    block_s = median(lengths) if lengths else (expected.trials_s + expected.baselines_s) / plan.blocks
    return Forecast(
        call=call,
        spread=spread,
        block_s=block_s,
        blocks=until.expected_blocks(plan, spread),
        room=int(seconds / block_s),
        gates=len(spreads),
    )


def gates(path: Path, name: str) -> list[dict[str, Any]]:
    """The recorded gates of an experiment, oldest first."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [gate for gate in map(json.loads, lines) if gate["name"] == name]


def record(path: Path, document: Mapping[str, Any]) -> None:
    """Add a gate as a line; MissingError where the disk refuses."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path, "--record again"), path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(document, ensure_ascii=False) + "\n")
