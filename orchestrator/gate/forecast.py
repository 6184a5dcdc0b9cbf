"""How many blocks a gate takes, and how many there is time for."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.experiment.plan.estimate import estimate
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.power import DEFAULT_SD
from orchestrator.questions.until import find as until


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """How many blocks a call is expected to take, and how many there is time for.

    `spread` is the assumed SD over blocks of the log ratio, `block_s` the seconds of a block.
    """

    call: str
    spread: float
    block_s: float
    blocks: int
    room: int

    @property
    def can_decide(self) -> bool:
        """Whether there is time for it."""
        return self.blocks <= self.room


def forecast(call: str, plan: Plan, seconds: float) -> Forecast:
    """What a call takes that has so many seconds."""
    expected = estimate(plan)
    block_s = (expected.trials_s + expected.baselines_s) / plan.blocks
    return Forecast(
        call=call,
        spread=DEFAULT_SD,
        block_s=block_s,
        blocks=until.expected_blocks(plan, DEFAULT_SD),
        room=int(seconds / block_s),
    )
