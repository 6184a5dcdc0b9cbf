"""Several machines' runs of one experiment, side by side. Samples of two machines are never pooled, nor compared.

What a machine's medians are depends on the machine. What can be compared is the ratio of two stacks *within* each, and
whether all machines say the same of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from string import ascii_uppercase
from typing import Any, Literal

from orchestrator import quantities
from orchestrator.errors import UsageError
from orchestrator.findings.summary import Comparison, RunSummary
from orchestrator.findings.validity import invalid_cells, is_everywhere
from orchestrator.statistics.terms import Interval, Standing
from orchestrator.wording.answer import answer

SCHEMA_VERSION = 1
Agreement = Literal["agree", "differ", "undetermined"]
UNDETERMINED: tuple[Standing, ...] = ("not resolved", "cannot tell")
MOST = len(ascii_uppercase)
_FACTS = ("CPU", "CPUs", "Machine type", "Memory", "System", "Kernel", "CPU governor", "Virtualisation")
_MOST_NAMED = 6
_MOST_SAID = 4  # comparisons, each with a sentence; of more those that machines differ on have one
# What of a plan's parts may differ between two people who measured the same: where a service of theirs answers.
_OF_THE_PLACE = {"external"}


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One run. `name` is a letter; `facts` what it was measured on; `failed` the checks that failed, by name.

    `is_invalid`: no number of it is valid. `from_summary`: its figures are a report's own, as not all samples are inside.
    """

    name: str
    run_id: str
    started_at: str
    facts: tuple[tuple[str, str], ...]
    failed: tuple[str, ...]
    is_invalid: bool
    repeats: int
    from_summary: bool = False


@dataclass(frozen=True, kw_only=True)
class Median:
    """A cell's median on one machine, in milliseconds; `failed`: the checks that make it invalid."""

    value: float | None
    interval: Interval | None
    n: int
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CellRow:
    """A stack in a setting, on each machine; None where that has nothing of it."""

    cell: str
    stack: str
    setting: str
    medians: tuple[Median | None, ...]


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A stack against the reference within one machine, by the median; above 1 is slower."""

    ratio: float | None
    interval: Interval | None
    standing: Standing


@dataclass(frozen=True, kw_only=True)
class RatioRow:
    """One comparison on each machine, whether they agree, and the sentence that says so."""

    cell: str
    reference_cell: str
    group: str
    stack: str
    reference: str
    ratios: tuple[Ratio | None, ...]
    agreement: Agreement
    said: str


@dataclass(frozen=True, kw_only=True)
class Merged:
    """What `orch runs merge` prints. `answer`: sentences; `notes`: what a reader must know besides."""

    name: str
    question: str
    machines: tuple[Machine, ...]
    answer: tuple[str, ...]
    cells: tuple[CellRow, ...]
    ratios: tuple[RatioRow, ...]
    notes: tuple[str, ...]
    schema_version: int = SCHEMA_VERSION

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return asdict(self)


def merge(runs: Sequence[RunSummary], from_summary: Sequence[bool] = ()) -> Merged:
    """The runs side by side, in this order.

    UsageError when there are fewer than two, two of them are the same run, or they are not of one experiment: it says what
    differs.
    """
    if not 2 <= len(runs) <= MOST:
        raise UsageError(
            f"{quantities.count(len(runs), 'run')} to merge", hint=f"name from 2 to {MOST} reports or runs"
        )
    for one, other in combinations(runs, 2):
        _require_another(one, other)
    for other in runs[1:]:
        if different := list(_different(runs[0].plan, other.plan)):
            more = f"; and {len(different) - _MOST_NAMED} more" if len(different) > _MOST_NAMED else ""
            raise UsageError(
                f"{runs[0].run_id} and {other.run_id} are not of one experiment: {'; '.join(different[:_MOST_NAMED])}{more}",
                hint="merge runs of the same experiment file with the same overrides",
            )
    kept = [*from_summary, *([False] * len(runs))]
    machines = tuple(_machine(run, ascii_uppercase[place], kept[place]) for place, run in enumerate(runs))
    ratios = tuple(_ratios(runs, machines))
    return Merged(
        name=runs[0].name,
        question=runs[0].question,
        machines=machines,
        answer=(*_in_doubt(runs, machines), *_answer(ratios, machines)),
        cells=tuple(_cells(runs)),
        ratios=ratios,
        notes=tuple(_notes(runs, machines)),
    )


def _require_another(one: RunSummary, other: RunSummary) -> None:
    """UsageError when both are of the same run: a trial of both began at the same nanosecond."""
    begun = [{trial.started_wall_ns for cell in run.cells for trial in cell.trials} for run in (one, other)]
    if one.run_id == other.run_id or begun[0] & begun[1]:
        raise UsageError(f"{one.run_id} is given twice", hint="name reports of different runs")


def _different(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """In what the contents of two plans differ, a clause each."""
    for kind, name in (
        ("stacks", "stack"),
        ("operations", "operation"),
        ("placements", "placement"),
        ("cells", "cell"),
    ):
        mine, theirs = ({part["id"]: part for part in plan.get(kind, ())} for plan in (one, other))
        for identity in [*mine, *(identity for identity in theirs if identity not in mine)]:
            if identity not in mine or identity not in theirs:
                yield f"{name} {identity} is in one alone"
                continue
            keys = sorted({*mine[identity], *theirs[identity]} - _OF_THE_PLACE)
            values = {key: [part[identity].get(key) for part in (mine, theirs)] for key in keys}
            for key, (a, b) in values.items():
                if a != b:
                    yield f"{name} {identity}: {key} is {_short(a)} and {_short(b)}"
            if len({bool(part[identity].get("external")) for part in (mine, theirs)}) > 1:
                yield f"{name} {identity}: it was started by orch in one alone"
    for key, name in (
        ("seed", "the seed of payloads"),
        ("reference", "the reference"),
        ("contrasts", "what is compared"),
    ):
        if one.get(key) != other.get(key):
            yield f"{name} is {_short(one.get(key))} and {_short(other.get(key))}"
    files = [
        sorted((file["operation"], file["sha256"]) for file in plan.get("payload_files", ())) for plan in (one, other)
    ]
    if files[0] != files[1]:
        yield "the payload files have other content"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _machine(run: RunSummary, name: str, from_summary: bool) -> Machine:
    told = dict(run.conditions)
    return Machine(
        name=name,
        run_id=run.run_id,
        started_at=run.started_at,
        facts=tuple((what, told[what]) for what in _FACTS if what in told),
        failed=tuple(dict.fromkeys(check.name for check in run.checks if check.verdict == "fail")),
        is_invalid=is_everywhere(run.cells, invalid_cells(run.cells, run.checks)),
        repeats=int(run.plan.get("repeats", 0)),
        from_summary=from_summary,
    )


def _cells(runs: Sequence[RunSummary]) -> Iterator[CellRow]:
    invalid = [invalid_cells(run.cells, run.checks) for run in runs]
    by_id = [{cell.id: cell for cell in run.cells} for run in runs]
    for identity in dict.fromkeys(cell.id for run in runs for cell in run.cells):
        found = [cells.get(identity) for cells in by_id]
        named = next(cell for cell in found if cell is not None)
        yield CellRow(
            cell=identity,
            stack=named.stack_label,
            setting=named.setting,
            medians=tuple(
                None
                if cell is None
                else Median(
                    value=cell.distribution.median if cell.distribution else None,
                    interval=cell.median_interval,
                    n=cell.distribution.n if cell.distribution else 0,
                    failed=of.get(identity, ()),
                )
                for cell, of in zip(found, invalid, strict=True)
            ),
        )


def _ratios(runs: Sequence[RunSummary], machines: Sequence[Machine]) -> Iterator[RatioRow]:
    def key(row: Comparison) -> tuple[str, ...]:
        return (row.cell, row.reference_cell, row.factor)

    by_key = [{key(c): c for c in run.comparisons if c.statistic == "median" and not c.control} for run in runs]
    for identity in dict.fromkeys(found for of in by_key for found in of):
        rows = [of.get(identity) for of in by_key]
        named = next(row for row in rows if row is not None)
        ratios = tuple(
            None if r is None else Ratio(ratio=r.ratio, interval=r.interval, standing=r.standing) for r in rows
        )
        agreement, said = agreed([m.name for m in machines], [None if r is None else r.standing for r in ratios])
        yield RatioRow(
            cell=named.cell,
            reference_cell=named.reference_cell,
            group=named.group,
            stack=named.stack_label,
            reference=named.compared_with,
            ratios=ratios,
            agreement=agreement,
            said=said,
        )


def agreed(names: Sequence[str], standings: Sequence[Standing | None]) -> tuple[Agreement, str]:
    """Whether all machines say the same of a comparison, and who says what.

    >>> agreed("ABC", ["faster", "faster", "faster"])
    ('agree', 'faster on all 3')
    >>> agreed("ABC", ["faster", "slower", "not resolved"])
    ('differ', 'faster on A; slower on B; undetermined on C')
    >>> agreed("AB", ["tie", "not resolved"])
    ('undetermined', 'a tie on A; undetermined on B')
    """
    by_word: dict[str, list[str]] = {}
    for name, standing in zip(names, standings, strict=True):
        is_open = standing is None or standing in UNDETERMINED
        word = "undetermined" if is_open else "a tie" if standing == "tie" else str(standing)
        by_word.setdefault(word, []).append(name)
    decided = [word for word in by_word if word != "undetermined"]
    if len(by_word) == 1:
        word = next(iter(by_word))
        return ("agree" if decided else "undetermined"), f"{word} on all {len(names)}"
    said = "; ".join(
        f"{word} on {quantities.listed(by_word[word])}" for word in (*decided, "undetermined") if word in by_word
    )
    return ("differ" if len(decided) > 1 else "undetermined"), said


def _answer(rows: Sequence[RatioRow], machines: Sequence[Machine]) -> Iterator[str]:
    if not rows:
        yield "Nothing is compared within these runs."
        return
    together = "both machines" if len(machines) == 2 else f"all {len(machines)} machines"
    if len(rows) > 1:
        kinds = ("agree", "differ", "undetermined")
        agree, differ, open_ = (sum(row.agreement == kind for row in rows) for kind in kinds)
        parts = [f"{together} agree on {agree}"] if agree else []
        parts += [f"differ on {differ}" if agree else f"the machines differ on {differ}"] if differ else []
        parts += [f"{open_} {'is' if open_ == 1 else 'are'} undetermined"] if open_ else []
        yield f"Of {len(rows)} comparisons {quantities.listed(parts)}."
    for row in rows:
        if row.agreement == "differ":
            yield f"They differ on {row.stack} against {row.reference} ({row.group}): {row.said}."
        elif len(rows) <= _MOST_SAID:
            yield f"{_held(row, together)} ({row.group})." if len(rows) > 1 else f"{_held(row, together)}."


def _held(row: RatioRow, together: str) -> str:
    """What the machines say together of a comparison, or that they leave it open."""
    if row.agreement == "undetermined":
        return f"Whether {row.stack} is quicker than {row.reference} is undetermined: {row.said}"
    standing = next(of.standing for of in row.ratios if of)
    is_so = (
        f"as quick as {row.reference}, within what matters" if standing == "tie" else f"{standing} than {row.reference}"
    )
    times = quantities.listed([f"{of.ratio:.2f}×" for of in row.ratios if of and of.ratio is not None])
    return f"On {together} {row.stack} is {is_so} ({times})"


def _in_doubt(runs: Sequence[RunSummary], machines: Sequence[Machine]) -> Iterator[str]:
    """The machines whose run is of no use, and why: read before all that they say."""
    for machine, run in zip(machines, runs, strict=True):
        found = answer(run)
        if found.cannot_answer:
            yield f"The run of {machine.name} cannot answer: {found.invalid_because}."


def _notes(runs: Sequence[RunSummary], machines: Sequence[Machine]) -> Iterator[str]:
    for machine, run in zip(machines, runs, strict=True):
        if machine.failed:
            what = "all of its numbers are invalid" if machine.is_invalid else "some of its numbers are invalid"
            yield f"{machine.name}: {quantities.listed(machine.failed)} failed; {what}"
        if run.state != "complete":
            yield f"{machine.name}: the run is {run.state}"
        if machine.from_summary:
            yield f"{machine.name}: its figures are those of its report, which carries a part of its samples"
    for key, name in (("repeats", "repeats"), ("matters", "the margin that matters")):
        values = {machine.name: run.plan.get(key) for machine, run in zip(machines, runs, strict=True)}
        if len({json.dumps(value) for value in values.values()}) > 1:
            yield f"{name}: " + ", ".join(f"{value} on {machine}" for machine, value in values.items())
