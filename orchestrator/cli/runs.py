"""List the runs that are here, newest first: state, stacks, checks, and the first sentence of the answer."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.choosing import (
    AsJson,
    Experiment,
    Host,
    IndexAt,
    OfTeam,
    Placement,
    Since,
    Stack,
    Tag,
    Until,
    Verdict,
    an_index,
    filters,
    nearest_to,
    nothing_here,
)
from orchestrator.cli.console import console, plain
from orchestrator.cli.tables import table

if TYPE_CHECKING:
    from orchestrator.history.record import Listed

SCHEMA_VERSION = 1
_MOST_OF_A_NAME, _MOST_OF_STACKS = 24, 32  # characters
_LEAST_OF_A_SENTENCE = 24
_ELSEWHERE = "*"


def command(
    experiment: Experiment = None,
    stack: Stack = None,
    placement: Placement = None,
    host: Host = None,
    since: Since = None,
    until: Until = None,
    verdict: Verdict = None,
    tag: Tag = None,
    limit: Annotated[int, typer.Option(min=1, help="Show at most so many.")] = 30,
    index: IndexAt = None,
    team: OfTeam = False,
    as_json: AsJson = False,
) -> None:
    """Print a row for each run; filters that are given must all hold."""
    console.as_json = as_json
    wanted = filters(
        experiment=experiment,
        stack=stack,
        placement=placement,
        host=host,
        since=since,
        until=until,
        verdict=verdict,
        tag=tag,
    )
    from orchestrator.history.live import live

    with an_index(index, of_team=team) as (opened, _):
        found = [live(run) for run in opened.runs(replace(wanted, limit=limit))]
        every = len(found) if len(found) < limit else opened.count(wanted)
        hint = None if found else nearest_to(wanted, opened)
    runs = [run.to_dict() for run in found]
    console.emit({"schema_version": SCHEMA_VERSION, "runs": runs, "shown": len(runs), "of": every})
    if not found:
        is_any = wanted != type(wanted)()
        none = nothing_here(is_shared=index is not None or team)
        console.result(f"no run matches{f': {hint}' if hint else ''}" if is_any else none)
    else:
        _print(found, every)


def _print(found: list[Listed], every: int) -> None:
    heads = ("run", "date", "experiment", "state", "stacks", "checks", "answer")
    rows = [(*_columns(run), plain(_sentence(run))) for run in found]
    taken = sum(max(map(len, column)) for column in zip(heads[:-1], *(row[:-1] for row in rows), strict=True))
    room = shutil.get_terminal_size((160, 24)).columns - taken - 2 * (len(heads) - 1)
    is_beside = room >= _LEAST_OF_A_SENTENCE
    if is_beside:
        lines = list(table(heads, [(*row[:-1], _cut(row[-1], room)) for row in rows]))
    else:
        lines = list(table(heads[:-1], [row[:-1] for row in rows]))
    console.result(console.style(lines[0], "bold"))
    for line, row in zip(lines[1:], rows, strict=True):
        console.result(line)
        if not is_beside and row[-1]:
            console.result(f"    {_cut(row[-1], shutil.get_terminal_size((160, 24)).columns - 4)}")
    if any(not run.is_ours for run in found):
        console.result(f"{_ELSEWHERE} not made here, or changed since: only read")
    if every > len(found):
        console.result(f"{len(found):,} of {every:,} runs; --limit shows more")


def _columns(run: Listed) -> tuple[str, ...]:
    mark = _ELSEWHERE if not run.is_ours else ""
    return (
        plain(run.id) + mark,
        run.started[:16].replace("T", " ") or "-",
        _cut(plain(run.name), _MOST_OF_A_NAME) or "-",
        plain(run.state),
        _cut(plain(", ".join(run.stacks)), _MOST_OF_STACKS) or "-",
        _checks(run),
    )


def _checks(run: Listed) -> str:
    if run.validity == "not judged":
        return "not judged"
    counts = ((run.failed, "failed"), (run.warned, "warned"), (run.passed, "passed"))
    return ", ".join(f"{number} {word}" for number, word in counts if number)


def _sentence(run: Listed) -> str:
    """Tags, how many notes there are (`orch note RUN` shows them), and what the run answers, or why it says nothing."""
    tags = "".join(f"[{tag}] " for tag in run.tags)
    notes = f"({len(run.notes)} {'note' if len(run.notes) == 1 else 'notes'}) " if run.notes else ""
    return f"{tags}{notes}{run.verdict or run.trouble}".strip()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"
