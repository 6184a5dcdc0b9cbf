"""How many hosts ask, and how many processes each end of a trial is: a part of `factors.FACTORS`, which see."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Factor, Values
from orchestrator.experiment.model.levels import Numbers

REQUESTERS = "requesters"

OF_PROCESSES: tuple[Factor, ...] = (
    Factor(
        name=REQUESTERS,
        title="requester hosts",
        kind="count",
        belongs_to="call",
        reaches="hosts",
        numbers=Numbers(
            least=1,
            most=64,
            words="{} requester hosts",
            compared="{} requester hosts",
            one="one requester host",
        ),
        description="So many hosts ask one responder, and share the requests in flight, the rate and the requests",
        has_streams=True,
    ),
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


def requesters_of(values: Values) -> int:
    """How many hosts ask in a cell; one where nothing is said of them."""
    number = values.get(REQUESTERS)
    return number if isinstance(number, int) else 1
