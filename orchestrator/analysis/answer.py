"""What a run found, short enough for the end of a terminal's output: the sentences, and a row per cell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from orchestrator.analysis import along, contrasted, differing, naming, transferred, unresolved, validity, words
from orchestrator.analysis.by_size import BySize, by_size
from orchestrator.analysis.cells import by_median, percentile_text
from orchestrator.analysis.clients import unlike_clients
from orchestrator.analysis.compare import Compared, Statistic
from orchestrator.analysis.conclusion.conclude import conclude
from orchestrator.analysis.conclusion.shapes import Figure
from orchestrator.analysis.cost import COST_NAMES, CellCost, CostName
from orchestrator.analysis.requester_host import RequesterHost
from orchestrator.analysis.summary import (
    CellSummary,
    Comparison,
    Interval,
    MixedSummary,
    PartSummary,
    RunSummary,
    StreamSummary,
)
from orchestrator.analysis.sweep.tables import tables
from orchestrator.analysis.table import Table
from orchestrator.analysis.uncompared import why_uncompared
from orchestrator.analysis.verdicts import count_before_answer
from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.factors import STACK, phrases
from orchestrator.experiment.plan import contrasts, documents
from orchestrator.experiment.plan.plan import stack_of
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.capacity.find import FoundRate
from orchestrator.questions.clients import words as client_words
from orchestrator.questions.clients.find import QUESTION as CLIENTS
from orchestrator.questions.evolution import find as evolution
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.sentences import leading as question_sentences
from orchestrator.questions.stability.spread import CellSpread
from orchestrator.questions.stores import words as store_words
from orchestrator.questions.tables import tables as question_tables
from orchestrator.questions.timing_rules import words as rule_words
from orchestrator.questions.timing_rules.find import QUESTION as TIMING_RULES
from services.python.contract.limits import Kind


@dataclass(frozen=True, kw_only=True)
class Against:
    """A cell beside one reference, by the median: the standing, or `invalid`; ratio and interval are of times."""

    reference: str  # `no compression`; what a table calls a stack
    reference_cell: str
    verdict: str
    ratio: float | None
    ratio_interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class CostAgainst(Against):
    """A cell beside one reference, by what requests cost: standings are `less`, `more`, `tie` and so on."""

    quantity: CostName


@dataclass(frozen=True, kw_only=True)
class Row:
    """One cell. Latencies are milliseconds; None where there are too few data, or where too many requests failed.

    `median_text` and `p99_text` are for running text: `412 µs`, `> 2 s`, or nothing. `verdict` is the standing
    against `reference` by the median (`reference`, `faster`, `slower`, `tie`, `not resolved`, `cannot tell`),
    `invalid` where a check failed, and empty where there is nothing to compare with: then `uncompared` says why.
    `ratio` is to the reference's median.
    `p99_verdict` and `throughput_verdict` have the same words: by them a tie of medians may be none.
    """

    cell: str
    setting: str  # what the rows of a table have in common: operation, placement, how requests are made, load
    stack: str
    label: str  # what a table calls it: the stack, and how its requests are made where that is compared
    median_ms: float | None
    median_interval_ms: Interval | None
    median_text: str
    p99_ms: float | None
    p99_text: str
    requests_per_s: float | None
    errors: int
    verdict: str
    ratio: float | None
    ratio_interval: Interval | None
    reference: str = ""  # what it is compared with; empty of what is compared with nothing
    reference_cell: str = ""
    is_control: bool = False
    p99_verdict: str = ""
    throughput_verdict: str = ""
    failed_checks: tuple[str, ...] = ()
    not_sent: int = 0  # due in an open loop, and not sent before the window closed
    is_of_those_sent: bool = False  # so many that the percentiles hold for the requests sent alone
    is_interval_vague: bool = False  # the median's is wider than a factor of ten
    uncompared: str = ""
    others: tuple[Against, ...] = ()  # what else the cell is compared with; `verdict` and `ratio` are of the first
    differs_in: tuple[str, ...] = ()  # the parts in which the stack differs from the reference's
    may_differ_in: tuple[str, ...] = ()  # those in which it may, as they are not known
    pooled: tuple[str, ...] = ()  # which of median and p99 are of all requests, as not every trial has one
    kind: Kind = "call"
    parts: tuple[PartSummary, ...] = ()  # of its samples, where they have any
    body_bytes: tuple[float, float] | None = None  # sent and received, of each sample on average
    wire_bytes: tuple[float, float] | None = None  # likewise, by the kernel's counters
    encoded_bytes: tuple[float, float] | None = None  # the bodies of a codec alone: its request's message, its reply's
    stream: StreamSummary | None = None  # what came of a stream's events; its latencies are those of events
    costs: Mapping[str, CellCost] = field(default_factory=dict)  # CPU seconds, bytes, packets, per 1,000 samples
    costs_against: tuple[CostAgainst, ...] = ()  # those by the stack first
    payload_bytes: tuple[int, int] | None = None  # content of its request and of its reply, however encoded
    goodput_mb_per_s: float | None = None  # content of both verified a second, 10^6 bytes
    goodput_interval: Interval | None = None
    outcome: str = ""  # what came of records that another schema read
    mixed: tuple[MixedSummary, ...] = ()  # of a mix each operation by itself; the figures above are those of all
    requester_hosts: tuple[RequesterHost, ...] = ()  # each by itself, where several ask
    spreads: Mapping[str, CellSpread] = field(
        default_factory=dict
    )  # SD and IQR in ms, p99 and the first over the median
    warned_checks: tuple[str, ...] = ()  # names of the checks that warn of it


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The question, the sentences that answer it, and what they rest on; rows of a setting by their median."""

    question: str
    verdicts: tuple[str, ...]
    table: tuple[Row, ...]
    reference: str = ""  # what all verdicts and ratios refer to; empty where each row has its own
    answer_at: int = 0  # which of the verdicts answers; before it stand invalid numbers and what failed
    answers: int = 1  # how many do: where several values of factors are compared, each has its sentence
    is_resolved: bool = True  # False: the verdict that answers says why nothing can be told apart, and what to do
    differences: str = ""  # what differs between the stacks besides their names; also among the verdicts
    documents: str = ""  # how its own JSON travelled over Protocol Buffers; also among the verdicts
    evolved: str = ""  # which readers fail or lose what changed; likewise
    sizes: tuple[str, ...] = ()  # how many bytes messages are, of codecs alone or where that is compared; likewise
    clients: str = ""  # which client asked which stack, where they differ and labels leave it out; likewise
    # That the machine was busy, where something is resolved all the same; the verdict before those that answer.
    busy: str = ""
    crossings: tuple[str, ...] = ()  # from where along an axis on which of two is ahead; also among the verdicts
    client_share: str = ""  # what of latencies is the client's, held against a native one; likewise
    given: str = ""  # who answered that orch did not start; also among the verdicts
    by_size: tuple[BySize, ...] = ()  # where three sizes or more were asked: goodput and bytes on the wire by size
    stored: str = ""  # what limits requests to a store: the database, the pool, the responder; also among the verdicts
    queries: str = ""  # how many queries to the store a sample takes, where that differs; likewise
    found_rates: tuple[FoundRate, ...] = ()  # where rates were searched for; the rows are then those of the rates tried
    leading: tuple[str, ...] = ()  # sentences of questions that lead the answer; also among the verdicts
    findings: dict[str, Any] = field(default_factory=dict)  # of every question, by its name
    question_tables: tuple[Table, ...] = ()  # what questions found, as tables
    sentence: str = ""  # the short answer, and what stands behind it: see `conclusion.shapes`
    figures: tuple[Figure, ...] = ()
    left_out: str = ""
    besides: str = ""
    matters_from: str = ""
    sure: str = ""
    advice: str = ""
    invalid_because: str = ""
    axis_tables: tuple[Table, ...] = ()  # of a run along an axis: the cells in the place of a table for each setting
    prediction: tuple[str, ...] = ()  # what the maps come to, the broadest first; empty without model or answer

    def short(self) -> tuple[str, ...]:
        """The short answer: its first sentence, and what stands behind it."""
        texts = (self.sentence, self.left_out, self.besides or self.matters_from, self.sure, self.advice)
        return tuple(filter(None, texts))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)

    def headline(self) -> tuple[str, ...]:
        """The one sentence that answers, behind those that say what is invalid, what failed and what was busy.

        Where nothing is resolved, all of why; behind it, from where along an axis on another one is ahead, how many bytes
        messages are where that is asked, how its own JSON travelled, what differs between the stacks, and which client asked
        which where that differs.
        Of what failed the worst is said; the table counts the errors of every cell.
        """
        is_invalid = any(row.failed_checks for row in self.table)
        warned = self.answer_at - bool(self.busy) - len(self.leading)
        before = (*self.verdicts[: min(warned, 2 if is_invalid else 1)], *self.leading)
        told = self.verdicts[self.answer_at :][: self.answers if self.is_resolved else 1]
        if self.found_rates:
            return (*before, *([self.busy] if self.busy else []), *told)
        said = (first_sentence(verdict)[0] for verdict in told) if self.is_resolved else told
        return (
            *before,
            *([self.busy] if self.busy else []),
            *([self.evolved] if self.evolved and self.evolved not in told else []),
            *said,
            *(
                text
                for text in (
                    *self.crossings,
                    self.stored,
                    self.queries,
                    *self.sizes,
                    self.documents,
                    self.differences,
                    self.clients,
                    self.client_share,
                    self.given,
                )
                if text and text not in told
            ),
        )


def answer(summary: RunSummary) -> Answer:
    """The answer that a summary holds; nothing is computed anew."""
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    against: dict[tuple[str, Compared], list[Comparison]] = {}
    for comparison in (*summary.comparisons, *summary.costs):
        against.setdefault((comparison.cell, comparison.statistic), []).append(comparison)
    references = {c.reference_cell for c in summary.comparisons}
    by_factors = contrasted.overviews(summary.comparisons, summary.matters, {cell.id: cell for cell in summary.cells})
    are_stacks_asked = any(c.factor == STACK and not c.control for c in summary.comparisons)
    apart = naming.compared_calls(summary.comparisons)
    settings = list(dict.fromkeys(_setting(cell, apart) for cell in summary.cells))
    cells = sorted(summary.cells, key=lambda cell: (settings.index(_setting(cell, apart)), *by_median(cell)))
    labels = naming.in_tables(summary)
    rules = rule_words.sentences(TIMING_RULES.of(summary))
    leading = question_sentences(summary)[0] if summary.verdicts else ()
    prediction = PREDICTION.of(summary)
    short = summary.conclusion or conclude(summary, rules)
    table = tuple(
        replace(
            _row(cell, against, cell.id in references, invalid.get(cell.id, ()), labels),
            setting=_setting(cell, apart),
            uncompared=why_uncompared(cell, summary),
            warned_checks=tuple(
                dict.fromkeys(c.name for c in summary.checks if c.verdict == "warn" and c.cell in (None, cell.id))
            ),
        )
        for cell in cells
    )
    return Answer(
        question=summary.question,
        verdicts=summary.verdicts,
        table=table,
        reference=common_reference(table),
        answer_at=_before(summary) + len(leading) + bool(summary.busy),
        busy=summary.busy,
        crossings=along.crossings(AXES.of(summary)),
        answers=_answers(summary, len(by_factors) + are_stacks_asked if by_factors else 1),
        is_resolved=not unresolved.is_open(summary.comparisons),
        differences=differing.sentence(summary.comparisons),
        documents=documents.sentence(summary.plan),
        evolved=evolution.sentence(summary.cells),
        sizes=transferred.sentences(
            [cell for cell in cells if cell.id not in invalid], summary.comparisons, summary.matters
        ),
        clients=unlike_clients(summary.cells, summary.comparisons),
        client_share=client_words.sentence(CLIENTS.of(summary)),
        given=_given(summary),
        by_size=by_size(summary.cells),
        stored=store_words.sentence(summary.cells),
        queries=store_words.queries(summary.cells),
        found_rates=CAPACITY.of(summary).rates,
        axis_tables=tables(summary),
        leading=leading,
        findings=summary.findings,
        question_tables=question_tables(summary),
        sentence=short.sentence,
        figures=short.figures,
        left_out=short.left_out,
        besides=short.besides,
        matters_from=short.matters_from,
        sure=short.sure,
        advice=short.advice,
        invalid_because=short.invalid_because,
        prediction=prediction.rules if prediction and not short.cannot_answer else (),
    )


def _before(summary: RunSummary) -> int:
    """How many sentences stand before the answer, but for the one that the machine was busy."""
    if CAPACITY.of(summary).rates:  # what failed or was not sent at a rate that is too high is no news
        return bool(validity.sentence(summary.cells, summary.checks))
    return count_before_answer(summary.cells, summary.checks)


def _answers(summary: RunSummary, otherwise: int) -> int:
    """How many sentences answer: of searches one for each setting, and one for each stack in it."""
    if not CAPACITY.of(summary).rates:
        return otherwise
    return len({(found.setting, found.goals) for found in CAPACITY.of(summary).rates}) + len(CAPACITY.of(summary).rates)


def _row(
    cell: CellSummary,
    compared: Mapping[tuple[str, Compared], Sequence[Comparison]],
    is_reference: bool,
    failed: tuple[str, ...],
    labels: Mapping[str, str],
) -> Row:
    of = cell.distribution
    against, *others = compared.get((cell.id, "median"), (None,))

    def standing(statistic: Statistic) -> str:
        found = compared.get((cell.id, statistic))
        if failed:
            return "invalid"
        return found[0].standing if found else "reference" if is_reference else ""

    return Row(
        cell=cell.id,
        setting=_setting(cell),
        stack=cell.stack_label,
        label=labels[cell.id],
        median_ms=of.median if of else None,
        median_interval_ms=cell.median_interval,
        median_text=percentile_text(cell, "median"),
        p99_ms=of.p99 if of else None,
        p99_text=percentile_text(cell, "p99"),
        requests_per_s=cell.throughput_per_s,
        errors=cell.failed,
        verdict=standing("median"),
        ratio=against.ratio if against else None,
        ratio_interval=against.interval if against else None,
        reference=_called(against, labels) if against else "",
        reference_cell=against.reference_cell if against else "",
        is_control=against.control if against else False,
        differs_in=against.differs_in if against else (),
        may_differ_in=against.may_differ_in if against else (),
        p99_verdict=standing("p99"),
        throughput_verdict=standing("throughput"),
        others=tuple(
            Against(
                reference=_called(c, labels),
                reference_cell=c.reference_cell,
                verdict="invalid" if failed else c.standing,
                ratio=c.ratio,
                ratio_interval=c.interval,
            )
            for c in others
            if c is not None
        ),
        failed_checks=failed,
        not_sent=cell.not_sent,
        is_of_those_sent=cell.is_of_those_sent,
        is_interval_vague=words.is_vague(cell.median_interval),
        pooled=tuple(name for name in ("median", "p99") if of and name in of.pooled),
        kind=cell.kind,
        parts=cell.parts,
        body_bytes=cell.body_bytes,
        wire_bytes=cell.wire_bytes,
        encoded_bytes=cell.body_bytes if cell.kind == "codec" else None,
        stream=cell.stream,
        costs=cell.costs,
        costs_against=tuple(
            CostAgainst(
                quantity=name,
                reference=_called(c, labels),
                reference_cell=c.reference_cell,
                verdict="invalid" if failed else c.standing,
                ratio=c.ratio,
                ratio_interval=c.interval,
            )
            for name in COST_NAMES
            for c in compared.get((cell.id, name), ())
        ),
        payload_bytes=cell.payload_bytes,
        goodput_mb_per_s=cell.goodput_mb_per_s,
        goodput_interval=cell.goodput_interval,
        outcome=evolution.said(cell),
        mixed=cell.mixed,
        requester_hosts=cell.requester_hosts,
        spreads=cell.spreads,
    )


def first_sentence(text: str) -> tuple[str, str]:
    """What stands before and what behind the first full stop that a capital letter follows.

    >>> first_sentence("grpc is ahead. Of its median, 0.5 ms is the floor.")
    ('grpc is ahead.', 'Of its median, 0.5 ms is the floor.')
    """
    first, *rest = re.split(r"(?<=\.) (?=[A-Z])", text, maxsplit=1)
    return first, " ".join(rest)


def _given(summary: RunSummary) -> str:
    """Which services answered that orch did not start; empty without one."""
    stacks = summary.plan.get("stacks", ())
    return (
        contrasts.external_sentence([*map(stack_of, stacks)]) if any(stack.get("external") for stack in stacks) else ""
    )


def common_reference(rows: Sequence[Row]) -> str:
    """What all of these rows are compared with, controls left out where there are others; empty where that differs."""
    asked = [row for row in rows if row.reference]
    named = {row.reference for row in asked if not row.is_control} or {row.reference for row in asked}
    return next(iter(named)) if len(named) == 1 else ""


def _called(comparison: Comparison, labels: Mapping[str, str]) -> str:
    """What a cell is compared with: what a table calls the stack, or the factor's value."""
    if comparison.factor == STACK:
        return labels.get(comparison.reference_cell, comparison.reference_label)
    return comparison.compared_with


def _setting(cell: CellSummary, apart: Sequence[Factor] = ()) -> str:
    common = {**cell.factors, **dict.fromkeys(factor.name for factor in apart)}
    return " · ".join((cell.operation, cell.placement, *phrases(common), cell.load))
