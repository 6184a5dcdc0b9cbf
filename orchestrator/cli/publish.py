"""Put runs into a team's index (a database) and its dataset of samples."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli import completions
from orchestrator.cli.choosing import AsJson, IndexAt, OfTeam
from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.cli.keeping import judged

if TYPE_CHECKING:
    from orchestrator.history.index import Index
    from orchestrator.results.folder import RunFolder
    from orchestrator.teams.leaving import Leaving
    from orchestrator.teams.places import Place

SCHEMA_VERSION = 1

Dataset = Annotated[
    str | None, typer.Option("--to", metavar="DATASET", help="A folder, s3://bucket/prefix or gs://bucket/prefix.")
]


def command(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...", help="Run id, its beginning, a path, or `latest`.", autocompletion=completions.runs
        ),
    ],
    to: Dataset = None,
    index: IndexAt = None,
    team: OfTeam = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put a run in the place of what is there of its id.")
    ] = False,
    with_notes: Annotated[bool, typer.Option("--notes/--no-notes", help="Publish tags and notes, too.")] = True,
    as_json: AsJson = False,
) -> None:
    """Publish each run whole or not at all; one that is there already is left as it is."""
    from orchestrator.results.folder import RunFolder
    from orchestrator.teams.leaving import require_finished_and_ours

    console.as_json = as_json
    folders = [RunFolder.open(run, root=WORKSPACE.results) for run in runs]
    for folder in folders:
        require_finished_and_ours(folder)
    with targets(to, index, team=team) as (place, opened):
        if place is not None:
            from orchestrator.teams.dataset import require_dataset

            require_dataset(place)
        done = [_publish(folder, place, opened, replace=replace, with_notes=with_notes) for folder in folders]
    console.emit({"schema_version": SCHEMA_VERSION, "runs": done})


@contextmanager
def targets(
    to: str | None, index: str | None, *, team: bool, makes: bool = True
) -> Iterator[tuple[Place | None, Index | None]]:
    """The dataset and the index that were named, made where it `makes`; UsageError where neither was."""
    from orchestrator.errors import UsageError
    from orchestrator.history import shared
    from orchestrator.teams.places import place

    url = shared.chosen(index, of_team=team)
    found = None if to is None else place(to)
    if url is None and found is None:
        raise UsageError("say where to", hint="--to DATASET, --index URL, or --team (the URL in ORCH_INDEX)")
    if url is None:
        yield found, None
        return
    with shared.shared(url, makes=makes) as opened:
        yield found, opened


def _publish(
    folder: RunFolder, place: Place | None, index: Index | None, *, replace: bool, with_notes: bool
) -> dict[str, Any]:
    """One run to both; what was done, for `--json`."""
    run = _leaving(folder, with_notes=with_notes)
    told: dict[str, Any] = {"run": run.id}
    if place is not None:
        from orchestrator.teams.dataset import publish

        WORKSPACE.state.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="publishing-", dir=WORKSPACE.state) as scratch:
            put = publish(place, run, Path(scratch), replace=replace)
        told["dataset"] = {"at": place.told, "outcome": put.outcome, "rows": put.rows, "files": put.files}
        size = f": {put.rows:,} rows in {put.files} files" if put.files else ""
        console.result(f"{run.id}: {put.outcome} in {place.told}{size}")
    if index is not None:
        from orchestrator.history import shared

        outcome = shared.publish(index, run.record, tags=run.noted.tags, notes=run.noted.notes, replace=replace)
        told["index"] = {"outcome": outcome}
        console.result(f"{run.id}: {outcome} in the index")
    return told


def _leaving(folder: RunFolder, *, with_notes: bool) -> Leaving:
    """The run, as it may leave this machine."""
    from orchestrator.history import noted
    from orchestrator.teams.leaving import leaving

    annotations = noted.read(WORKSPACE.notes, folder.path.name) if with_notes else noted.Annotations()
    return leaving(folder, judged(folder), annotations)
