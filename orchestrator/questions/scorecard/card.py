"""The scorecard of a run: frozen shapes. `scorecard` makes them, report, terminal and JSON show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.statistics.terms import Interval

Basis = Literal["measured", "counted", "judgement", "not measured"]
"""Where an entry comes from: this run, the source of both ends, a declaration that nobody measures, or nowhere."""
Evidence = Literal["", "cell", "cost", "rate", "events", "lines", "judgements"]
"""What part of the report an entry leads to: a row of the table (`cell`), of the costs, of the rates found, of a series of
loads, or of the events, what was counted, or what was judged."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a criterion says of a stack.

    `value` is of what the row names (latencies in milliseconds, CPU time in seconds), with its 95 % `interval` where trials
    give one; both are None of an answer in words. `cell` is the cell that it is of, by which the part of the report is found
    that `evidence` names. `why`: a clause that belongs to it: what was counted, or why there is nothing.
    """

    stack: str  # label
    text: str
    basis: Basis
    evidence: Evidence = ""
    cell: str = ""
    value: float | None = None
    interval: Interval | None = None
    interval_text: str = ""
    why: str = ""
    is_best: bool = False


@dataclass(frozen=True, kw_only=True)
class ScoreRow:
    """One criterion over all stacks of a table, in the table's order.

    `best` says in words who leads, that it is not resolved, or which experiment measures it; `is_resolved` whether the
    comparisons of the run tell one leader, or several that differ by less than matters.
    """

    name: str  # `latency`, `predictable`, `wire`, ...
    title: str
    unit: str  # what the values are of, in words
    best: str
    is_resolved: bool
    scores: tuple[Score, ...]


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """The criteria of the stacks that were compared in one setting."""

    setting: str
    stacks: tuple[str, ...]  # labels
    rows: tuple[ScoreRow, ...]


@dataclass(frozen=True, kw_only=True)
class LineCount:
    """The lines of code of one end of a stack; `files` with the lines of each, by path within the repository."""

    stack: str  # label
    end: Literal["responder", "requester"]
    name: str
    own: int
    shared: int
    generated: int
    files: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class Scorecard:
    """What was measured, setting by setting, and what stacks are like whatever was asked."""

    settings: tuple[ScoreTable, ...]
    properties: ScoreTable
    lines: tuple[LineCount, ...]
