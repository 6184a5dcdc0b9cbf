"""Compare two runs, or the stacks of one: ratios with intervals, and what they show.

Exit codes with --fail-if-slower: 0 surely not slower, 1 surely slower, 8 neither can be said (0 with --allow-undetermined).
Runs without a cell in common end with 8, too (without it with 2); other runs that cannot be compared with 2.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchestrator.cli import completions
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged
from orchestrator.cli.verdict_files import VerdictFiles
from orchestrator.errors import Undecided, UsageError

if TYPE_CHECKING:
    from orchestrator.analysis.across import NothingInCommon, Row, RunComparison
    from orchestrator.analysis.compare import Statistic
    from orchestrator.analysis.cost_changes import CostChange
    from orchestrator.wording.gate import Judgement


_STYLES = {
    "improved": "green",
    "faster": "green",
    "regressed": "red",
    "slower": "red",
    "less": "green",
    "more": "red",
    "unchanged": "dim",
    "tie": "dim",
    "not resolved": "yellow",
    "cannot tell": "yellow",
}


def command(
    run: Annotated[
        str, typer.Argument(help="Run id, its beginning, a path, or `latest`.", autocompletion=completions.runs)
    ],
    reference: Annotated[
        str | None,
        typer.Argument(
            help="The run to compare with; by default, the run's own stacks are compared.",
            autocompletion=completions.runs,
        ),
    ] = None,
    statistic: Annotated[
        Literal["median", "p99", "throughput"], typer.Option(help="Which of each trial's numbers to compare.")
    ] = "median",
    fail_if_slower: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Exit with 1 when something is surely slower by more than this (5%, or `matters`: what matters to the"
            " experiment), with 8 when that is undetermined, with 0 only when every interval lies below it.",
        ),
    ] = None,
    allow_undetermined: Annotated[
        bool,
        typer.Option(
            "--allow-undetermined",
            help="With --fail-if-slower: end with 0, and a warning, instead of 8, where cells were compared.",
        ),
    ] = False,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JUnit XML, a test case for each row; `-` is stdout.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write Markdown for a summary or a comment; `-` is stdout.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Print a row per cell; above 1 is slower."""
    console.as_json = as_json
    gate = _Gate(
        limit=None if fail_if_slower is None else _limit(fail_if_slower), allows_undetermined=allow_undetermined
    )
    gate.require_sense()
    files = VerdictFiles(junit=junit, markdown=markdown)
    files.require_usable(as_json=as_json)
    compared = _compared(run, reference, statistic)
    judgement = gate.judgement(compared)
    commands = [*compared.commands, _command(compared.runs, statistic, fail_if_slower)]
    files.write(compared.comparison, judgement, commands, fails_undetermined=gate.fails_undetermined(compared))
    if compared.refused is None:
        console.emit(_document(compared.comparison, judgement if gate.is_closed else None))
        if not files.take_stdout:
            _print(compared.comparison)
    gate.end(compared, judgement)


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """A comparison, and the calls that make its runs again; `refused` where the runs have no cell in common."""

    comparison: RunComparison
    runs: tuple[str, ...]  # as a call names them
    commands: tuple[str, ...]
    refused: NothingInCommon | None = None


@dataclass(frozen=True, kw_only=True)
class _Gate:
    """What a comparison must show, if anything: `limit` is a share, or `matters`."""

    limit: float | Literal["matters"] | None
    allows_undetermined: bool

    @property
    def is_closed(self) -> bool:
        """Whether the exit code depends on what was found."""
        return self.limit is not None

    def require_sense(self) -> None:
        """UsageError for a permission without anything to be permitted."""
        if self.allows_undetermined and not self.is_closed:
            raise UsageError(
                "--allow-undetermined changes how --fail-if-slower ends, which is not given",
                hint="orch compare NEW OLD --fail-if-slower 5% --allow-undetermined",
            )

    def judgement(self, compared: _Compared) -> Judgement:
        """What was found, by the limit; by what matters where none was given."""
        from orchestrator.wording.gate import Judgement, judge

        limit = self.limit if isinstance(self.limit, float) else compared.comparison.margin
        if (refused := compared.refused) is None:
            return judge(compared.comparison, limit)
        error = Undecided(refused.message, hint=refused.hint)
        return Judgement(limit=limit, outcomes=(), sentence=refused.message, error=error)

    def fails_undetermined(self, compared: _Compared) -> bool:
        """Whether what cannot be told ends the call with an error."""
        return self.is_closed and not (self.allows_undetermined and compared.refused is None)

    def end(self, compared: _Compared, judgement: Judgement) -> None:
        """Raise what the call ends with, if anything."""
        error = judgement.error
        if not self.is_closed:
            if compared.refused is not None:
                raise compared.refused
            return
        if error is None:
            return
        if isinstance(error, Undecided) and not self.fails_undetermined(compared):
            console.warning(f"{error.message}; --allow-undetermined lets it pass")
            return
        if compared.refused is None:
            console.as_json = False  # stdout holds its one document already
        raise error


def _compared(run: str, reference: str | None, statistic: Statistic) -> _Compared:
    """The runs read and compared; UsageError where that cannot be."""
    from orchestrator.analysis.across import NothingInCommon, RunComparison, compare_runs, compare_within
    from orchestrator.analysis.history import beside
    from orchestrator.results.folder import RunFolder

    folder = RunFolder.open(run, root=WORKSPACE.results)
    new = judged(folder)
    if reference is None:
        return _Compared(
            comparison=compare_within(new, statistic),
            runs=(_named(run, folder.id),),
            commands=(new.repeat_command,),
        )
    other = RunFolder.open(reference, root=WORKSPACE.results)
    old = judged(other)
    commands = tuple(dict.fromkeys((old.repeat_command, new.repeat_command)))
    names = _named(run, folder.id), _named(reference, other.id)
    history, passed_over = beside(new, old, folder, other)
    try:
        comparison = compare_runs(new, old, statistic, history, passed_over)
    except NothingInCommon as error:
        nothing = RunComparison(
            of=new.run_id, reference=old.run_id, statistic=statistic, margin=min(new.matters, old.matters), rows=()
        )
        return _Compared(comparison=nothing, runs=names, commands=commands, refused=error)
    return _Compared(comparison=comparison, runs=names, commands=commands)


def _named(given: str, run_id: str) -> str:
    """What names a run later on, too: its path below the working folder where that was given, else its id."""
    from orchestrator.results.shareable import file_name

    return file_name(given) if "/" in given else run_id


def _command(runs: tuple[str, ...], statistic: str, limit: str | None) -> str:
    """The call that compares them again; it writes no file."""
    chosen = [] if statistic == "median" else ["--statistic", statistic]
    gate = [] if limit is None else ["--fail-if-slower", limit]
    return shlex.join(["orch", "compare", *runs, *chosen, *gate])


def _document(comparison: RunComparison, judgement: Judgement | None) -> dict[str, Any]:
    """The comparison as plain data; with what the gate found, where there is one."""
    document = comparison.to_dict()
    if judgement is not None:
        document["gate"] = {
            "limit": judgement.limit,
            "overall": judgement.overall,
            "outcomes": list(judgement.outcomes),  # of each row
            "sentence": judgement.sentence,
        }
    return document


def _print(comparison: RunComparison) -> None:
    turned = "; of throughput the ratio is that of times per request" if comparison.statistic == "throughput" else ""
    console.result(
        f"{comparison.of} against {comparison.reference}, by {comparison.statistic}; above 1 is slower{turned}"
    )
    if comparison.model:
        console.result(comparison.model)
    for difference in comparison.differences:
        console.result(f"  differs between the runs: {difference}")
    for text in comparison.in_all_rows:
        if text not in comparison.differences:
            console.result(f"  in every row: {text}")
    group = None
    for row in comparison.rows:
        if row.group != group:
            group = row.group
            console.result(console.style(group, "bold"))
        _print_row(row, comparison.margin, comparison.in_all_rows)
    if any(row.value is not None for row in comparison.rows):
        console.result(
            "  The ratio is the geometric mean over blocks, and so are the numbers in brackets; "
            "of latencies the report shows the same."
        )
    if any(row.costs for row in comparison.rows):
        console.result(
            "  Below a row is what its requests cost: CPU time, bytes, packets of 1,000 of them; peak memory of a process."
        )


def _print_row(row: Row, margin: float, in_all_rows: tuple[str, ...]) -> None:
    """The row, and below it what is particular to it."""
    from orchestrator.analysis import words
    from orchestrator.wording.reasons import why

    ratio = "   -" if row.ratio is None else words.factor(row.ratio)
    interval = "" if row.interval is None else " to ".join(words.bounds(row.interval, margin))
    verdict = console.style(f"{row.verdict:<12}", _STYLES[row.verdict])
    console.result(f"  {verdict} {ratio:>6}  {interval:<16}  {row.label}{_values(row)}: {why(row)}")
    indent = " " * 15
    if row.overhead:
        found = f"{words.factor(row.overhead.ratio):>6}  {' to '.join(words.bounds(row.overhead.interval, margin)):<16}"
        console.result(f"{indent}{found}  above the tcp floor: {row.overhead.verdict}")
    for cost in row.costs:
        console.result(indent + _cost(cost, margin))
    but = "but " if row.verdict == "cannot tell" else ""
    for text in (*(f"{but}{text}" for text in row.doubts if text not in in_all_rows), *row.notes):
        if text not in in_all_rows:
            console.result(f"{indent}{text}")


def _cost(cost: CostChange, margin: float) -> str:
    """Ratio, interval, both values and the verdict, in the columns of a row."""
    from orchestrator.analysis import words
    from orchestrator.analysis.cost import COSTS

    ratio = "-" if cost.ratio is None else words.factor(cost.ratio)
    interval = "" if cost.interval is None else " to ".join(words.bounds(cost.interval, margin))
    values = ("-" if v is None else words.cost(cost.quantity, v) for v in (cost.reference_value, cost.value))
    verdict = console.style(cost.verdict, _STYLES[cost.verdict])
    return f"{ratio:>6}  {interval:<16}  {COSTS[cost.quantity]} ({' -> '.join(values)}): {verdict}"


def _values(row: Row) -> str:
    from orchestrator.report.rows import values

    both = values(row)
    return "" if both is None else f" ({both[0]} -> {both[1]})"


def _limit(text: str) -> float | Literal["matters"]:
    """A share, or `matters` itself; UsageError as `_share`."""
    return "matters" if text.strip().casefold() == "matters" else _share(text)


def _share(text: str) -> float:
    """`5%` or `0.05` as 0.05; UsageError for anything else, and for a bare 5, which is hardly meant as 500 %."""
    number, percent = text.strip().removesuffix("%").strip(), text.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if share >= 1 and not percent:
        raise UsageError(
            f"--fail-if-slower {text!r} would be {share * 100:g} %: a share of 1 or more needs a percent sign",
            hint=f"write {number}%",
        )
    if not 0 <= share < 100:
        raise UsageError(f"--fail-if-slower {text!r} is not a share", hint="write 5% or 0.05, or `matters`")
    return share
