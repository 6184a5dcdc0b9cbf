"""How the clients of a stream read it: a part of `factors.FACTORS`, which see."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.levels import Level, Numbers

OF_STREAMS: tuple[Factor, ...] = (
    Factor(
        name="read_rate",
        title="read rate",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(
                value="unlimited",
                words="events read as they come",
                compared="a client that reads events as they come",
                shown="events as they come (unlimited)",
            ),
        ),
        numbers=Numbers(
            least=1,
            most=1_000_000,
            measure="rate",
            words="clients that read at most {}",
            compared="a client that reads at most {}",
        ),
        description="How many events a second each client of a stream reads at most (100/s): a slow reader; or as they"
        " come (unlimited)",
        has_streams=True,
        is_of_streams=True,
    ),
)
