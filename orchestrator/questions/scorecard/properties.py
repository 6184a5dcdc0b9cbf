"""What stacks are like whatever is asked of them, from what their implementations declare and how long they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from orchestrator import quantities
from orchestrator.catalogue.offers import Catalogue, Client, Protocol, Responder
from orchestrator.catalogue.source_lines import Counted, counted
from orchestrator.experiment.plan.plan import NOBODY, Plan, Stack
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.scorecard.card import LineCount, Score, ScoreRow, ScoreTable
from services.python.contract.judgement import Judgement

TITLE = "Whatever is asked"
STREAMS = "experiments/streams.yaml"
_NOT_DECLARED = "its protocol does not say"
_NAMED = 3  # stacks of a protocol that are named one by one


@dataclass(frozen=True, kw_only=True)
class _Known:
    """A stack with what the catalogue has of it; None of what it does not know, or what orch does not start."""

    stack: Stack
    protocol: Protocol | None
    responder: Responder | None
    client: Client | None
    lines: tuple[tuple[LineCount, Counted], ...]


def properties(
    plan: Plan, cells: Sequence[CellSummary], catalogue: Catalogue
) -> tuple[ScoreTable, tuple[LineCount, ...]]:
    """The table of properties, and the lines that it counts; controls are left out."""
    every = [_known(stack, catalogue) for stack in plan.stacks if stack.control_of is None]
    streamed = {cell.stack: cell.id for cell in cells if cell.stream is not None}
    of_streams = {name for name, operation in catalogue.operations.items() if operation.kind == "stream"}
    rows = (
        _row("browser", "Callable from a browser", every, lambda k: _judged(k, "browser")),
        _row("streaming", "Streaming", every, lambda k: _streaming(k, streamed.get(k.stack.id, ""), of_streams)),
        _row("schema", "Schema needed", every, lambda k: _judged(k, "schema"), good="no"),
        _fewest("lines_responder", "Lines written, responder", every, lambda k: _written(k, "responder")),
        _fewest("lines_requester", "Lines written, requester", every, lambda k: _written(k, "requester")),
        _fewest("lines_generated", "Lines generated, both ends", every, _generated),
    )
    table = ScoreTable(setting=TITLE, stacks=tuple(known.stack.label for known in every), rows=rows)
    return table, tuple(count for known in every for count, _ in known.lines)


def _known(stack: Stack, catalogue: Catalogue) -> _Known:
    protocol = catalogue.protocols.get(stack.protocol)
    if protocol is None:
        return _Known(stack=stack, protocol=None, responder=None, client=None, lines=())
    responder = next((r for r in protocol.responders if r.name == stack.responder), None)
    client = next((c for c in protocol.clients if c.name == stack.client), None)
    if stack.external is not None:
        responder = None
    return _Known(
        stack=stack,
        protocol=protocol,
        responder=responder,
        client=client,
        lines=tuple(_lines(stack, protocol, responder, client, catalogue)),
    )


def _lines(
    stack: Stack, protocol: Protocol, responder: Responder | None, client: Client | None, catalogue: Catalogue
) -> Iterator[tuple[LineCount, Counted]]:
    if responder is not None and (of := counted(catalogue.folder, protocol, responder, asks=False)) is not None:
        yield _count(stack, responder.name, of, asks=False), of
    if client is not None and (of := counted(catalogue.folder, protocol, client, asks=True)) is not None:
        yield _count(stack, client.name, of, asks=True), of


def _count(stack: Stack, name: str, of: Counted, *, asks: bool) -> LineCount:
    return LineCount(
        stack=stack.label,
        end="requester" if asks else "responder",
        name=name,
        own=of.own,
        shared=of.shared,
        generated=of.generated,
        files=of.files,
    )


# ---- judgements


def _judged(known: _Known, name: str) -> Score:
    judgement: Judgement | None = None if known.protocol is None else getattr(known.protocol, name)
    if judgement is None:
        return _unknown(known, _NOT_DECLARED)
    return Score(
        stack=known.stack.label,
        text=judgement.answer,
        basis="judgement",
        evidence="judgements",
        why=judgement.why,
    )


def _streaming(known: _Known, cell: str, of_streams: set[str]) -> Score:
    if cell:
        why = "its events are in this run"
        return Score(stack=known.stack.label, text="yes", basis="measured", evidence="events", cell=cell, why=why)
    if known.protocol is None:
        return _unknown(known, _NOT_DECLARED)
    ends = [end for end in (known.responder, known.client) if end is not None]
    carried = sorted(of_streams & known.protocol.operations)
    refusals = [
        f"{end.name}: {end.refuses.get('stream') or end.refuses[carried[0]]}"
        for end in ends
        if carried and ("stream" in end.refuses or all(stream in end.refuses for stream in carried))
    ]
    if not carried:
        answer, why = "no", "orch has no stream over it"
    elif refusals:
        answer, why = "no", refusals[0]
    else:
        answer, why = "yes", f"{STREAMS} measures it"
    return Score(stack=known.stack.label, text=answer, basis="judgement", evidence="judgements", why=why)


def _row(
    name: str, title: str, every: Sequence[_Known], score: Callable[[_Known], Score], good: str = "yes"
) -> ScoreRow:
    scores = tuple(replace(one, is_best=one.text == good) for one in (score(known) for known in every))
    best = f"{good}: {_best_of(scores, every) or 'none'}"
    return ScoreRow(name=name, title=title, unit="yes or no", best=best, is_resolved=True, scores=scores)


def _best_of(scores: Sequence[Score], every: Sequence[_Known]) -> str:
    """The best stacks' names; of a protocol with many that all are among them how many it has. Empty where none is."""
    best = {one.stack for one in scores if one.is_best}
    if len(best) == len(every) > _NAMED:
        return f"all {len(every)} stacks"
    named: dict[str, None] = {}
    for known in every:
        alike = [other.stack.label for other in every if other.stack.protocol == known.stack.protocol]
        if len(alike) > _NAMED and best.issuperset(alike):
            named[f"all {len(alike)} of {known.stack.protocol}"] = None
        elif known.stack.label in best:
            named[known.stack.label] = None
    return quantities.listed(list(named))


# ---- lines


def _written(known: _Known, end: str) -> Score:
    found = next((count for count, _ in known.lines if count.end == end), None)
    if found is None:
        return _uncounted(known, end)
    why = f"{found.own:,} for this protocol alone, {found.shared:,} that others have, too"
    return _number(known, found.own + found.shared, why)


def _generated(known: _Known) -> Score:
    """Files that both ends have count once."""
    if not known.lines:
        return _uncounted(known, "end")
    each = quantities.listed([f"{count.end} {count.generated:,}" for count, _ in known.lines])
    both = {file: lines for _, of in known.lines for file, lines in of.files if file in of.made}
    return _number(known, sum(both.values()), each)


def _number(known: _Known, lines: int, why: str) -> Score:
    label = known.stack.label
    return Score(stack=label, text=f"{lines:,}", value=lines, basis="counted", evidence="lines", why=why)


def _fewest(name: str, title: str, every: Sequence[_Known], score: Callable[[_Known], Score]) -> ScoreRow:
    scores = [score(known) for known in every]
    least = min((one.value for one in scores if one.value is not None), default=None)
    found = tuple(replace(one, is_best=least is not None and one.value == least) for one in scores)
    fewest = _best_of(found, every)
    best = f"fewest: {fewest}" if fewest else "not counted here"
    return ScoreRow(name=name, title=title, unit="lines of code", best=best, is_resolved=bool(fewest), scores=found)


def _uncounted(known: _Known, end: str) -> Score:
    if end == "responder" and known.stack.responder == NOBODY:
        return _unknown(known, "a codec alone: nobody answers")
    given = known.stack.external is not None and end == "responder"
    return _unknown(known, "orch does not start it" if given else "its language has not counted them")


def _unknown(known: _Known, why: str) -> Score:
    return Score(stack=known.stack.label, text="not known", basis="not measured", why=why)
