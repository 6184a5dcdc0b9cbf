"""A search for a rate, as a cell of a plan has it."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.experiment.model.goal import Goal


@dataclass(frozen=True, kw_only=True)
class Find:
    """A search for the highest rate at which the goals hold, among rates on a geometric scale.

    They are `steps + 1` rates from `lowest` to `highest` (per second), `factor` apart. `concurrency` bounds the requests in
    flight at every rate; None: enough for the rate (`loads.room`).
    """

    goals: tuple[Goal, ...]
    lowest: float
    highest: float
    steps: int
    concurrency: int | None = None

    @property
    def factor(self) -> float:
        """A rate over the next lower one."""
        return float((self.highest / self.lowest) ** (1 / self.steps))

    @property
    def probes(self) -> int:
        """The most trials that a search takes: bisection of the rates, or below them all."""
        return (self.steps + 1).bit_length()

    @property
    def text(self) -> str:
        """What must hold: `p99 < 10 ms and errors < 1 %`."""
        return " and ".join(goal.text for goal in self.goals)

    def rate(self, step: int) -> float:
        """The rate of a step from 0 on, per second, to four digits."""
        if step in (0, self.steps):
            return self.highest if step else self.lowest
        return float(f"{self.lowest * self.factor**step:.4g}")
