"""A stored run as pandas data frames, read when they are asked for: what `orch.load` gives a notebook."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from orchestrator.errors import InvalidMeasurement, OrchError, UsageError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from orchestrator.findings.compare import Statistic
    from orchestrator.findings.summary import RunSummary
    from orchestrator.results.folder import RunFolder


class RunWarning(UserWarning):
    """What a reader of a run's figures must know: that some are invalid, or that the run is not complete."""


class Run:
    """One stored run. Nothing but its folder is looked up until a frame is asked for; each is made once.

    Every figure is the one that `orch report` shows: latencies in ms, throughput per second, sizes in bytes.
    docs/reference/data.md lists the columns; `frame.attrs["units"]` and `frame.attrs["meanings"]` hold them, too.

    Reading raises the errors of `orch`: InvalidMeasurement for a damaged run or one without a finished trial, UsageError
    for one of a newer version or one that is still in progress.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    @property
    def id(self) -> str:
        """The run's id."""
        return self._folder.id

    @property
    def path(self) -> Path:
        """Its folder."""
        return self._folder.path

    @cached_property
    def summary(self) -> RunSummary:
        """All that the report is made from; a RunWarning says which figures are invalid, and that a run is not complete."""
        from orchestrator.report.page import one_line
        from orchestrator.summarise import summarise
        from orchestrator.wording.left_out import invalid_numbers

        with _with_hint():
            judged = summarise(self._folder)
        if judged.state != "complete":
            warnings.warn(
                f"run {one_line(self.id)} is {judged.state}: not all of its trials were made", RunWarning, stacklevel=3
            )
        if invalid := invalid_numbers(judged):
            warnings.warn(f"run {one_line(self.id)}: {one_line(invalid)}", RunWarning, stacklevel=3)
        return judged

    @property
    def question(self) -> str:
        """The question of the experiment, with unseen characters as their codes."""
        from orchestrator.report.page import one_line

        return one_line(self.summary.question)

    @property
    def answer(self) -> str:
        """The sentences that the report answers with, a line each; the first one answers the question."""
        from orchestrator.report.page import one_line
        from orchestrator.wording.answer import answer

        return "\n".join(map(one_line, answer(self.summary).sentences))

    @cached_property
    def cells(self) -> pd.DataFrame:
        """A row for each cell: its factors, its figures with their intervals, and whether it is valid."""
        from orchestrator.exports.cell_columns import cell_table

        return cell_table(self.summary).frame()

    @cached_property
    def checks(self) -> pd.DataFrame:
        """A row for each check of each cell, and of the run."""
        from orchestrator.exports.findings import check_table

        return check_table(self.summary).frame()

    @cached_property
    def floor(self) -> pd.DataFrame:
        """A row for each floor: what the network alone takes, by ping and by a bare TCP exchange."""
        from orchestrator.exports.findings import floor_table

        return floor_table(self.summary).frame()

    @cached_property
    def sealed(self) -> pd.DataFrame:
        """A row for each cell that was sealed away from the cost model: predicted beside measured."""
        from orchestrator.exports.findings import sealed_table

        return sealed_table(self.summary).frame()

    @cached_property
    def until(self) -> pd.DataFrame:
        """A row for each pair whose interval the run waited for; empty of a fixed number of blocks."""
        from orchestrator.exports.findings import until_table

        return until_table(self.summary).frame()

    @cached_property
    def samples(self) -> pd.DataFrame:
        """A row for each sample of the trials that count, warm-up (`phase` 0) and failed ones (`status` not 0) too.

        `latency_ms` is what the report's percentiles are made of; texts are categories. A million rows take about 200 MB.
        """
        import pyarrow as pa

        from orchestrator.exports.samples import COLUMNS, pieces, schema
        from orchestrator.exports.typed_table import described

        with _with_hint():
            tables = [piece.table for piece in pieces(self._folder, self.summary)]
        table = pa.concat_tables([schema().empty_table(), *tables]).unify_dictionaries()
        frame: pd.DataFrame = table.to_pandas(split_blocks=True)
        return described(frame, COLUMNS)

    def compare(self, other: Run | None = None, *, statistic: Statistic = "median") -> pd.DataFrame:
        """The rows of `orch compare`: of this run's own stacks, or of this run with an older one; a ratio above 1 is slower.

        `attrs["differences"]` says what differs between the runs. UsageError when they cannot be compared, or there is
        nothing to compare.
        """
        from orchestrator.between_runs.across import compare_runs, compare_within
        from orchestrator.between_runs.measured_runs import beside
        from orchestrator.exports.findings import comparison_table
        from orchestrator.findings.compare import Statistic

        with _with_hint():
            if other is not None and not isinstance(other, Run):
                raise UsageError(f"{other!r} is no run that was loaded", hint="run.compare(orch.load(OLDER))")
            if statistic not in get_args(Statistic):
                raise UsageError(f"no statistic {statistic!r}", hint=did_you_mean(str(statistic), get_args(Statistic)))
            if other is None:
                comparison = compare_within(self.summary, statistic)
            else:
                history = beside(self.summary, other.summary, self._folder, other._folder)
                comparison = compare_runs(self.summary, other.summary, statistic, history)
        frame = comparison_table(comparison).frame()
        frame.attrs["differences"] = list(comparison.differences)
        return frame

    def __repr__(self) -> str:
        return f"<orch run {self.id}>"


def load(run: str | Path, results: Path) -> Run:
    """The run of that id, its unique beginning, a path, or `latest`, among those in `results`; UsageError else."""
    from orchestrator.results.folder import RunFolder

    with _with_hint():
        return Run(RunFolder.open(run, root=results))


def listed(results: Path) -> pd.DataFrame:
    """A row for each run in `results`, oldest first: id, experiment, question, when it began, its state, and its trials.

    Nothing is judged, and no sample is read. Of a run that cannot be read, `trouble` says why.
    """
    import pandas as pd

    from orchestrator.results.folder import runs

    columns = ("run", "experiment", "question", "started_at", "state", "trials", "trouble")
    return pd.DataFrame([_about(folder) for folder in runs(results)], columns=list(columns))


def _about(folder: RunFolder) -> dict[str, object]:
    try:
        plan, journal_state = folder.plan(), folder.journal_state()
    except InvalidMeasurement as error:
        return {"run": folder.id, "trouble": error.message}
    return {
        "run": folder.id,
        "experiment": plan.name,
        "question": plan.question,
        "started_at": journal_state.begin.get("at"),
        "state": "running" if folder.is_in_progress else journal_state.state.replace("running", "interrupted"),
        "trials": len(journal_state.trials),
        "trouble": "",
    }


@contextmanager
def _with_hint() -> Iterator[None]:
    """Let an error of orch show what to do next, as a notebook shows nothing but a traceback."""
    try:
        yield
    except OrchError as error:
        if error.hint and error.hint not in getattr(error, "__notes__", ()):
            error.add_note(error.hint)
        raise
