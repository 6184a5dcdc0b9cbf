"""A judged run, and what an export says of it beside its cells."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.checks import failed_names
from orchestrator.exports.cell_columns import BETWEEN
from orchestrator.exports.typed_table import Row, rows_of, text
from orchestrator.findings.summary import RunSummary
from orchestrator.results.folder import RunFolder
from orchestrator.wording.answer import answer
from orchestrator.wording.left_out import invalid_numbers, verdicts

RUN_COLUMNS = (
    text("run", "id of the run", lambda run: run.run.id),
    text("experiment", "name of the experiment", lambda run: run.run.name),
    text("question", "the question of the experiment", lambda run: run.run.question),
    text("state", "complete, or interrupted", lambda run: run.run.state),
    text("started_at", "when the run began, ISO 8601, UTC", lambda run: run.run.started_at),
    text("ended_at", "when it ended", lambda run: run.run.ended_at),
    text("answer", "the first sentence of its report", lambda run: answer(run).sentence),
    text("checks", "how many checks passed, warn, failed", lambda run: verdicts(run.checks)),
    text(
        "failed_checks",
        'names of the checks that failed, "" if none',
        lambda run: BETWEEN.join(failed_names(run.checks)),
    ),
    text("invalid", 'what that means for the figures, "" if no check failed', invalid_numbers),
)


@dataclass(frozen=True, kw_only=True)
class JudgedRun:
    """The folder that samples are read from, and the summary that all other figures are of."""

    folder: RunFolder
    summary: RunSummary

    def about(self) -> Row:
        """The row of `RUN_COLUMNS`."""
        return rows_of(RUN_COLUMNS, [self.summary])[0]


def file_name(runs: list[JudgedRun]) -> str:
    """What a file of these runs is called, without its suffix: the id of the last one, and how many there are beside it."""
    last = runs[-1].folder.id
    return last if len(runs) == 1 else f"{last}-and-{len(runs) - 1}-more"
