"""What stacks are like beside their speed, from what their implementations declare and how long they are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from orchestrator.catalogue.offers import Catalogue, Client, Protocol, Responder
from orchestrator.catalogue.read import catalogue
from orchestrator.catalogue.source_lines import Counted, counted
from orchestrator.experiment.plan.plan import Plan, Stack
from orchestrator.questions.base import Basis, Question
from services.python.contract.judgement import Judgement


@dataclass(frozen=True, kw_only=True)
class Judged:
    """An answer, yes or no, and its reason; both empty where nobody judged."""

    answer: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Properties:
    """One stack; lines of code are those written for each end, and those generated for both; None where not counted."""

    stack: str  # label
    browser: Judged = Judged()
    streaming: Judged = Judged()
    schema: Judged = Judged()
    responder_lines: int | None = None
    requester_lines: int | None = None
    generated_lines: int | None = None


def properties(plan: Plan, streamed: Collection[str], known: Catalogue) -> tuple[Properties, ...]:
    """Return the properties of every stack, controls left out; `streamed`: stacks whose events this run measured."""
    return tuple(_of_stack(stack, stack.id in streamed, known) for stack in plan.stacks if stack.control_of is None)


def _of_stack(stack: Stack, is_streamed: bool, known: Catalogue) -> Properties:
    protocol = known.protocols.get(stack.protocol)
    if protocol is None:
        return Properties(stack=stack.label, streaming=_measured() if is_streamed else Judged())
    responder = next((r for r in protocol.responders if r.name == stack.responder and stack.external is None), None)
    client = next((c for c in protocol.clients if c.name == stack.client), None)
    lines = [
        counted(known.folder, protocol, end, asks=end is client) if end is not None else None
        for end in (responder, client)
    ]
    generated = {name: n for end in lines if end is not None for name, n in end.files if name in end.made}
    return Properties(
        stack=stack.label,
        browser=_judged(protocol.browser),
        streaming=_measured() if is_streamed else _streaming(protocol, (responder, client), known),
        schema=_judged(protocol.schema),
        responder_lines=_written(lines[0]),
        requester_lines=_written(lines[1]),
        generated_lines=sum(generated.values()) if any(lines) else None,
    )


def _judged(judgement: Judgement | None) -> Judged:
    return Judged() if judgement is None else Judged(answer=judgement.answer, why=judgement.why)


def _measured() -> Judged:
    return Judged(answer="yes", why="this run measured it")


def _written(lines: Counted | None) -> int | None:
    return None if lines is None else lines.own + lines.shared


def _streaming(protocol: Protocol, ends: tuple[Responder | None, Client | None], known: Catalogue) -> Judged:
    """Whether both ends carry some stream of their protocol."""
    carried = sorted(
        name
        for name, operation in known.operations.items()
        if operation.kind == "stream" and name in protocol.operations
    )
    if not carried:
        return Judged(answer="no", why="orch has no stream over it")
    for end in ends:
        if end is not None and ("stream" in end.refuses or all(stream in end.refuses for stream in carried)):
            return Judged(answer="no", why=f"{end.name}: {end.refuses.get('stream') or end.refuses[carried[0]]}")
    return Judged(answer="yes", why="experiments/streams.yaml measures it")


def _find(basis: Basis) -> tuple[Properties, ...]:
    streamed = {cell.stack for cell in basis.summary.cells if cell.stream is not None}
    return properties(basis.searched or basis.plan, streamed, catalogue())


QUESTION: Question[tuple[Properties, ...]] = Question(
    name="scorecard", type=tuple[Properties, ...], empty=(), find=_find
)
