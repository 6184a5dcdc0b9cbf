"""What a run found beside its cells, as tables: the run itself, and comparisons."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import get_args

from orchestrator.between_runs.across import compare_within
from orchestrator.checks import failed_names
from orchestrator.errors import UsageError
from orchestrator.exports.cell_columns import BETWEEN
from orchestrator.exports.typed_table import Row, number, rows_of, text
from orchestrator.findings.check_result import counts, in_words
from orchestrator.findings.compare import Statistic
from orchestrator.findings.summary import RunSummary
from orchestrator.results.folder import RunFolder
from orchestrator.wording.answer import answer
from orchestrator.wording.left_out import invalid_numbers
from orchestrator.wording.reasons import why

RUN_COLUMNS = (
    text("run", "id of the run", lambda run: run.run_id),
    text("experiment", "name of the experiment", lambda run: run.name),
    text("question", "the question of the experiment", lambda run: run.question),
    text("state", "complete, or interrupted", lambda run: run.state),
    text("started_at", "when the run began, ISO 8601, UTC", lambda run: run.started_at),
    text("ended_at", "when it ended", lambda run: run.ended_at),
    text("answer", "the first sentence of its report", lambda run: answer(run).sentence),
    text("checks", "how many checks passed, warn, failed", lambda run: in_words(counts(run.checks))),
    text(
        "failed_checks",
        'names of the checks that failed, "" if none',
        lambda run: BETWEEN.join(failed_names(run.checks)),
    ),
    text("invalid", 'what that means for the figures, "" if no check failed', invalid_numbers),
)
# Of a comparison, and one of its rows.
COMPARISON_COLUMNS = (
    text("run", "id of the run", lambda each: each[0].of),
    text("group", "what both sides have in common", lambda each: each[1].group),
    text("label", "which is compared with which", lambda each: each[1].label),
    text("cell", "id of the cell", lambda each: each[1].cell),
    text("reference", "id of the cell that it is compared with", lambda each: each[1].reference),
    text("statistic", "median, p99 or throughput", lambda each: each[1].statistic),
    number("value", "", "ms, or requests per second: geometric mean over trials", lambda each: each[1].value),
    number("reference_value", "", "likewise, of the reference", lambda each: each[1].reference_value),
    number("ratio", "", "above 1 is slower, of throughput too", lambda each: each[1].ratio),
    number(
        "ratio_low",
        "",
        "low bound of its 95 % interval, adjusted by Holm",
        lambda each: each[1].interval and each[1].interval[0],
    ),
    number("ratio_high", "", "high bound of that interval", lambda each: each[1].interval and each[1].interval[1]),
    number("p_value", "", "adjusted likewise", lambda each: each[1].p_value),
    text("verdict", "as `orch compare` says it (docs/explanation/statistics.md)", lambda each: each[1].verdict),
    text("why", "why, as a clause", lambda each: why(each[1])),
    text("doubts", "what forbids a verdict, whatever the interval says", lambda each: BETWEEN.join(each[1].doubts)),
)


@dataclass(frozen=True, kw_only=True)
class JudgedRun:
    """The folder that samples are read from, and the summary that all other figures are of."""

    folder: RunFolder
    summary: RunSummary

    def about(self) -> Row:
        """The row of `RUN_COLUMNS`."""
        return rows_of(RUN_COLUMNS, [self.summary])[0]

    def comparisons(self) -> list[Row]:
        """The rows of `orch compare` by each statistic; none where nothing is compared."""
        rows: list[Row] = []
        for statistic in get_args(Statistic):
            with suppress(UsageError):
                comparison = compare_within(self.summary, statistic)
                rows += rows_of(COMPARISON_COLUMNS, [(comparison, row) for row in comparison.rows])
        return rows


def file_name(runs: list[JudgedRun]) -> str:
    """What a file of these runs is called, without its suffix: the id of the last one, and how many there are beside it."""
    last = runs[-1].folder.id
    return last if len(runs) == 1 else f"{last}-and-{len(runs) - 1}-more"
