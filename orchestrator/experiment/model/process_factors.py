"""How many processes each end of a trial is: a part of `factors.FACTORS`, which see."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.levels import Numbers

OF_PROCESSES: tuple[Factor, ...] = (
    Factor(
        name="processes",
        title="requester processes",
        kind="count",
        belongs_to="call",
        reaches="hosts",
        numbers=Numbers(
            least=1,
            most=64,
            words="{} requester processes",
            compared="{} requester processes",
            one="one requester process",
        ),
        description="So many requester processes on each requester's host, which share its requests in flight, its rate"
        " and its requests",
    ),
    Factor(
        name="workers",
        title="responder workers",
        kind="count",
        belongs_to="call",
        reaches="knob",
        numbers=Numbers(
            least=1,
            most=64,
            words="{} responder workers",
            compared="{} responder workers",
            one="one responder worker",
        ),
        description="So many worker processes that answer on the responder's one port, where its server has them",
    ),
)
