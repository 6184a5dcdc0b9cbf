"""A comparison as Markdown, for a job's summary or a comment: the sentence, the table, what is open, how to repeat it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orchestrator.analysis import words
from orchestrator.analysis.across import Row, RunComparison
from orchestrator.report import rows
from orchestrator.report.markdown_text import escaped
from orchestrator.report.page import one_line
from orchestrator.wording.gate import Judgement, Outcome, why_undetermined

MOST_ROWS = 100  # a comment may have 65,536 characters at GitHub, a summary 1 MiB
_MOST_TEXTS = 20

_ORDER: Mapping[Outcome, int] = {"slower": 0, "cannot tell": 1, "not slower": 2}


def markdown(comparison: RunComparison, judgement: Judgement, commands: Sequence[str]) -> str:
    """The document. `commands` make it again, one on a line. Rows that are slower come first, then those that are open."""
    every = sorted(zip(comparison.rows, judgement.outcomes, strict=True), key=lambda pair: _ORDER[pair[1]])
    return "\n".join(
        [
            f"**{judgement.overall.capitalize()}:** {escaped(judgement.sentence)}.",
            "",
            *_table(comparison, every, judgement.limit),
            *_listed("What could not be told", _undetermined(every, judgement.limit)),
            *_listed("What differs between the runs", comparison.differences),
            *_listed("In every row", comparison.in_all_rows),
            "#### How to repeat it",
            "",
            "````",
            *(one_line(command) for command in commands),
            "````",
            "",
        ]
    )


def _table(comparison: RunComparison, every: Sequence[tuple[Row, Outcome]], limit: float) -> Iterator[str]:
    if not every:
        return
    of_what = "times per request" if comparison.statistic == "throughput" else comparison.statistic
    yield (
        f"{escaped(comparison.of)} against {escaped(comparison.reference)}: ratios of {of_what}, above 1 is slower; "
        f"the limit is {words.margin(limit)}."
    )
    yield ""
    yield "| | compared | setting | reference | value | ratio | 95 % interval |"
    yield "| --- | --- | --- | ---: | ---: | ---: | --- |"
    for row, found in every[:MOST_ROWS]:
        before, after = rows.values(row) or ("-", "-")
        told = f"**{found}**" if found == "slower" else found
        cells = (row.label, row.group, before, after, rows.ratio(row), rows.interval(row, limit))
        yield f"| {told} | {' | '.join(escaped(cell) for cell in cells)} |"
    if len(every) > MOST_ROWS:
        yield ""
        yield f"{words.count(len(every) - MOST_ROWS, 'more row')} left out here: `orch compare` prints all."
    yield ""


def _undetermined(every: Sequence[tuple[Row, Outcome]], limit: float) -> list[str]:
    return [
        f"{row.label}, {row.group}: {why_undetermined(row, limit)}" for row, found in every if found == "cannot tell"
    ]


def _listed(title: str, texts: Sequence[str]) -> Iterator[str]:
    if not texts:
        return
    yield f"#### {title}"
    yield ""
    for text in texts[:_MOST_TEXTS]:
        yield f"- {escaped(text)}"
    if len(texts) > _MOST_TEXTS:
        yield f"- and {len(texts) - _MOST_TEXTS} more"
    yield ""
