"""The arguments and options that several verbs share, and the index that they open.

Verbs import this module, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from orchestrator.cli.here import WORKSPACE

if TYPE_CHECKING:
    from orchestrator.history.index import Index

T = TypeVar("T")

RUN_HELP = "Run id, its beginning, a path, or `latest`."

Run = Annotated[str, typer.Argument(help=RUN_HELP)]
Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help=RUN_HELP)]
RunOrReport = Annotated[str, typer.Argument(help=f"{RUN_HELP[:-1]}, or a report: FILE.html.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a value of the file, e.g. load.requests=100. Repeatable."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
ShareMachine = Annotated[
    bool,
    typer.Option(
        "--share-machine", help="Measure even while another run measures on this machine; the run records it."
    ),
]
Find = Annotated[
    str,
    typer.Option(
        metavar="WORDS",
        help="Runs with all these words in id, date, experiment, question, stacks, hosts, answer, checks or notes.",
    ),
]
OfTeam = Annotated[bool, typer.Option("--team", help="A team's index: the database whose URL is in ORCH_INDEX.")]


def parsed(option: str, parse: Callable[[object], T], text: object) -> T:
    """A quantity of an option with its unit; UsageError names the option."""
    from orchestrator.errors import UsageError

    try:
        return parse(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error


@contextmanager
def an_index(*, of_team: bool) -> Iterator[Index]:
    """A team's index, or that of the runs that are here, up to date."""
    from orchestrator.history import shared
    from orchestrator.history.keep import history

    with shared.shared(shared.team_url()) if of_team else history(WORKSPACE) as index:
        yield index
