"""A run in short, for where people talk: a summary in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.findings.summary import RunSummary
from orchestrator.quantities import count
from orchestrator.report.check_groups import check_groups
from orchestrator.report.markup import moment
from orchestrator.report.page import one_line
from orchestrator.wording.answer import answer
from orchestrator.wording.checks.sentences import explanation
from orchestrator.wording.left_out import verdicts
from orchestrator.wording.tables.table import Table, leading, notes

MOST_ROWS = 24
_MOST_CHECKS = 6
_MEANT = re.compile(r"[\\`*_{}\[\]<>&|~!$^]")  # what Markdown, HTML or TeX within it would act on
# A person, an issue, or what becomes a link by itself; not the sign of an entity.
_CALLING = re.compile(r"@|(?<!&)#|(?i:\b(?:[a-z][a-z0-9+.-]{0,40}:(?=//)|www(?=\.)|mailto(?=:)|xmpp(?=:)))")
_CODE = re.compile(r"(`[^`]+`)")


def markdown(summary: RunSummary) -> str:
    """First sentence, a small table, checks, how to repeat it."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: RunSummary) -> Iterator[str]:
    yield f"# {_text(summary.run.question or summary.run.name)}"
    yield ""
    result = answer(summary)
    for each in result.lines:
        yield f"- **{_text(each.head)}:** {_text(each.text)}"
    yield ""
    yield _text(result.conditions)
    shown = leading(result.tables, MOST_ROWS)
    for table in shown:
        yield ""
        yield from _table(table)
    yield ""
    yield from (_text(note) for note in notes(shown))
    if len(result.tables) > len(shown):
        yield f"{count(len(result.tables) - len(shown), 'more table')} in the report."
    yield ""
    yield from _checks(summary)
    yield ""
    state = "" if summary.run.state == "complete" else f", {_text(summary.run.state)}"
    yield f"Run `{_code(summary.run.id)}`, {_text(moment(summary.run.started_at))}{state}. Repeat it:"
    yield ""
    yield f"    {one_line(summary.run.repeat_command)}"
    yield ""
    yield f"The whole report: `orch report {_code(summary.run.id)}`"


def _table(table: Table) -> Iterator[str]:
    yield _text(", ".join(filter(None, (table.title, table.unit))))
    yield ""
    heads = [_text(table.label), *(_with(column.head, column.detail) for column in table.columns)]
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join(['---', *('---' if column.is_text else '--:' for column in table.columns)])} |"
    for row in table.rows:
        cells = (_with(entry.text, ", ".join(filter(None, (entry.detail, *entry.flags)))) for entry in row.entries)
        yield f"| {' | '.join([_with(row.label, row.detail), *cells])} |"


def _with(text: str, detail: str) -> str:
    return f"{_text(text)} ({_text(detail)})" if detail else _text(text)


def _checks(summary: RunSummary) -> Iterator[str]:
    if not summary.checks:
        yield "Checks: none were run."
        return
    yield f"Checks: {verdicts(summary.checks)}."
    worst = [group for group in check_groups(summary) if group.verdict in ("fail", "warn")]
    if worst:
        yield ""
    for group in worst[:_MOST_CHECKS]:
        yield f"- {group.verdict}: **{_text(group.name)}**: {_text(explanation(group.results[0]))}"
    if len(worst) > _MOST_CHECKS:
        yield f"- and {len(worst) - _MOST_CHECKS} more"


def _code(text: str) -> str:
    return one_line(text).replace("`", "")


def _text(text: str) -> str:
    """Return text that neither Markdown nor HTML interprets; what is in backticks stays code."""
    parts = _CODE.split(one_line(text))
    return "".join(part.replace("|", "\\|") if place % 2 else _inert(part) for place, part in enumerate(parts))


def escaped(text: str) -> str:
    """Text on one line that means nothing to Markdown, and calls nobody.

    >>> escaped("a|b <c> @d")
    'a&#124;b &#60;c&#62; @<!-- -->d'
    """
    return _inert(one_line(text))


def _inert(line: str) -> str:
    """The same of a part of a line, whose spaces stay."""
    plain = _MEANT.sub(lambda match: f"&#{ord(match.group())};", line)
    return _CALLING.sub(lambda match: f"{match.group()}<!-- -->", plain)
