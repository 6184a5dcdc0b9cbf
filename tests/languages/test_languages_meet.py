"""Ends of two languages meet each other: each language's responders, asked by every client of another one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.catalogue.offers import Client, Protocol, Responder
from orchestrator.catalogue.read import protocols
from tests.conformance.certificates import certificates
from tests.conformance.kit import Implementation
from tests.conformance.promises.test_pairs import HOLDING, payload_of
from tests.conformance.promises.test_streams import STREAM
from tests.support.built import why_not

pytestmark = [pytest.mark.slow, pytest.mark.busy]

PATIENCE_S = 30
STREAMS = {"events", "activity"}
PLAIN, TLS = {}, {"tls": "tls1.3"}


def meetings(*, are_streams: bool) -> Iterator[Any]:
    """Protocol, responder and client of two languages, every second with TLS where both have it; Python's defaults alone.

    Those that carry calls, or those that carry the stream `events`: there Python's are all that do.
    """
    turns = itertools.cycle((PLAIN, TLS))
    for protocol in (protocol for protocol in protocols().values() if protocol.responders):
        defaults = {protocol.responders[0].name, protocol.sequential, protocol.concurrent}
        for responder in protocol.responders:
            for client in (client for client in protocol.clients if client.kind == "call"):
                is_usual = all(end.language.name != "python" or end.name in defaults for end in (responder, client))
                refused = {*responder.refuses, *client.refuses}
                if are_streams:
                    has_any = "events" in protocol.operations and not {"stream", "events"} & refused
                else:
                    has_any = is_usual and bool(shared(protocol, responder, client))
                if responder.language == client.language or not has_any:
                    continue
                has_tls = all(
                    end.lacks(name, value) is None for name, value in TLS.items() for end in (responder, client)
                )
                knobs = next(turns) if has_tls else PLAIN
                name = f"{protocol.name}/{responder.name}-{client.name}{'-tls' if knobs else ''}"
                yield pytest.param(protocol, responder, client, knobs, id=name)


def shared(protocol: Protocol, responder: Responder, client: Client) -> list[str]:
    """The operations that both carry."""
    refused = {*responder.refuses, *client.refuses}
    return sorted(protocol.operations - STREAMS - refused)


def asked_of_each() -> Iterator[Any]:
    """Every meeting with two operations in turn: of one language, an end carries each (`test_pairs.py`)."""
    for place, meeting in enumerate(meetings(are_streams=False)):
        protocol, responder, client, knobs = meeting.values
        operations = shared(protocol, responder, client)
        in_turn = {operations[(place + step) % len(operations)] for step in (0, len(operations) // 2)}
        yield pytest.param(protocol, responder, client, knobs, sorted(in_turn), id=meeting.id)


@pytest.mark.parametrize(("protocol", "responder", "client", "knobs", "operations"), list(asked_of_each()))
def test_operations_that_both_carry_are_answered_and_verified(
    protocol: Protocol,
    responder: Responder,
    client: Client,
    knobs: dict[str, str],
    operations: list[str],
    tmp_path: Path,
) -> None:
    for end in (responder, client):
        if why := why_not(end.language.name):
            pytest.skip(why)
    answering, asking = (Implementation.named(end.language.name, PATIENCE_S) for end in (responder, client))
    connection = "per-request" if "reuse" in {*responder.refuses, *client.refuses} else "reuse"
    made = certificates(tmp_path / "certificates") if knobs else None
    serving, asked = (
        {"knobs": knobs, "tls": tls} if tls else {} for tls in (made and made.serving, made and made.trusted)
    )
    held = [operation for operation in operations if operation in HOLDING]
    with answering.respond(
        protocol.name, responder.name, **serving, **({"operations": held} if held else {})
    ) as program:
        for operation in operations:
            trial = asking.request(
                asking.trial(
                    protocol.name,
                    client.name,
                    program.ready["port"],
                    tmp_path / f"record-{operation}",
                    operation=operation,
                    payload=payload_of(operation, tmp_path),
                    connection=connection,
                    **asked,
                )
            )
            done = trial.done
            assert (done["requests"], done["verified"], done["errors"]) == (10, 10, {}), operation
            assert {row.status for row in trial.rows} == {0}, operation


@pytest.mark.parametrize(("protocol", "responder", "client", "knobs"), list(meetings(are_streams=True)))
def test_events_that_both_carry_come_and_are_verified(
    protocol: Protocol, responder: Responder, client: Client, knobs: dict[str, str], tmp_path: Path
) -> None:
    for end in (responder, client):
        if why := why_not(end.language.name):
            pytest.skip(why)
    answering, asking = (Implementation.named(end.language.name, PATIENCE_S) for end in (responder, client))
    made = certificates(tmp_path / "certificates") if knobs else None
    serving, asked = (
        {"knobs": knobs, "tls": tls} if tls else {} for tls in (made and made.serving, made and made.trusted)
    )
    with answering.respond(protocol.name, responder.name, operations=["events"], **serving) as program:
        port = program.ready["port"]
        line = asking.trial(protocol.name, client.name, port, tmp_path / "record", **STREAM, **asked)
        trial = asking.request(line)
        sent = program.stats()["events"]["sent"]
    events = trial.done["events"]
    assert (events["delivered"], events["dropped"], trial.done["errors"]) == (events["offered"], 0, {})
    assert sent > events["offered"] > 0
