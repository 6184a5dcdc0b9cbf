"""The scorecard in words: stacks by criteria for each setting, and which stack is best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from orchestrator import quantities
from orchestrator.experiment.read.units import format_rate
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.scorecard.find import QUESTION, Score, ScoreRow, ScoreTable
from orchestrator.questions.scorecard.properties import Judged, Properties, StackProperties
from orchestrator.wording.tables.table import Table, text_table

PROPERTIES = "What the protocols and their implementations here are like"
_NOTE = (
    "A leader is named where the comparisons of the run decide it, by the rule of the answer. (j): a judgement, which nobody"
    " measured; the report gives the reason. Lines are those of code, for all operations that an end carries."
)


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """How a criterion is called and its values written; `evidence` is the part of the report that has them."""

    title: str
    unit: str
    evidence: str
    text: Callable[[float], str]


CRITERIA: Mapping[str, Criterion] = {
    "latency": Criterion(title="Lowest latency", unit="median", evidence="cell", text=quantities.ms),
    "predictable": Criterion(
        title="Most predictable", unit="p99 over the median", evidence="cell", text=quantities.ratio
    ),
    "wire": Criterion(
        title="Smallest on the wire",
        unit="bytes of TCP both ways, per 1,000 samples",
        evidence="cost",
        text=partial(quantities.cost, "wire_bytes"),
    ),
    "responder_cpu": Criterion(
        title="Cheapest in CPU, responder",
        unit="CPU time per 1,000 samples",
        evidence="cost",
        text=partial(quantities.cost, "responder_cpu"),
    ),
    "requester_cpu": Criterion(
        title="Cheapest in CPU, requester",
        unit="CPU time per 1,000 samples",
        evidence="cost",
        text=partial(quantities.cost, "requester_cpu"),
    ),
    "capacity": Criterion(title="Highest capacity", unit="rate found", evidence="rate", text=format_rate),
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A stack by a criterion; `place` is the part of the report that it rests on: `lines`, `cost`, ..., empty of nothing."""

    stack: str
    text: str
    place: str = ""
    cell: str = ""
    interval: str = ""
    why: str = ""
    is_best: bool = False


@dataclass(frozen=True, kw_only=True)
class Line:
    """A criterion with an entry for each stack, and who is the best by it."""

    title: str
    unit: str
    best: str
    is_resolved: bool
    entries: tuple[Entry, ...]


def title(table: ScoreTable) -> str:
    """Return the setting, with the goals of a search."""
    return f"{table.setting}, {table.goals}" if table.goals else table.setting


def lines(table: ScoreTable) -> tuple[Line, ...]:
    """Return the criteria of a setting in words."""
    return tuple(
        Line(
            title=CRITERIA[row.name].title,
            unit=CRITERIA[row.name].unit,
            best=_best(row),
            is_resolved=row.is_resolved,
            entries=tuple(_entry(row, score) for score in row.scores),
        )
        for row in table.rows
    )


def _entry(row: ScoreRow, score: Score) -> Entry:
    criterion = CRITERIA[row.name]
    side = {"below": "below ", "at least": "at least ", "": ""}[score.bound]
    return Entry(
        stack=score.stack,
        text="-" if score.value is None else f"{side}{criterion.text(score.value)}",
        place=criterion.evidence,
        cell=score.cell,
        interval=" to ".join(map(criterion.text, score.interval)) if score.interval else "",
        why=f"invalid: {', '.join(score.failed)} failed" if score.failed else "",
        is_best=row.is_resolved and score.cell in row.leaders,
    )


def _best(row: ScoreRow) -> str:
    stacks = {score.cell: score.stack for score in row.scores}
    leaders, left_out = ([stacks[cell] for cell in cells] for cells in (row.leaders, row.left_out))
    if row.lead == "not compared":
        return "one stack alone" if len(stacks) == 1 else "stacks were not compared in this run"
    among = f", of those that could be compared (not {quantities.listed(left_out)})" if left_out and leaders else ""
    if row.lead == "not resolved":
        return f"not resolved{f': {quantities.any_of(leaders)}' if leaders else ''}{among}"
    return quantities.listed(leaders) + (": no difference that matters" if row.lead == "alike" else "") + among


def property_lines(stacks: Properties) -> tuple[Line, ...]:
    """Return what stacks are like in words."""
    return (
        _judged("Callable from a browser", stacks, lambda stack: stack.browser),
        _judged("Streaming", stacks, lambda stack: stack.streaming),
        _judged("Schema needed", stacks, lambda stack: stack.schema, good="no"),
        _fewest("Lines written, responder", stacks, lambda stack: stack.written("responder")),
        _fewest("Lines written, requester", stacks, lambda stack: stack.written("requester")),
        _fewest("Lines generated, both ends", stacks, lambda stack: stack.generated),
    )


def _judged(name: str, stacks: Properties, read: Callable[[StackProperties], Judged], good: str = "yes") -> Line:
    entries = [
        Entry(
            stack=stack.stack,
            text=judged.answer or "-",
            place="events" if judged.cell else "judgements" if judged.answer else "",
            cell=judged.cell,
            why=judged.why,
            is_best=judged.answer == good,
        )
        for stack in stacks
        for judged in [read(stack)]
    ]
    return _property(name, "yes or no", good, entries)


def _fewest(name: str, stacks: Properties, read: Callable[[StackProperties], int | None]) -> Line:
    counts = [read(stack) for stack in stacks]
    least = min((count for count in counts if count is not None), default=None)
    entries = [
        Entry(stack=stack.stack, text="-")
        if count is None
        else Entry(stack=stack.stack, text=f"{count:,}", place="lines", is_best=count == least)
        for stack, count in zip(stacks, counts, strict=True)
    ]
    return _property(name, "lines of code", "fewest", entries)


def _property(name: str, unit: str, good: str, entries: Sequence[Entry]) -> Line:
    stacks = quantities.listed([entry.stack for entry in entries if entry.is_best])
    return Line(
        title=name, unit=unit, best=f"{good}: {stacks or 'none'}", is_resolved=bool(stacks), entries=tuple(entries)
    )


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return a table for each setting, and one of what stacks are like; intervals and reasons are in the report."""
    card = QUESTION.of(summary)
    if card is None:
        return ()
    every = [(title(table), lines(table)) for table in card.settings]
    return tuple(_table(name, rows) for name, rows in (*every, (PROPERTIES, property_lines(card.properties))) if rows)


def _table(name: str, rows: Sequence[Line]) -> Table:
    stacks = [entry.stack for entry in rows[0].entries]
    texts = [
        (f"{row.title} ({row.unit})", *(e.text + (" (j)" if e.place == "judgements" else "") for e in row.entries))
        for row in rows
    ]
    notes = (*(f"{row.title}: {row.best}" for row in rows), _NOTE)
    return text_table(name, ("criterion", *stacks), texts, notes, texts=len(stacks))
