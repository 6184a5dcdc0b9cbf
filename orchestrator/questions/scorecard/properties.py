"""What stacks are like whatever is requested of them, from what their implementations declare and how long they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from orchestrator.catalogue.offers import Catalogue, Client, Protocol, Responder
from orchestrator.catalogue.source_lines import counted
from orchestrator.experiment.plan.plan import Plan, Stack
from orchestrator.findings.summary import CellSummary


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What somebody judged, and why; empty where nobody did. `cell` is one of this run that shows it."""

    answer: str = ""  # yes or no
    why: str = ""
    cell: str = ""


@dataclass(frozen=True, kw_only=True)
class LineCount:
    """The lines of code of one end of a stack; `files` with the lines of each, by path within the repository.

    `own` are of files that only its protocol has, `shared` of those that others have too.
    """

    end: Literal["responder", "requester"]
    name: str
    own: int
    shared: int
    generated: int
    files: tuple[tuple[str, int], ...]
    generated_files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class StackProperties:
    """One stack, controls left out; `lines` of the ends whose language has counted them."""

    stack: str  # label
    browser: Judged
    streaming: Judged
    schema: Judged
    lines: tuple[LineCount, ...]

    def written(self, end: str) -> int | None:
        """Return the lines that were written for an end; None where they were not counted."""
        return next((count.own + count.shared for count in self.lines if count.end == end), None)

    @property
    def generated(self) -> int | None:
        """The generated lines of both ends; files that both have count once."""
        files = {name: lines for count in self.lines for name, lines in count.files if name in count.generated_files}
        return sum(files.values()) if self.lines else None


Properties = tuple[StackProperties, ...]


def properties(plan: Plan, cells: Sequence[CellSummary], catalogue: Catalogue) -> Properties:
    """Return the properties of every stack, controls left out."""
    streamed = {cell.stack: cell.id for cell in cells if cell.stream is not None}
    return tuple(_of_stack(stack, streamed, catalogue) for stack in plan.stacks if stack.control_of is None)


def _of_stack(stack: Stack, streamed: Mapping[str, str], catalogue: Catalogue) -> StackProperties:
    protocol = catalogue.protocols.get(stack.protocol)
    if protocol is None:
        cell = streamed.get(stack.id, "")
        streaming = Judged(answer="yes", cell=cell) if cell else Judged()
        return StackProperties(stack=stack.label, browser=Judged(), streaming=streaming, schema=Judged(), lines=())
    responder = next((r for r in protocol.responders if r.name == stack.responder and stack.external is None), None)
    client = next((c for c in protocol.clients if c.name == stack.client), None)
    browser, schema = (
        Judged() if judgement is None else Judged(answer=judgement.answer, why=judgement.why)
        for judgement in (protocol.browser, protocol.schema)
    )
    return StackProperties(
        stack=stack.label,
        browser=browser,
        streaming=_streaming(protocol, responder, client, streamed.get(stack.id, ""), catalogue),
        schema=schema,
        lines=tuple(_lines(protocol, responder, client, catalogue)),
    )


def _streaming(
    protocol: Protocol, responder: Responder | None, client: Client | None, cell: str, catalogue: Catalogue
) -> Judged:
    """Whether events were streamed in this run, or both ends carry some stream of their protocol."""
    if cell:
        return Judged(answer="yes", cell=cell)
    streams = {name for name, operation in catalogue.operations.items() if operation.kind == "stream"}
    carried = sorted(streams & protocol.operations)
    if not carried:
        return Judged(answer="no", why="orch has no stream over it")
    for end in (responder, client):
        if end is not None and ("stream" in end.refuses or all(stream in end.refuses for stream in carried)):
            return Judged(answer="no", why=f"{end.name}: {end.refuses.get('stream') or end.refuses[carried[0]]}")
    return Judged(answer="yes", why="experiments/streams.yaml measures it")


def _lines(
    protocol: Protocol, responder: Responder | None, client: Client | None, catalogue: Catalogue
) -> Iterator[LineCount]:
    for end in (responder, client):
        asks = end is client
        if end is None or (lines := counted(catalogue.folder, protocol, end, asks=asks)) is None:
            continue
        yield LineCount(
            end="requester" if asks else "responder",
            name=end.name,
            own=lines.own,
            shared=lines.shared,
            generated=lines.generated,
            files=lines.files,
            generated_files=tuple(sorted(lines.made)),
        )
