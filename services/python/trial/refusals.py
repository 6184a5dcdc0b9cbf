"""What a requester refuses of a trial before anybody is asked: what its client cannot do, and impossible loads."""

from __future__ import annotations

from services.python.contract.knobs import CONNECTIONS, FETCH, WHOLE
from services.python.contract.lines import Load, Trial
from services.python.contract.offers import Client
from services.python.load.phases import SLOWEST_RATE, measured
from services.python.operations import Operation


def refusal_of_target(trial: Trial, client: Client) -> str | None:
    """Why a client cannot be used with this target, or without one; None when it can."""
    if client.kind == "call":
        return "it names no target, and there is nobody to ask without one" if trial.target is None else None
    load = trial.load
    for is_given, what in (
        (trial.target is not None, "a target"),
        (trial.connection != "reuse", f"connection: {trial.connection}"),
        (bool(trial.knobs), ", ".join(trial.knobs)),
        (trial.schema is not None, "a schema"),
        (trial.tls is not None, "tls"),
        (load.concurrency != 1, f"a concurrency of {load.concurrency}"),
        (load.rate_per_s is not None, "a rate"),
        (load.think_s > 0, "think time"),
        (trial.calls != 1, f"calls: {trial.calls}"),
        (trial.turn_warm_up is not None, "turns"),
    ):
        if is_given:
            return (
                f"{client.name} encodes and decodes one message after the other, and asks nobody: {what} does not apply"
            )
    return None


def refuse_impossible(trial: Trial, operation: Operation) -> None:
    """ValueError for a load that cannot be offered, or would never end."""
    load = trial.load
    if operation.kind == "stream" and load.requests != 0:
        _refuse_impossible_streams(load, trial.connection)
    if trial.turn_warm_up is not None:
        _refuse_impossible_turns(trial, operation)
    if (fetch := trial.knobs.get(FETCH, WHOLE)) != WHOLE:
        if not operation.made_of:
            raise ValueError(f"{FETCH}: {fetch}: {operation.name} is one call, and made of no others")
        if trial.calls != len(operation.made_of):
            made = ", ".join(operation.made_of)
            raise ValueError(f"{FETCH}: {fetch}: {operation.name} is made of {made}, and not of {trial.calls} calls")
        if CONNECTIONS in trial.knobs:
            raise ValueError(
                f"{FETCH}: {fetch}: the calls of a task have connections of their own, and share no others"
            )
    measured(load)
    if load.concurrency < 1:
        raise ValueError(f"load: a concurrency of at least 1, not {load.concurrency}")
    if load.rate_per_s is not None and load.rate_per_s < SLOWEST_RATE:
        raise ValueError(
            f"load: an open loop needs a rate above 0, at least {SLOWEST_RATE} a second, not {load.rate_per_s}"
        )
    if load.rate_per_s is not None and load.think_s:
        raise ValueError("load: an open loop has a schedule and no think time; give rate_per_s or think_s")


def _refuse_impossible_streams(load: Load, connection: str) -> None:
    """ValueError for a load that streams do not have."""
    if load.duration_s is None:
        raise ValueError("load: give duration_s, which is how long each subscription lasts")
    if load.requests is not None or load.rate_per_s is not None:
        raise ValueError("load: requests and rate_per_s say nothing of a stream, whose operation has a rate of its own")
    if load.think_s:
        raise ValueError("load: a stream has no think time: its clients wait for events, and ask once")
    if connection != "reuse":
        raise ValueError("connection: a subscription has one connection for as long as it lasts (reuse)")


def _refuse_impossible_turns(trial: Trial, operation: Operation) -> None:
    """ValueError for a trial that cannot be measured in turns."""
    load = trial.load
    for is_given, what in (
        (not trial.hold, "hold: a trial in turns is held until its first one"),
        (operation.kind != "call", f"{operation.name} is a {operation.kind}, and no call"),
        (load.rate_per_s is not None, "rate_per_s: an open loop has one schedule, and no turns"),
        (load.think_s > 0, "think_s: users who rest have no turns"),
    ):
        if is_given:
            raise ValueError(f"turn_warm_up: {what}")
