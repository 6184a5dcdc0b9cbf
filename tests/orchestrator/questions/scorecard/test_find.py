"""What stacks are like beside their speed: what protocols declare with its reason, and the lines of each end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.catalogue.read import catalogue
from orchestrator.experiment.plan import plan as p
from orchestrator.questions.scorecard.find import Judged, properties
from tests.support.runs import a_plan

STACKS = (("rest", "fastapi", "pycurl"), ("grpc", "grpc-aio", "grpc-aio"), ("grpc", "grpcio", "grpcio"))


def real(*stacks: tuple[str, str, str], **changed: object) -> p.Plan:
    """A plan of stacks that the catalogue knows."""
    planned = tuple(
        p.Stack(id=f"s{n}", protocol=protocol, responder=responder, client=client, label=protocol, **changed)  # type: ignore[arg-type]
        for n, (protocol, responder, client) in enumerate(stacks)
    )
    return replace(a_plan(), stacks=planned)


def test_properties_are_judgements_of_the_protocols_with_their_reasons() -> None:
    stacks = properties(real(*STACKS), (), catalogue())
    assert [stack.browser.answer for stack in stacks] == ["yes", "no", "no"]
    assert [stack.schema.answer for stack in stacks] == ["no", "yes", "yes"]
    assert [stack.streaming.answer for stack in stacks] == ["no", "yes", "no"]
    assert all(judged.why for stack in stacks for judged in (stack.browser, stack.schema, stack.streaming))


def test_lines_are_of_each_end_and_generated_files_of_both_count_once() -> None:
    rest, grpc, _ = properties(real(*STACKS), (), catalogue())
    assert min(rest.responder_lines or 0, rest.requester_lines or 0, grpc.generated_lines or 0) > 50
    assert rest.generated_lines == 0


@pytest.mark.parametrize(("streamed", "answer"), [((), ""), (("s0",), "yes")])
def test_of_a_protocol_that_nobody_knows_only_what_was_measured_is_known(
    streamed: tuple[str, ...], answer: str
) -> None:
    (stack,) = properties(real(("soap", "soap", "soap")), streamed, catalogue())
    assert (stack.browser, stack.streaming.answer, stack.responder_lines) == (Judged(), answer, None)


def test_controls_are_left_out_and_an_external_responder_has_no_lines() -> None:
    assert properties(real(STACKS[0], control_of="x"), (), catalogue()) == ()
    (stack,) = properties(real(STACKS[0], external="host:80"), (), catalogue())
    assert stack.responder_lines is None
    assert stack.requester_lines
