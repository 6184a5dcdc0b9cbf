"""How many clients a stream may have, and how many events a trial."""

from __future__ import annotations

from orchestrator.catalogue.offers import Responder
from services.python.contract.lines import Load, Warmup
from services.python.contract.streams import MOST_EVENTS, schedule


def refusal_of_clients(protocol: str, responder: Responder | None, clients: int) -> str | None:
    """Why a responder cannot serve the streams of so many clients, of all requesters, and the way out; None when it can."""
    most = None if responder is None else responder.most_streams
    if responder is None or most is None or clients <= most:
        return None
    return (
        f"{protocol}'s responder {responder.name} serves at most {most:,} streams at once, and would leave"
        f" {clients - most:,} of {clients:,} clients waiting for the others to end. Ask"
        " with fewer"
    )


def refusal_of_events(load: Load, warmup: Warmup, per_second: float) -> str | None:
    """Why a requester cannot read so many events in a trial, and the way out; None when it can."""
    seconds = (min(warmup.at_least_s, warmup.at_most_s), load.duration_s or 0.0)
    events = load.concurrency * sum(schedule(per_second, each_s)[1] for each_s in seconds)
    if events <= MOST_EVENTS:
        return None
    return (
        f"{events:,} events to the clients of one requester in a trial, warm-up included: at most {MOST_EVENTS:,} are"
        " recorded. Lower the rate, the duration or the number of clients"
    )
