"""A run in short, for where people talk: a summary in Markdown, and a line for a chat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from orchestrator.findings.check_result import counts, in_words
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.findings.validity import invalid_cells
from orchestrator.quantities import count, ms, rate, ratio, ratio_bounds
from orchestrator.questions.capacity import words as capacity_words
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.report.check_groups import check_groups, failed, failed_in_words
from orchestrator.report.groups import Group, groups, rate_groups
from orchestrator.report.markup import DASH, moment
from orchestrator.report.page import one_line
from orchestrator.wording.answer import answer
from orchestrator.wording.axis_tables import tables
from orchestrator.wording.table import Table, leading, notes

MOST_ROWS = 24
_MOST_CHECKS = 6
_MOST_LETTERS = 400  # of the line
_MEANT = re.compile(r"[\\`*_{}\[\]<>&|~!$^]")  # what Markdown, HTML or TeX within it would act on
# A person, an issue, or what becomes a link by itself; they are found after entities were resolved.
_CALLING = re.compile(r"[@#]|(?i:\b(?:[a-z][a-z0-9+.-]{0,40}:(?=//)|www(?=\.)|mailto(?=:)|xmpp(?=:)))")
_CODE = re.compile(r"(`[^`]+`)")
_HEADS = ("Stack", "Median", "95 % interval", "To reference", "p99", "Per second", "Errors")


def line(summary: RunSummary) -> str:
    """What the run found, in one line without markup."""
    found = answer(summary)
    warned = f"{failed_in_words(summary)}: " if failed(summary) and not found.cannot_answer else ""
    text = one_line(f"{summary.name}: {warned}{found.sentence}")
    if len(text) > _MOST_LETTERS:
        text = f"{text[:_MOST_LETTERS].rstrip()} …"
    state = "" if summary.state == "complete" else f", {summary.state}"
    return f"{text} ({one_line(summary.run_id)}{state})"


def markdown(summary: RunSummary) -> str:
    """First sentence, a small table, checks, how to repeat it."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: RunSummary) -> Iterator[str]:
    yield f"# {_text(summary.question or summary.name)}"
    yield ""
    if failed(summary):
        yield f"**{_text(failed_in_words(summary))}: do not rely on the numbers of the cells that they name.**"
        yield ""
    first, *rest = answer(summary).sentences
    yield " ".join([f"**{_text(first)}**", *map(_text, rest)])
    yield ""
    along = tables(summary)
    yield from _rates(summary) if CAPACITY.of(summary).rates else _along(along) if along else _table(summary)
    yield ""
    yield from _checks(summary)
    yield ""
    state = "" if summary.state == "complete" else f", {_text(summary.state)}"
    yield f"Run `{_code(summary.run_id)}`, {_text(moment(summary.started_at))}{state}. Repeat it:"
    yield ""
    yield f"    {one_line(summary.repeat_command)}"
    yield ""
    yield f"The whole report: `orch report {_code(summary.run_id)}`"


def _rates(summary: RunSummary) -> Iterator[str]:
    """Of searches: what they found, not the latencies at each rate that they tried."""
    groups_of = rate_groups(summary)
    for setting, goals, of in groups_of:
        yield f"Highest rate at which {_text(goals)}: {_text(setting)}."
        yield ""
        yield "| Stack | Highest rate | 95 % interval | To reference | Remarks |"
        yield "| --- | --: | --: | --: | --- |"
        for found in of[:MOST_ROWS]:
            row = capacity_words.row(found, CAPACITY.of(summary).comparisons)
            name = _text(found.stack_label) + (" (invalid)" if found.invalid else "")
            yield f"| {' | '.join([name, *(_text(DASH if each == '-' else each) for each in (*row[1:4], row[-1]))])} |"
        if len(of) > MOST_ROWS:
            yield ""
            yield f"{count(len(of) - MOST_ROWS, 'more row')} in the report."
        if (setting, goals, of) != groups_of[-1]:
            yield ""


def _along(along: Sequence[Table]) -> Iterator[str]:
    """The first tables of a run along an axis."""
    shown = leading(along, MOST_ROWS)
    for table in shown:
        yield f"{_text(table.title)}, in {table.unit}:"
        yield ""
        heads = ["Stack", *(_with(column.head, column.detail) for column in table.columns)]
        yield f"| {' | '.join(heads)} |"
        yield f"| --- |{' --: |' * len(table.columns)}"
        for row in table.rows:
            cells = (_with(entry.text, ", ".join(filter(None, (entry.detail, *entry.flags)))) for entry in row.entries)
            yield f"| {' | '.join([_with(row.label, row.detail), *cells])} |"
        yield ""
    yield " ".join(map(_text, notes(shown)))
    if len(along) > len(shown):
        yield ""
        yield f"{count(len(along) - len(shown), 'more table')} in the report."


def _with(text: str, detail: str) -> str:
    return f"{_text(text)} ({_text(detail)})" if detail else _text(text)


def _table(summary: RunSummary) -> Iterator[str]:
    found = groups(summary)
    invalid = invalid_cells(summary.cells, summary.checks)
    rows = [(group, cell) for group in found for cell in group.cells]
    heads = ("Setting", *_HEADS) if len(found) > 1 else _HEADS
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('---' if head in ('Setting', 'Stack') else '--:' for head in heads)} |"
    for group, cell in rows[:MOST_ROWS]:
        setting = [_text(group.title)] if len(found) > 1 else []
        yield f"| {' | '.join([*setting, *_row(group, cell, is_invalid=cell.id in invalid)])} |"
    if len(rows) > MOST_ROWS:
        yield ""
        yield f"{count(len(rows) - MOST_ROWS, 'more row')} in the report."


def _row(group: Group, cell: CellSummary, *, is_invalid: bool) -> list[str]:
    of = cell.distribution
    bounds = cell.median_interval
    return [
        _text(cell.stack_label) + (" (invalid)" if is_invalid else ""),
        _latency(of.median, of.limit, "median" in of.censored) if of else DASH,
        f"{ms(bounds[0])} to {ms(bounds[1])}" if of and bounds else DASH,
        _standing(group, cell),
        _latency(of.p99, of.limit, "p99" in of.censored) if of else DASH,
        DASH if cell.throughput_per_s is None else rate(cell.throughput_per_s),
        f"{cell.failed:,}",
    ]


def _latency(value: float | None, limit: float | None, is_censored: bool) -> str:
    if value is not None:
        return ms(value)
    return f"\\> {ms(limit)}" if is_censored and limit is not None else DASH


def _standing(group: Group, cell: CellSummary) -> str:
    against = group.against_reference(cell)
    if against is not None and against.ratio is not None:
        low_high = f" ({' to '.join(ratio_bounds(against.interval))})" if against.interval else ""
        return f"{ratio(against.ratio)} {against.standing}{low_high}"
    return "reference" if group.is_reference(cell) else DASH


def _checks(summary: RunSummary) -> Iterator[str]:
    if not summary.checks:
        yield "Checks: none were run."
        return
    yield f"Checks: {in_words(counts(summary.checks))}."
    worst = [group for group in check_groups(summary) if group.verdict in ("fail", "warn")]
    if worst:
        yield ""
    for group in worst[:_MOST_CHECKS]:
        yield f"- {group.verdict}: **{_text(group.name)}**: {_text(group.results[0].explanation)}"
    if len(worst) > _MOST_CHECKS:
        yield f"- and {len(worst) - _MOST_CHECKS} more"


def _code(said: str) -> str:
    return one_line(said).replace("`", "")


def _text(said: str) -> str:
    """Text of an experiment, none of which Markdown or HTML acts on; what stands in backticks stays code."""
    parts = _CODE.split(one_line(said))
    return "".join(part.replace("|", "\\|") if place % 2 else inert(part) for place, part in enumerate(parts))


def escaped(text: str) -> str:
    """Text on one line that means nothing to Markdown, and calls nobody.

    >>> escaped("a|b <c> @d")
    'a&#124;b &#60;c&#62; @<!-- -->d'
    """
    return inert(one_line(text))


def inert(line: str) -> str:
    """The same of a part of a line, whose spaces stay."""
    plain = _MEANT.sub(lambda found: f"&#{ord(found.group())};", line)
    return _CALLING.sub(lambda found: _apart(plain, found), plain)


def _apart(text: str, found: re.Match[str]) -> str:
    is_entity = found.start() > 0 and text[found.start() - 1] == "&"
    return found.group() if is_entity else f"{found.group()}<!-- -->"
