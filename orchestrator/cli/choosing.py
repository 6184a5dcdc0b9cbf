"""The options by which `orch runs` and `orch history` choose runs, and the index as both open it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli import completions
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE

if TYPE_CHECKING:
    from orchestrator.history.filters import Filters
    from orchestrator.history.index import Index, Known
    from orchestrator.history.keep import Update

_FEW = 5  # folders that are read without a word

Experiment = Annotated[
    str | None,
    typer.Option(help="Runs of the experiment of this name.", autocompletion=completions.measured("experiment")),
]
Stack = Annotated[
    str | None,
    typer.Option(
        help="Runs in which this stack was measured: its id, or its label.",
        autocompletion=completions.measured("stack"),
    ),
]
Placement = Annotated[
    str | None, typer.Option(help="Runs with this placement.", autocompletion=completions.measured("placement"))
]
Host = Annotated[
    str | None, typer.Option(help="Runs on this provider, or on a host whose name, CPU or machine type has this in it.")
]
Since = Annotated[
    str | None, typer.Option(metavar="DATE", help="Runs begun then or later: 2026-11-21, or a time (UTC).")
]
Until = Annotated[str | None, typer.Option(metavar="DATE", help="Runs begun by then; a day counts whole.")]
Verdict = Annotated[
    str | None,
    typer.Option(
        help="Runs that are `valid`, `warned`, `invalid`, or `not judged`.", autocompletion=completions.validities
    ),
]
Tag = Annotated[str | None, typer.Option(help="Runs with this tag.", autocompletion=completions.measured("tag"))]
IndexAt = Annotated[
    str | None,
    typer.Option("--index", metavar="URL", help="A team's index in a database, without its password (docs/teams.md)."),
]
OfTeam = Annotated[bool, typer.Option("--team", help="The index whose URL ORCH_INDEX holds.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]


def filters(
    *,
    experiment: str | None,
    stack: str | None,
    placement: str | None,
    host: str | None,
    since: str | None,
    until: str | None,
    verdict: str | None,
    tag: str | None,
) -> Filters:
    """The conditions that were given; UsageError for one that cannot be."""
    from orchestrator.history.filters import Filters, moment_of, require_verdict

    return Filters(
        experiment=experiment,
        stack=stack,
        placement=placement,
        host=host,
        since=moment_of(since, "--since"),
        until=moment_of(until, "--until", is_end=True),
        verdict=require_verdict(verdict, "--verdict"),
        tag=tag,
    )


def nothing_here(*, is_shared: bool) -> str:
    """That no run is there at all, in a team's index or in this folder."""
    return "no run was published there" if is_shared else "there is no run here; `orch run FILE` makes one"


def nearest_to(wanted: Filters, index: Index) -> str | None:
    """What a condition that holds for no run may stand for, as a sentence; None where each of them holds for some."""
    from orchestrator.errors import did_you_mean

    given: dict[Known, str | None] = {
        "experiment": wanted.experiment,
        "stack": wanted.stack,
        "placement": wanted.placement,
        "tag": wanted.tag,
    }
    for condition, word in given.items():
        if word is None:
            continue
        known = index.known(condition)
        is_known = word in known or (condition == "experiment" and word.lower() in map(str.lower, known))
        if known and not is_known:
            return f"no {condition} {word!r}. {did_you_mean(word, known)}"
    return None


@contextmanager
def an_index(at: str | None, *, of_team: bool, rebuild: bool = False) -> Iterator[tuple[Index, Update]]:
    """A team's index where one is asked for; else that of the runs that are here, as `the_index`."""
    if at is None and not of_team:
        with the_index(rebuild=rebuild) as found:
            yield found
        return
    from orchestrator.errors import UsageError
    from orchestrator.history import shared
    from orchestrator.history.keep import Update

    if rebuild:
        raise UsageError(
            "a team's index is not made from folders here", hint="`orch publish RUN --replace` writes a run anew"
        )
    url = shared.chosen(at, of_team=of_team)
    assert url is not None  # noqa: S101 - one of both was given
    with shared.shared(url) as index:
        yield index, Update()


@contextmanager
def the_index(*, rebuild: bool = False) -> Iterator[tuple[Index, Update]]:
    """The index, up to date; warnings say what could not be kept or read."""
    from orchestrator.history.keep import history

    def tell(done: int, of: int) -> None:
        if of > _FEW:
            console.live(f"reading runs: {done:,} of {of:,}")

    with history(WORKSPACE, rebuild=rebuild, tell=tell) as (index, update):
        console.live("")
        if index.trouble:
            console.warning(f"{index.trouble}; runs are read from their folders, which takes longer")
        for trouble in update.troubles:
            console.warning(trouble)
        yield index, update
